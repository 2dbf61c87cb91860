import pytest
from hypothesis import given
from hypothesis import strategies as st
from ray.tune.schedulers import AsyncHyperBandScheduler, HyperBandScheduler

from automata.tuning.brackets import asha_rungs, hyperband_brackets


def test_paper_protocol_takes_2982_epochs_by_hand():
    # s_max + 1 = round(log_3 200) + 1 = 6. Bracket 0: 6 trials of 200. Bracket 1: 9 of 66, of
    # which ceil(9/3) = 3 go on to 198. Bracket 2 has 18 places for the 12 left: 22, the best
    # 6 on to 66, 2 of them on to 198.
    by_hand = 6 * 200 + (9 * 66 + 3 * 132) + (12 * 22 + 6 * 44 + 2 * 132)
    brackets = hyperband_brackets(27, 200, 3)
    assert sum(bracket.epochs for bracket in brackets) == by_hand == 2982


def test_paper_protocol_stays_below_60_percent_of_no_stopping():
    epochs = sum(bracket.epochs for bracket in hyperband_brackets(27, 200, 3))
    assert epochs < 0.6 * 27 * 200


def test_rungs_of_the_paper_protocol():
    brackets = hyperband_brackets(27, 200, 3)
    assert [bracket.rungs for bracket in brackets] == [[200], [66, 198], [22, 66, 198]]


@given(n=st.integers(1, 120), epochs=st.integers(1, 400), eta=st.integers(2, 5))
def test_every_trial_has_exactly_one_place(n, epochs, eta):
    assert sum(bracket.trials for bracket in hyperband_brackets(n, epochs, eta)) == n


@given(n=st.integers(1, 120), epochs=st.integers(1, 400), eta=st.integers(2, 5))
def test_no_trial_trains_longer_than_allowed(n, epochs, eta):
    assert all(bracket.rungs[-1] <= epochs for bracket in hyperband_brackets(n, epochs, eta))


@given(epochs=st.integers(1, 400), eta=st.integers(2, 5))
def test_places_and_first_rungs_are_those_of_ray(epochs, eta):
    ray = HyperBandScheduler(max_t=epochs, reduction_factor=eta)
    levels = [s for s in range(ray._s_max_1) if ray._get_r0(s) > 0]
    expected = [(ray._get_n0(s), ray._get_r0(s)) for s in levels]
    whole_band = sum(places for places, _ in expected)
    brackets = hyperband_brackets(whole_band, epochs, eta)
    assert [(bracket.trials, bracket.rungs[0]) for bracket in brackets] == expected


@given(epochs=st.integers(1, 400), eta=st.integers(2, 5), grace=st.integers(1, 5))
def test_asha_rungs_are_those_of_ray_and_the_end(epochs, eta, grace):
    if grace > epochs:
        return
    ray = AsyncHyperBandScheduler(max_t=epochs, reduction_factor=eta, grace_period=grace)
    milestones = sorted(rung for rung, _ in ray._brackets[0]._rungs)
    expected = [rung for rung in milestones if rung < epochs]
    ours = asha_rungs(epochs, eta, grace)
    assert ours[-1] == epochs
    # Ray computes their number in floating point, and may leave out the last one.
    assert ours[:-1][: len(expected)] == expected
    assert len(ours[:-1]) - len(expected) in (0, 1)


@pytest.mark.parametrize(("epochs", "rungs"), [(200, [1, 4, 16, 64, 200]), (1, [1]), (4, [1, 4])])
def test_asha_rungs_by_hand(epochs, rungs):
    assert asha_rungs(epochs, 4, 1) == rungs
