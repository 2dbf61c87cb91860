"""States in files: whole, absent or refused, and not written more often than it pays."""

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given

from automata.tuning.states import WRITING_SHARE, Thrift, read_state, write_state

STATE = {"weights": torch.arange(5000.0), "epochs": 3, "loss": [0.5, float("inf")]}


def test_state_comes_back(tmp_path):
    write_state(tmp_path / "a.pt", STATE)
    state = read_state(tmp_path / "a.pt")
    assert torch.equal(state["weights"], STATE["weights"])
    assert (state["epochs"], state["loss"]) == (3, [0.5, float("inf")])


def test_no_file_is_no_state(tmp_path):
    assert read_state(tmp_path / "none.pt") is None


@given(data=st.data())
def test_torn_file_is_no_state(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("torn") / "a.pt"
    write_state(path, STATE)
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    assert read_state(path) is None


def test_file_of_zeros_is_no_state(tmp_path):
    """What a power cut can leave of a file whose length was written and whose content was not."""
    write_state(tmp_path / "a.pt", STATE)
    (tmp_path / "a.pt").write_bytes(bytes((tmp_path / "a.pt").stat().st_size))
    assert read_state(tmp_path / "a.pt") is None


def test_code_in_a_file_is_not_run(tmp_path):
    class Attack:
        def __reduce__(self):
            return print, ("run",)

    torch.save({"weights": Attack()}, tmp_path / "a.pt")
    assert read_state(tmp_path / "a.pt") is None


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


def test_writing_takes_at_most_its_share_of_the_time(clock):
    thrift, writes = Thrift(), []

    def write():
        clock[0] += 2.0
        writes.append(clock[0])

    for second in range(2001):
        thrift.write(7, float(second), write)
    assert len(writes) * 2.0 <= WRITING_SHARE * 2000 + 2.0
    assert len(writes) == 11  # the first tells what it costs, then one each 200 s


def test_each_run_has_its_own_account(clock):
    thrift, writes = Thrift(), []

    def write():
        clock[0] += 1.0
        writes.append(1)

    thrift.write(0, 1.0, write)
    thrift.write(1, 99.0, write)
    assert len(writes) == 1
    thrift.write(1, 100.0, write)
    assert len(writes) == 2
