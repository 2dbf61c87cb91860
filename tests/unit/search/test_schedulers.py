"""The decisions of schedulers: by hand, and as Ray's own schedulers decide."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ray.tune.schedulers import AsyncHyperBandScheduler, TrialScheduler

from automata.config.protocol import FINALIST_RUNGS
from automata.config.sections import SchedulerSettings
from automata.search.schedulers import (
    Asha,
    Bracket,
    OneEpoch,
    Result,
    SuccessiveHalving,
    Verdict,
    final_epochs,
    hyperband_brackets,
    search_epochs,
    successive_halving,
)
from support.searching import make_job

SETTINGS = SchedulerSettings.model_validate({"asha": {"reduction_factor": 3}})


def test_the_paper_protocol_takes_2982_epochs_by_hand():
    # s_max + 1 = round(log_3 200) + 1 = 6. Bracket 0: 6 trials of 200. Bracket 1: 9 of 66, of
    # which ceil(9/3) = 3 go on to 198. Bracket 2 has 18 places for the 12 left: 22, the best
    # 6 on to 66, 2 of them on to 198.
    by_hand = 6 * 200 + (9 * 66 + 3 * 132) + (12 * 22 + 6 * 44 + 2 * 132)
    brackets = hyperband_brackets(27, 200, 3)
    assert sum(bracket.epochs for bracket in brackets) == by_hand == 2982
    assert [bracket.rungs for bracket in brackets] == [[200], [66, 198], [22, 66, 198]]


@pytest.mark.parametrize(("epochs", "rungs"), [(200, [1, 4, 16, 64, 200]), (1, [1]), (4, [1, 4])])
def test_asha_rungs_by_hand(epochs, rungs):
    assert Asha(1, epochs, SchedulerSettings()).rungs(0) == rungs


# T = 9, eta = 3: s = 0, 1, 2 have 3, ceil(3/2 x 3) = 5 and 9 places, first rungs 9, 3 and 1.


def test_successive_halving_is_one_bracket_of_hyperband():
    # The paper's: 27 trials of 22 epochs, ceil(27/3) = 9 of 66, 3 of 198.
    bracket = successive_halving(27, 200, 3)
    assert (bracket.trials, bracket.rungs, bracket.survivors) == (27, [22, 66, 198], [9, 3])
    assert bracket.epochs == 27 * 22 + 9 * 44 + 3 * 132
    # T = 9, eta = 3: Ray's third bracket has 9 places.
    assert successive_halving(9, 9, 3).rungs == hyperband_brackets(17, 9, 3)[2].rungs
    assert successive_halving(1, 5, 3) == Bracket(1, [5], [])


@pytest.mark.parametrize(
    ("epochs", "rungs", "survivors"),
    [(100, [2, 10, 33, 100], [9, 5, 3]), (20, [1, 2, 7, 20], [9, 5, 3]), (4, [1, 4], [3])],
)
def test_rungs_of_plain_halving_are_shares_by_hand(epochs, rungs, survivors):
    sha = {"rungs": {0.3333: 3, 0.02: 9, 0.1: 5}}
    scheduler = SuccessiveHalving(27, epochs, SchedulerSettings.model_validate({"sha": sha}))
    assert scheduler.brackets == [Bracket(27, rungs, survivors)]
    assert scheduler.most_rungs_win  # so that the earlier of equal trials go on


@pytest.mark.parametrize(
    ("changes", "epochs"),
    [
        ({}, 100),
        ({"finalists": 3}, 3 * 25 + 2 * 25 + 50),
        # Six to T/10, three to T/3, two to T.
        ({"horizon_exponent": [0, 0.5], "finalists": 3}, 6 * 10 + 3 * 23 + 2 * 67),
    ],
)
def test_finalists_train_these_epochs_together_by_hand(changes, epochs):
    rungs = {0.1: 3, 0.3333: 2} if "horizon_exponent" in changes else FINALIST_RUNGS
    protocol = make_job(epochs=100, finalist_rungs=rungs, **changes).settings.protocol
    assert final_epochs(protocol) == epochs
    once = search_epochs("hyperband", SETTINGS, make_job(epochs=100).settings.protocol)
    assert search_epochs("hyperband", SETTINGS, protocol) == once * len(protocol.screens)


@pytest.mark.parametrize(
    ("configurations", "epochs", "rungs", "survivors"),
    [
        (27, 20, [1, 5, 10, 20], [3, 2, 1]),
        (27, 4, [1, 2, 4], [2, 1]),
        (27, 2, [1, 2], [1]),
        (27, 1, [1], []),
        (2, 20, [1, 5, 10, 20], [2, 2, 1]),
    ],
)
def test_one_epoch_halves_the_best_three_by_hand(configurations, epochs, rungs, survivors):
    (bracket,) = OneEpoch(configurations, epochs, SETTINGS).brackets
    assert (bracket.rungs, bracket.survivors) == (rungs, survivors)


@given(scores=st.lists(st.integers(0, 4), min_size=4, max_size=4), data=st.data())
def test_of_one_epoch_the_earlier_of_equal_trials_go_on(scores, data):
    scheduler = OneEpoch(4, 20, SETTINGS)
    order = data.draw(st.permutations(range(4)))
    results = [Result(index, 1, scores[index]) for index in order]
    verdict = scheduler.judge(results)
    best = sorted(range(4), key=lambda index: (-scores[index], index))
    first = [index for index in order[-1:] if index in best[:3]]  # it trains on without a pause
    others = sorted(set(best[:3]) - set(first))
    assert (verdict.goes_on, list(verdict.ends)) == ([*first, *others], best[3:])


@given(
    scores=st.lists(st.sampled_from([0, 0.25, 0.5, 0.75, 1]), min_size=12, max_size=12),  # they tie
    reduction=st.integers(2, 5),
    data=st.data(),
)
def test_trials_are_stopped_as_in_rays_asha_in_whatever_order_results_arrive(
    scores, reduction, data
):
    settings = SchedulerSettings.model_validate({"asha": {"reduction_factor": reduction}})
    ours, results = Asha(12, 20, settings), []
    ray = AsyncHyperBandScheduler("epoch", "score", "max", max_t=20, reduction_factor=reduction)
    trials = [SimpleNamespace(trial_id=str(index)) for index in range(12)]
    for trial in trials:
        ray.on_trial_add(None, trial)
    left = dict.fromkeys(range(12), 0)
    while left:
        index = data.draw(st.sampled_from(sorted(left)))
        epoch = ours.rungs(index)[left[index]]
        result = {"epoch": epoch, "score": scores[index]}
        decision = ray.on_trial_result(None, trials[index], result)
        results.append(Result(index, epoch, scores[index]))
        if decision == TrialScheduler.STOP:
            assert ours.judge(results) == Verdict(ends=[index])
            del left[index]
        else:
            assert ours.judge(results) == Verdict(goes_on=[index])
            left[index] += 1
