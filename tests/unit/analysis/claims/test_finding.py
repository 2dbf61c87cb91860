"""Shares of panels, intervals, and when a verdict is firm."""

from __future__ import annotations

import numpy as np
import pytest

from automata.analysis.claims.finding import Estimate, Outcome, of_share
from automata.analysis.statistics import clustered_bounds

YES, NO = Outcome(True, "interval"), Outcome(False, "interval")
MAYBE, PERHAPS_NOT = Outcome(True, "within the interval"), Outcome(False, "too few seeds")


def share(outcomes: list[Outcome], of: int, wanted: float) -> tuple[bool, str]:
    whole = of_share(outcomes, of, wanted)
    return whole.passes, whole.firm


@pytest.mark.parametrize(
    ("outcomes", "of", "wanted", "expected"),
    [
        ([YES] * 9 + [NO], 10, 0.9, (True, "interval")),
        ([YES] * 8 + [NO] * 2, 10, 0.9, (False, "interval")),
        ([YES] * 10, 10, 1.0, (True, "interval")),
        ([YES] * 9 + [MAYBE], 10, 1.0, (True, "within the interval")),
        ([YES] * 9 + [MAYBE], 10, 0.9, (True, "interval")),
        ([YES] * 9 + [PERHAPS_NOT], 10, 1.0, (False, "too few seeds")),
        ([YES] * 8 + [NO, PERHAPS_NOT], 10, 0.9, (False, "too few seeds")),
        ([YES] * 5, 10, 0.9, (True, "panels missing")),
        ([YES] * 5, 10, 0.5, (True, "interval")),
        ([NO], 20, 0.9, (False, "panels missing")),
        ([NO] * 3, 20, 0.9, (False, "interval")),
        ([NO] * 2 + [YES], 20, 0.9, (False, "panels missing")),
        ([MAYBE], 20, 0.9, (True, "within the interval")),
    ],
)
def test_a_share_of_panels(outcomes, of, wanted, expected):
    assert share(outcomes, of, wanted) == expected


@pytest.mark.parametrize(
    ("value", "low", "high", "above", "expected"),
    [
        (2.0, 1.5, 2.5, True, (True, "interval")),
        (2.0, 0.5, 2.5, True, (True, "within the interval")),
        (0.5, 0.2, 0.9, True, (False, "interval")),
        (0.5, 0.2, 1.1, True, (False, "within the interval")),
        (1.0, 1.0, 1.0, True, (False, "interval")),
        (0.5, 0.2, 0.9, False, (True, "interval")),
        (0.5, 0.2, 1.1, False, (True, "within the interval")),
        (2.0, 1.5, 2.5, False, (False, "interval")),
        (2.0, 0.5, 2.5, False, (False, "within the interval")),
        (1.0, 1.0, 1.0, False, (False, "interval")),
    ],
)
def test_a_value_against_a_bar_of_one(value, low, high, above, expected):
    figure = Estimate(value, low, high)
    outcome = figure.above(1.0) if above else figure.below(1.0)
    assert (outcome.passes, outcome.firm) == expected


def test_whole_clusters_are_drawn():
    values = np.array([1.0, 1.0, 1.0, 5.0])
    assert clustered_bounds(values, ["a", "a", "a", "b"]) == (1.0, 5.0)


def test_values_in_clusters_of_their_own_are_drawn_singly():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    # All 4**4 resamples, each as likely.
    draws = np.array(np.meshgrid(*[values] * 4)).reshape(4, -1).mean(axis=0)
    expected = np.percentile(draws, [2.5, 97.5])
    assert clustered_bounds(values, [0, 1, 2, 3]) == pytest.approx(tuple(expected), abs=0.13)


def test_a_cluster_counts_with_all_of_its_values():
    values = np.array([0.0, 0.0, 3.0])
    low, high = clustered_bounds(values, ["a", "a", "b"])
    assert (low, high) == (0.0, 3.0)
    assert clustered_bounds(values, ["a", "a", "a"]) == (1.0, 1.0)
