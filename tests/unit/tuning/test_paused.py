"""Runs that pause go on as if they had not, from memory or from files."""

import pytest
import torch

from automata.selection.random import Full
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan
from automata.tuning.paused import PausedRuns
from automata.tuning.states import Thrift
from automata.tuning.work import WorkFolder

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
    PausedRuns(WorkFolder(tmp_path), 0).put(3, trained(build(), 2))
    again = PausedRuns(WorkFolder(tmp_path), 0).take(3, build)
    whole = trained(build(), 4)
    assert trained(again, 4).progress.training_loss == whole.progress.training_loss
    assert all(
        torch.equal(a, b)
        for a, b in zip(again.model.parameters(), whole.model.parameters(), strict=True)
    )


def test_file_is_read_without_running_what_is_in_it(build, tmp_path):
    PausedRuns(WorkFolder(tmp_path), 0).put(3, trained(build(), 1))
    state = torch.load(tmp_path / "states" / "3-0.pt", weights_only=True)
    assert state["progress"]["epochs"] == 1


@pytest.fixture
def nothing_pays(monkeypatch):
    """Runs so short that writing their states would cost more than losing them."""
    monkeypatch.setattr(Thrift, "write", lambda *_: None)


def test_run_in_memory_survives_a_crash_of_its_process(build, tmp_path):
    PausedRuns(WorkFolder(tmp_path), AMPLE).put(3, trained(build(), 2))
    again = PausedRuns(WorkFolder(tmp_path), AMPLE).take(3, build)
    assert again.progress.epochs == 2


@pytest.mark.usefixtures("nothing_pays")
def test_run_with_room_in_memory_stays_there(build, tmp_path):
    paused = PausedRuns(WorkFolder(tmp_path), AMPLE)
    run = trained(build(), 1)
    paused.put(3, run)
    assert paused.take(3, never) is run
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_pays")
def test_run_without_room_in_memory_goes_to_a_file(build, tmp_path):
    weights = 4 * ((6 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3))  # bytes of the model's float32
    paused = PausedRuns(WorkFolder(tmp_path), 5 * weights)
    for number in range(2):  # model, gradients and momentum: three times the weights each
        paused.put(number, trained(build(), 1))
    assert [file.name for file in (tmp_path / "states").iterdir()] == ["1-0.pt"]


@pytest.mark.usefixtures("nothing_pays")
def test_memory_is_free_again_once_a_run_goes_on(build, tmp_path):
    weights = 4 * ((6 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3))
    paused = PausedRuns(WorkFolder(tmp_path), 5 * weights)
    for number in range(3):
        paused.put(number, trained(build(), 1))
        paused.take(number, never)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_pays")
def test_run_that_is_kept_again_has_one_place(build, tmp_path):
    weights = 4 * ((6 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3))
    paused = PausedRuns(WorkFolder(tmp_path), 5 * weights)
    run = build()
    for epoch in (1, 2, 3):
        paused.put(0, trained(run, epoch))
    assert list(tmp_path.iterdir()) == []


def test_run_that_was_never_kept_is_none(tmp_path):
    assert PausedRuns(WorkFolder(tmp_path), AMPLE).take(0, never) is None
