"""Checkpoints: whole, absent or refused, not written more often than it pays, gone on from."""

import pickle
import subprocess
import sys
import threading
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given

from automata.selection.random import Full
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan
from automata.tuning import work as checkpoints
from automata.tuning.work import (
    WRITING_SHARE,
    CheckpointPolicy,
    CheckpointStore,
    WorkFolder,
    read_checkpoint,
    write_checkpoint,
)

STATE = {"weights": torch.arange(5000.0), "epochs": 3, "loss": [0.5, float("inf")]}


def test_state_comes_back(tmp_path):
    write_checkpoint(tmp_path / "a.pt", STATE)
    state = read_checkpoint(tmp_path / "a.pt")
    assert torch.equal(state["weights"], STATE["weights"])
    assert (state["epochs"], state["loss"]) == (3, [0.5, float("inf")])


def test_no_file_is_no_state(tmp_path):
    assert read_checkpoint(tmp_path / "none.pt") is None


@given(data=st.data())
def test_torn_file_is_no_state(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("torn") / "a.pt"
    write_checkpoint(path, STATE)
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    assert read_checkpoint(path) is None


@given(data=st.data())
def test_file_with_an_altered_bit_is_no_state_and_is_named(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("altered") / "a.pt"
    write_checkpoint(path, STATE)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    with patch.object(checkpoints.logger, "warning") as warning:
        assert read_checkpoint(path) is None
    assert warning.call_args.args[1] == path


def test_file_of_zeros_is_no_state(tmp_path):
    """A power cut can leave a file with its length but without its content."""
    write_checkpoint(tmp_path / "a.pt", STATE)
    (tmp_path / "a.pt").write_bytes(bytes((tmp_path / "a.pt").stat().st_size))
    assert read_checkpoint(tmp_path / "a.pt") is None


def test_code_in_a_file_is_not_run(tmp_path):
    class Attack:
        def __reduce__(self):
            return print, ("run",)

    write_checkpoint(tmp_path / "a.pt", {"weights": Attack()})
    with pytest.raises(pickle.UnpicklingError):
        read_checkpoint(tmp_path / "a.pt")


def test_state_of_a_gpu_is_read_into_the_memory_of_the_host(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
    write_checkpoint(tmp_path / "a.pt", STATE)
    assert torch.equal(read_checkpoint(tmp_path / "a.pt")["weights"], STATE["weights"])


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


def test_writing_takes_at_most_its_share_of_the_time(clock):
    policy, writes = CheckpointPolicy(), []

    def write():
        clock[0] += 2.0
        writes.append(clock[0])

    for second in range(2001):
        policy.write(7, float(second), write)
    assert len(writes) * 2.0 <= WRITING_SHARE * 2000 + 2.0
    assert len(writes) == 11  # the first tells what it costs, then one each 200 s


def test_each_run_has_its_own_account(clock):
    policy, writes = CheckpointPolicy(), []

    def write():
        clock[0] += 1.0
        writes.append(1)

    policy.write(0, 1.0, write)
    policy.write(1, 99.0, write)
    assert len(writes) == 1
    policy.write(1, 100.0, write)
    assert len(writes) == 2


AMPLE = 10**6


@pytest.fixture
def build(dataset, protocol, configuration):
    plan = SubsetPlan(Full(), 1.0)
    return lambda: TrainingRun(dataset, configuration, protocol, plan, 0, torch.device("cpu"))


def trained(run, epoch):
    run.train_to(epoch)
    return run


def never():
    raise AssertionError("a run in memory is not built again")


def test_run_goes_on_from_a_file_of_another_process_as_if_it_had_not_paused(build, tmp_path):
    CheckpointStore(WorkFolder(tmp_path), 0).put(3, trained(build(), 2))
    again = CheckpointStore(WorkFolder(tmp_path), 0).take(3, build)
    whole = trained(build(), 4)
    assert trained(again, 4).progress.training_loss == whole.progress.training_loss
    assert all(
        torch.equal(a, b)
        for a, b in zip(again.model.parameters(), whole.model.parameters(), strict=True)
    )


def test_file_is_read_without_running_its_code(build, tmp_path):
    CheckpointStore(WorkFolder(tmp_path), 0).put(3, trained(build(), 1))
    state = torch.load(tmp_path / "checkpoints" / "3.pt", weights_only=True)
    assert state["progress"]["epochs"] == 1


@pytest.fixture
def nothing_pays(monkeypatch):
    """Runs so short that writing their states would cost more than losing them."""
    monkeypatch.setattr(CheckpointPolicy, "write", lambda *_: None)


def test_run_in_memory_survives_a_crash_of_its_process(build, tmp_path):
    CheckpointStore(WorkFolder(tmp_path), AMPLE).put(3, trained(build(), 2))
    again = CheckpointStore(WorkFolder(tmp_path), AMPLE).take(3, build)
    assert again.progress.epochs == 2


@pytest.mark.usefixtures("nothing_pays")
def test_run_with_room_in_memory_stays_there(build, tmp_path):
    store = CheckpointStore(WorkFolder(tmp_path), AMPLE)
    run = trained(build(), 1)
    store.put(3, run)
    assert store.take(3, never) is run
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_pays")
def test_run_without_room_in_memory_goes_to_a_file(build, tmp_path):
    weights = 4 * ((6 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3))  # bytes of the model's float32
    store = CheckpointStore(WorkFolder(tmp_path), 5 * weights)
    for number in range(2):  # four times the weights each
        store.put(number, trained(build(), 1))
    assert [file.name for file in (tmp_path / "checkpoints").iterdir()] == ["1.pt"]


@pytest.mark.usefixtures("nothing_pays")
def test_memory_is_free_again_once_a_run_goes_on(build, tmp_path):
    weights = 4 * ((6 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3))
    store = CheckpointStore(WorkFolder(tmp_path), 5 * weights)
    for number in range(3):
        store.put(number, trained(build(), 1))
        store.take(number, never)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_pays")
def test_run_that_is_kept_again_has_one_place(build, tmp_path):
    weights = 4 * ((6 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3))
    store = CheckpointStore(WorkFolder(tmp_path), 5 * weights)
    run = build()
    for epoch in (1, 2, 3):
        store.put(0, trained(run, epoch))
    assert list(tmp_path.iterdir()) == []


def test_run_that_was_never_kept_is_new(build, tmp_path):
    assert CheckpointStore(WorkFolder(tmp_path), AMPLE).take(0, build).progress.epochs == 0


HOLD = """
import shutil, sys
from pathlib import Path
from automata.locks import held
with held(Path(sys.argv[1], "lock"), "the folder"):
    print("has it", flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "finish":
        shutil.rmtree(sys.argv[1])
"""


@pytest.fixture
def work(tmp_path):
    return WorkFolder(tmp_path / "a/b")


def holder(work, end):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(work.path), end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "has it\n"
    return process


def test_free_folder_is_locked_at_once(work):
    with work.only_worker() as waited:
        assert work.path.is_dir()
    assert not waited


def test_waiting_process_names_the_holder(work, caplog):
    caplog.set_level("INFO", "automata.locks")
    process = holder(work, "finish")

    def wait():
        with work.only_worker():
            pass

    thread = threading.Thread(target=wait)
    thread.start()
    while not caplog.messages:
        thread.join(0.05)
    process.communicate("\n", timeout=60)
    thread.join(60)
    line = f"waiting for another process that works on {work.path}: process {process.pid} of "
    assert caplog.messages[0].startswith(line)


@pytest.mark.parametrize("end", ["finish", "give up", "die"])
def test_another_process_waits(work, end):
    process = holder(work, end)
    waits = []

    def wait():
        with work.only_worker() as waited:
            waits.append((waited > 0.9, (work.path / "lock").exists()))

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(1.0)
    assert waits == []
    if end == "die":
        process.kill()
    else:
        process.communicate("\n", timeout=60)
    thread.join(60)
    process.wait(60)
    assert waits == [(True, True)]


def test_a_cleared_folder_has_its_lock_alone(work):
    files = [work.log, work.refit, work.checkpoint(0), work.model(0), work.path / "old/state.pt"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("left")
    with work.only_worker():
        assert work.clear()
        assert [path.name for path in work.path.iterdir()] == ["lock"]
        assert not work.clear()
