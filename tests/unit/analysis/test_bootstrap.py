"""One bootstrap for every statistic, against all draws that there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

from automata.analysis.statistics import bootstrap_bounds, bounds, interval_of

SUMS, COUNTS = np.array([1.0, 7.0, 12.0, 30.0]), np.array([1, 2, 3, 5])


def of_all_draws(statistic, units):
    """Return the percentiles of a statistic over all draws of so many units, each as likely."""
    values = sorted(statistic(np.array(drawn)) for drawn in product(range(units), repeat=units))
    return np.percentile(values, [2.5, 97.5], method="inverted_cdf")


@pytest.mark.parametrize(
    "statistic",
    [
        lambda drawn: SUMS[drawn].sum(axis=-1) / COUNTS[drawn].sum(axis=-1),
        lambda drawn: SUMS[drawn].max(axis=-1),
        lambda drawn: np.median(SUMS[drawn], axis=-1),
    ],
    ids=["ratio", "largest", "median"],
)
def test_bounds_are_percentiles_over_draws_of_units(statistic):
    low, high = bootstrap_bounds(statistic, 4)
    assert [low, high] == pytest.approx(of_all_draws(statistic, 4))


def test_one_unit_has_its_value_as_bounds():
    low, high = bootstrap_bounds(lambda drawn: SUMS[drawn].sum(axis=-1), 1)
    assert (float(low), float(high)) == (1.0, 1.0)


def test_data_sets_are_drawn_whole_as_scipy_draws_pairs():
    values, datasets = np.array([1.0, 3.0, 4.0, 2.0, 9.0, 1.0]), list("abbccc")
    rows = pd.DataFrame({"dataset": datasets, "search": "tpe", "scheduler": "asha", "seed": 0})
    sums, counts = [1.0, 7.0, 12.0], [1, 2, 3]

    def ratio(total, number, axis):
        return total.sum(axis=axis) / number.sum(axis=axis)

    found = bootstrap((sums, counts), ratio, paired=True, method="percentile", rng=0)
    assert interval_of(values, rows) == pytest.approx(tuple(found.confidence_interval))


@pytest.mark.parametrize("size", [3, 5, 9])
def test_bounds_of_a_sample_are_those_of_scipy(size):
    sample = np.random.default_rng(1).normal(size=size)
    expected = bootstrap((sample,), np.mean, method="percentile", rng=0).confidence_interval
    assert bounds(sample) == pytest.approx(tuple(expected))


@pytest.mark.parametrize("sample", [[], [2.0], [3.0, 1.0], [0.1] * 3, [0.1] * 9])
def test_bounds_of_few_or_equal_values_are_their_range(sample):
    expected = (min(sample), max(sample)) if sample else (np.nan, np.nan)
    assert bounds(np.array(sample)) == pytest.approx(expected, nan_ok=True)
