"""Searches without training: what follows from given scores, by hand."""

import math

import pytest

from automata.config import SchedulerSettings
from automata.simulation import RULES, AshaRules, HyperbandRules, NoRules, Verdict, simulated
from automata.tuning import SCHEDULERS

SETTINGS = SchedulerSettings.model_validate({"asha": {"reduction_factor": 3}})


class Counting:
    """Proposes 0, 1, 2, ... and notes what it has heard of before each."""

    def __init__(self):
        self.heard, self.knew = {}, []

    def suggest(self, trial_id):
        self.knew.append(sorted(self.heard))
        return {"x": int(trial_id)}

    def on_trial_complete(self, trial_id, result):
        self.heard[int(trial_id)] = result["score"]


def search(rules, *scores):
    """Return a search whose trials score the same at all rungs, and its searcher."""
    searcher = Counting()
    return simulated(searcher, rules, lambda trial, epoch: scores[trial.index]), searcher


def test_there_are_rules_for_every_scheduler():
    assert set(RULES) == set(SCHEDULERS)


# T = 9, eta = 3: s = 0, 1, 2 have 3, ceil(3/2 x 3) = 5 and 9 places, first rungs 9, 3 and 1.
def test_hyperband_proposes_bracket_by_bracket():
    rules = HyperbandRules(12, 9, SETTINGS)
    assert rules.groups == [range(3), range(3, 8), range(8, 12)]
    assert [rules.rungs(trial) for trial in (2, 3, 8)] == [[9], [3, 9], [1, 3, 9]]


def test_hyperband_halves_a_bracket_when_its_last_result_is_there():
    scores = [0.1, 0.2, 0.3, 0.5, 0.4, 0.7, 0.6, 0.65, 0.1, 0.2, 0.3, 0.4]
    found, searcher = search(HyperbandRules(12, 9, SETTINGS), *scores)
    # ceil(5/3) = 2 of the second bracket go on; of nine places 3, and 1 of these.
    assert [trial.epoch for trial in found.trials] == [9, 9, 9, 3, 3, 9, 3, 9, 1, 3, 3, 9]
    assert [trial.status for trial in found.trials[5:9]] == [
        "completed",
        "stopped",
        "completed",
        "stopped",
    ]
    # Results of a bracket are known when all of it has ended; the next one hears of them.
    assert searcher.knew == [[]] * 3 + [[0, 1, 2]] * 5 + [list(range(8))] * 4
    assert searcher.heard == dict(enumerate(scores))
    assert found.best == 5


def test_of_equal_scores_hyperband_goes_on_with_those_proposed_later():
    found, _ = search(HyperbandRules(8, 9, SETTINGS), *[0.5] * 8)
    assert [trial.epoch for trial in found.trials[3:]] == [3, 3, 3, 9, 9]
    assert found.best == 0


def test_trial_that_goes_on_at_once_trains_first():
    found, _ = search(HyperbandRules(8, 9, SETTINGS), 0, 0, 0, 0.5, 0.9, 0.1, 0.1, 0.8)
    assert [result.trial for result in found.log] == [0, 1, 2, 3, 4, 5, 6, 7, 7, 4]


def test_bracket_in_part_filled_lets_all_go_on_that_there_are_places_for():
    found, _ = search(HyperbandRules(10, 9, SETTINGS), *[0.5] * 9, 0.6)
    # Two of nine places are taken, three go on, then one.
    assert [trial.epoch for trial in found.trials[8:]] == [3, 9]


def test_asha_goes_on_from_the_percentile_of_earlier_results():
    # eta = 3: the mark is at two thirds of the way from worst to best of those before.
    scores = [0.0, 0.3, 0.2, 0.199, 0.5]
    found, searcher = search(AshaRules(5, 9, SETTINGS), *scores)
    # At epoch 1: none; 0.0; 0.2 (of 0 and 0.3); 0.233 (of 0, 0.2, 0.3); 0.2 (of 0, .199, .2, .3).
    # At epoch 3 trial 2 meets the mark 0.2 of 0 and 0.3, at epoch 9 it ends.
    assert [trial.epoch for trial in found.trials] == [9, 9, 9, 1, 9]
    assert searcher.knew == [list(range(index)) for index in range(5)]


def test_a_trial_at_the_mark_of_asha_goes_on():
    found, _ = search(AshaRules(3, 9, SETTINGS), 0.5, 0.5, 0.499)
    assert [trial.epoch for trial in found.trials] == [9, 9, 1]


def test_without_scheduler_every_trial_trains_to_the_end():
    found, searcher = search(NoRules(3, 9, SETTINGS), 0.3, 0.2, 0.4)
    assert [(result.trial, result.epoch) for result in found.log] == [(0, 9), (1, 9), (2, 9)]
    assert searcher.knew == [[], [0], [0, 1]]
    assert found.best == 2


@pytest.mark.parametrize("lost", [math.nan, -math.inf, math.inf])
def test_trial_that_diverged_has_the_worst_score_from_then_on(lost):
    asked = []

    def score(trial, epoch):
        asked.append((trial.index, epoch))
        return lost if (trial.index, epoch) == (3, 3) else 0.5

    searcher = Counting()
    found = simulated(searcher, HyperbandRules(5, 9, SETTINGS), score)
    # Two of five places go on, and two trials are there.
    assert (3, 9) not in asked
    assert (found.trials[3].epoch, found.trials[3].status) == (9, "failed")
    assert searcher.heard[3] == 0.0
    assert found.trials[4].status == "completed"


def test_rules_are_functions_of_the_log_alone():
    rules = HyperbandRules(8, 9, SETTINGS)
    found, _ = search(rules, 0, 0, 0, 0.5, 0.9, 0.1, 0.1, 0.8)
    assert rules.judge(found.log[:7]) == Verdict()
    halved = rules.judge(found.log[:8])
    assert (list(halved.goes_on), sorted(halved.ends)) == ([7, 4], [3, 5, 6])
