"""Statistics against their definitions: all draws, all points, all squares, or scipy."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from automata.analysis.statistics import (
    bootstrap_bounds,
    bounds,
    hypervolume,
    interval_of,
)

SUMS, COUNTS = np.array([1.0, 7.0, 12.0, 30.0]), np.array([1, 2, 3, 5])
# Whole numbers, so that ties are frequent and areas can be counted square by square.
POINT = st.tuples(st.integers(-2, 8), st.integers(-8, 8))
CORNER = st.tuples(st.integers(-1, 3), st.integers(-4, 9))


def scipys(*samples, statistic=np.mean, **options):
    """Return the interval of another library."""
    found = bootstrap(samples, statistic, method="percentile", rng=0, **options)
    return tuple(found.confidence_interval)


def test_bounds_are_percentiles_over_draws_of_units():
    def statistic(drawn):
        return SUMS[drawn].sum(axis=-1) / COUNTS[drawn].sum(axis=-1)

    values = sorted(statistic(np.array(drawn)) for drawn in product(range(4), repeat=4))
    expected = np.percentile(values, [2.5, 97.5], method="inverted_cdf")
    assert list(bootstrap_bounds(statistic, 4)) == pytest.approx(expected)


def test_data_sets_are_drawn_whole_as_scipy_draws_pairs():
    values, datasets = np.array([1.0, 3.0, 4.0, 2.0, 9.0, 1.0]), list("abbccc")
    rows = pd.DataFrame({"dataset": datasets, "search": "tpe", "scheduler": "asha", "seed": 0})

    def ratio(total, number, axis):
        return total.sum(axis=axis) / number.sum(axis=axis)

    expected = scipys([1.0, 7.0, 12.0], [1, 2, 3], statistic=ratio, paired=True)
    assert interval_of(values, rows) == pytest.approx(expected)


@pytest.mark.parametrize("sample", [[], [3.0, 1.0], [0.1] * 3, [-0.99] * 3])
def test_bounds_of_few_or_equal_values_are_their_range_and_hold_their_mean(sample):
    values = np.array(sample)
    expected = (min(sample), max(sample)) if sample else (np.nan, np.nan)
    low, high = bounds(values)
    assert (low, high) == pytest.approx(expected, nan_ok=True)
    assert not sample or low <= values.mean() <= high


@given(st.lists(st.tuples(POINT, POINT), min_size=1, max_size=7), st.tuples(CORNER, CORNER))
def test_the_area_of_each_problem_is_the_number_of_squares_covered(pairs, corners):
    problems = list(zip(*pairs, strict=True))
    covered = [
        {(x, y) for fast, bad in points for x in range(slowest, fast) for y in range(bad, worst)}
        for points, (slowest, worst) in zip(problems, corners, strict=True)
    ]
    areas = hypervolume(*np.moveaxis(np.array(problems, float), -1, 0), np.array(corners))
    assert areas.tolist() == [len(squares) for squares in covered]
