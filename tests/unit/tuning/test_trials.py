"""When trials are made, and when Ray gets them."""

import pytest
from ray.tune import CheckpointConfig, PlacementGroupFactory
from ray.tune.experiment import Trial
from ray.tune.search import Searcher

from automata.tuning import trials
from automata.tuning.trials import EarlyTrials


class Scheduler:
    """Says that as many trials wait as it is told."""

    asleep = 0

    def waiting(self):
        return self.asleep


class Numbers(Searcher):
    """Proposes 0, 1, 2 and is finished."""

    def __init__(self):
        super().__init__(metric="score", mode="max")
        self.made = 0

    def suggest(self, trial_id):
        self.made += 1
        return {"index": self.made - 1} if self.made <= 3 else Searcher.FINISHED

    def on_trial_complete(self, trial_id, result=None, error=False):
        """Learn nothing."""


class Made:
    """Stands for a trial."""

    generate_id = staticmethod(Trial.generate_id)

    def __init__(self, name, *, config, trial_id, **rest):
        self.name, self.index, self.trial_id = name, config["index"], trial_id


@pytest.fixture
def early(monkeypatch):
    monkeypatch.setattr(trials, "LeanTrial", Made)

    def make(slots):
        search = EarlyTrials(Numbers(), Scheduler(), slots, PlacementGroupFactory([{"CPU": 1}]))
        spec = {"run": "x", "storage": None, "checkpoint_config": CheckpointConfig()}
        search._experiment = type("Experiment", (), {"spec": spec})
        search._total_samples = 99
        return search

    return make


def test_trial_is_made_before_it_is_handed_out(early):
    search = early(1)
    assert search.next_trial().index == 0
    assert search.next_trial() is None
    assert search.searcher.made == 2


@pytest.mark.parametrize("slots", [1, 2])
def test_as_many_trials_are_handed_out_as_there_are_slots(early, slots):
    search = early(slots)
    assert [search.next_trial() is not None for _ in range(3)] == [i < slots for i in range(3)]


def test_end_of_a_trial_frees_its_slot(early):
    search = early(1)
    first = search.next_trial()
    search.on_trial_complete(first.trial_id)
    assert search.next_trial().index == 1


def test_trial_that_waits_frees_its_slot(early):
    search = early(1)
    search.next_trial()
    search._scheduler.asleep = 1
    assert search.next_trial().index == 1
    assert search.next_trial() is None


def test_search_is_finished_when_the_proposals_are(early):
    search = early(4)
    assert [search.next_trial().index for _ in range(3)] == [0, 1, 2]
    assert search.next_trial() is None
    assert search.is_finished()
