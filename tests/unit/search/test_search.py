"""Searches without Ray and training: what follows from given scores, by hand."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.sections import SchedulerSettings
from automata.search.schedulers import Asha, Hyperband, NoScheduler, Screens
from automata.search.search import Search
from support.simulated import simulate

SETTINGS = SchedulerSettings.model_validate({"asha": {"reduction_factor": 3}})


class Counting:
    """Proposes 0, 1, 2, ... and notes the results that it has received before each."""

    def __init__(self, uninformed=0):
        self.heard, self.knew, self.uninformed = {}, [], uninformed

    def suggest(self, trial_id):
        self.knew.append(sorted(self.heard))
        return {"x": int(trial_id)}

    def on_trial_complete(self, trial_id, result):
        self.heard[int(trial_id)] = result["score"]


def search(scheduler, *scores):
    """Return a search whose trials score the same at all rungs, and its proposer."""
    proposer, n = Counting(), len(scores)
    made = Search(proposer, scheduler(n, 9, SETTINGS), n)
    return simulate(made, lambda trial, epoch: scores[trial.index]), proposer


@pytest.mark.parametrize(
    ("scheduler", "scores", "epochs", "best"),
    [
        # Of equal scores the later ones go on, but the earliest is the best.
        (Hyperband, [0.5] * 8, [9, 9, 9, 3, 3, 3, 9, 9], 0),
        # Two of nine places are taken, three go on, then one.
        (Hyperband, [0.5] * 9 + [0.6], [9, 9, 9, 3, 3, 3, 9, 9, 3, 9], 9),
        # eta = 3: two thirds of the way from worst to best of those before. At epoch 1: none; 0.0;
        # 0.2 (of 0 and 0.3); 0.233 (of 0, 0.2, 0.3); 0.2 (of 0, .199, .2, .3). At epoch 3 trial 2
        # meets the mark 0.2 of 0 and 0.3, at epoch 9 it ends.
        (Asha, [0.0, 0.3, 0.2, 0.199, 0.5], [9, 9, 9, 1, 9], 4),
        (Asha, [0.5, 0.5, 0.499], [9, 9, 1], 0),
        (NoScheduler, [0.3, 0.2, 0.4], [9, 9, 9], 2),
    ],
)
def test_trials_end_as_by_hand(scheduler, scores, epochs, best):
    found, proposer = search(scheduler, *scores)
    assert [trial.epoch for trial in found.trials] == epochs
    assert found.best == best
    if scheduler is not Hyperband:
        assert proposer.knew == [list(range(index)) for index in range(len(scores))]


def test_initial_configurations_come_first_and_teach_the_search_nothing():
    proposer, initial = Counting(uninformed=1), [{"x": 10}, {"x": 11}]
    made = Search(proposer, Asha(5, 9, SETTINGS), 5, slots=1, initial=initial)
    found = simulate(made, lambda trial, epoch: trial.configuration["x"])
    assert [trial.configuration["x"] for trial in found.trials] == [10, 11, 2, 3, 4]
    assert proposer.heard == {2: 2, 3: 3, 4: 4}
    first_of_two = Hyperband(5, 3, SETTINGS)  # its first bracket has two trials
    assert started(Search(proposer, first_of_two, 5, slots=5, initial=initial)) == [0, 1, 2]


def started(search):
    """Start what can train now, and return it."""
    indices = []
    while (trial := search.upcoming()) is not None:
        search.start(trial.index)
        indices.append(trial.index)
    return indices


def test_proposals_depend_on_the_order_of_results_alone():
    """They do not depend on when Ray asks for trials, so a restart proposes the same."""
    knew = []
    for asks in (True, False):
        proposer = Counting(uninformed=1)
        search = Search(proposer, NoScheduler(5, 9, SETTINGS), 5, slots=2)
        for index in (1, 0, 2, 3, 4):
            if asks:
                started(search)
            search.report(index, 0.5)
        knew.append(proposer.knew)
        assert search.finished
    assert knew[0] == knew[1] == [[], [], [1], [0, 1], [0, 1, 2]]


@given(slots=st.integers(2, 30), ties=st.booleans(), order=st.randoms(use_true_random=False))
def test_hyperband_decides_the_same_in_whatever_order_results_arrive(slots, ties, order):
    scores = [order.randrange(5 if ties else 10**6) / 10**6 for _ in range(27)]
    alone, _ = search(Hyperband, *scores)
    together = Search(Counting(sys.maxsize), Hyperband(27, 9, SETTINGS), 27, slots)
    while not together.finished:
        started(together)
        index = order.choice(sorted(together._training))
        together.report(index, scores[index])
    assert [trial.epoch for trial in together.trials] == [trial.epoch for trial in alone.trials]
    assert together.best.index == alone.best


@pytest.mark.parametrize("scheduler", [Hyperband, Asha, NoScheduler])
@pytest.mark.parametrize("results", range(1, 12))
def test_a_stopped_search_keeps_the_trials_with_a_score(scheduler, results):
    stopped = Search(Counting(), scheduler(12, 9, SETTINGS), 12, slots=2)
    for _ in range(results):
        started(stopped)
        first = min(stopped._training)
        stopped.report(first, score := 1 / (2 + first))
    ends = stopped.stop()
    assert not set(ends) & stopped._training
    for index in sorted(stopped._training):
        assert stopped.report(index, score).ends == [index]
    assert stopped.finished
    assert stopped.upcoming() is None
    assert [trial.index for trial in stopped.trials] == list(range(len(stopped.trials)))
    assert {trial.index for trial in stopped.trials} == {r.trial for r in stopped.results}
    assert stopped.best.score == max(trial.score for trial in stopped.trials)


def test_a_screen_begins_when_the_one_before_has_ended_and_only_the_first_is_heard_of():
    scheduler = Screens([Asha(4, 9, SETTINGS), Asha(4, 9, SETTINGS)], 4)
    allowed = [scheduler.proposals(ended, slots=2) for ended in range(9)]
    assert allowed == [2, 3, 4, 4, 6, 7, 8, 8, 8]
    proposer = Counting()
    scores = [0.4, 0.5, 0.6, 0.7, 0.1, 0.2, 0.3, 0.9]
    search = Search(proposer, scheduler, 4, screens=2)
    found = simulate(search, lambda trial, _: scores[trial.index])
    assert [trial.configuration["x"] for trial in found.trials] == [0, 1, 2, 3] * 2
    assert [trial.epoch for trial in found.trials] == [9] * 8  # no screen hears of another's scores
    assert proposer.heard == {index: scores[index] for index in range(4)}
    assert found.best == 7
