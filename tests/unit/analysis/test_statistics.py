"""Statistics against their definitions: a t test, or all squares."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from automata.analysis.quantities import ERROR
from automata.analysis.statistics import bounds, hypervolume, spread

# Whole numbers, so that ties are frequent and areas can be counted square by square.
POINT = st.tuples(st.integers(-2, 8), st.integers(-8, 8))


def test_bounds_are_those_of_the_t_test_that_just_rejects():
    values = np.array([1.0, 3.0, 4.0, 2.5, 9.0])
    for end in bounds(values):
        assert ttest_1samp(values, end).pvalue == pytest.approx(0.05)


def test_the_mean_of_a_ratio_and_its_inverse_is_one():
    runs = pd.DataFrame({"record": ["a", "b"], "speedup": [4.0, 0.25], ERROR: [4.0, 0.25]})
    assert spread("speedup").mean(runs) == pytest.approx(1)
    assert spread(ERROR).mean(runs) == 2.125


@pytest.mark.parametrize("sample", [[], [3.0, 1.0], [0.1] * 3, [-0.99] * 3])
def test_bounds_of_few_or_equal_values_are_their_range_and_hold_their_mean(sample):
    values = np.array(sample)
    expected = (min(sample), max(sample)) if sample else (np.nan, np.nan)
    low, high = bounds(values)
    assert (low, high) == pytest.approx(expected, nan_ok=True)
    assert not sample or low <= values.mean() <= high


@given(st.lists(POINT, min_size=1, max_size=7), st.integers(-4, 9))
def test_the_area_is_the_number_of_squares_covered(points, worst):
    covered = {(x, y) for fast, bad in points for x in range(1, fast) for y in range(bad, worst)}
    assert hypervolume(*np.array(points, float).T, worst) == len(covered)
