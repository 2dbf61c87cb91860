"""Tests against scipy, counted signs and Holm's steps by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata, wilcoxon

from automata.analysis.selector_comparisons import comparisons
from automata.analysis.statistics import LEVEL, holm, needed, smallest_p


def ratio(selector, seed=0, error=0.0, speedup=1.0, dataset="dna"):
    place = f"{dataset}/{seed}"
    return {
        "dataset": dataset,
        "search": "tpe",
        "scheduler": "asha",
        "selector": selector,
        "fraction": 0.1,
        "seed": seed,
        "relative_test_error": error,
        "speedup": speedup,
        "refused": None,
        "record": f"{place}/{selector}.json",
        "full_record": f"{place}/full.json",
    }


DATASETS = [f"data-{i}" for i in range(11)]


def counted_p(values):
    """Return the two-sided p of the signed-rank sum, by counting all signs."""
    ranks = rankdata(np.abs(values))
    centre = ranks.sum() / 2
    seen = abs(ranks[np.array(values) > 0].sum() - centre)
    extreme = [
        abs(sum(r for r, up in zip(ranks, signs, strict=True) if up) - centre) >= seen - 1e-9
        for signs in product([False, True], repeat=len(values))
    ]
    return sum(extreme) / len(extreme)


def experiment(errors, seeds=1):
    """Return rs2 and random runs on a data set per value; rs2's error is that much larger."""
    return pd.DataFrame(
        [
            ratio(selector, seed, error, 2.0 + i if selector == "rs2" else 2.0, dataset=dataset)
            for i, (dataset, value) in enumerate(zip(DATASETS, errors, strict=False))
            for seed in range(seeds)
            for selector, error in [("random", 1.0), ("rs2", 1.0 + value)]
        ]
    )


def error_row(ratios):
    table = comparisons(ratios)
    (row,) = table[table["quantity"] == "relative_test_error"].to_dict("records")
    return row


MIXED = [-1.0, -0.9, 0.15, -0.7, -0.6, -0.5, 0.41, -0.3, -0.2]


def test_p_is_scipys_exact_one():
    assert error_row(experiment(MIXED))["p"] == pytest.approx(
        wilcoxon(MIXED, method="exact").pvalue
    )


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(MIXED, id="all-different"),
        pytest.param([-1.0, -1.0, 0.5, -0.5, -0.5, -0.25, -2.0, 0.25, -3.0], id="ties"),
    ],
)
def test_p_is_the_share_of_signs_as_extreme(values):
    assert error_row(experiment(values))["p"] == pytest.approx(counted_p(values))


def test_data_sets_without_a_difference_do_not_count():
    row = error_row(experiment([*MIXED, 0.0, 0.0]))

    assert row["datasets"] == 9
    assert row["p"] == pytest.approx(counted_p(MIXED))


def test_what_differs_by_rounding_alone_does_not_differ():
    row = error_row(experiment([*MIXED, float(np.spacing(1.0))]))

    assert row["datasets"] == 9
    assert row["p"] == pytest.approx(counted_p(MIXED))


def test_a_data_set_is_one_observation_whatever_its_seeds():
    one, five = error_row(experiment(MIXED)), error_row(experiment(MIXED, seeds=5))

    assert (five["p"], five["datasets"], five["pairs"]) == (pytest.approx(one["p"]), 9, 45)


def test_means_and_counts_describe_the_data_sets():
    row = error_row(experiment(MIXED))

    assert row["mean_difference"] == pytest.approx(np.mean(MIXED))
    assert row["median_difference"] == pytest.approx(-0.5)
    assert row["datasets_for_selector"] == 7


def test_more_speed_is_better():
    table = comparisons(experiment(MIXED))
    (row,) = table[table["quantity"] == "log_speedup"].to_dict("records")

    assert row["datasets_for_selector"] == 8  # the first is as fast
    assert row["mean_difference"] == pytest.approx(
        np.mean([math.log((2 + i) / 2) for i in range(9)])
    )


@pytest.mark.parametrize("n", range(5, 12))
def test_smallest_p_is_attained_when_all_signs_are_alike(n):
    assert smallest_p(n) == pytest.approx(wilcoxon(-np.arange(1.0, n + 1), method="exact").pvalue)


@pytest.mark.parametrize("family", [1, 2, 6, 12, 20])
def test_needed_is_the_least_number_that_passes_the_first_step(family):
    n = needed(family)

    assert smallest_p(n) <= LEVEL / family < smallest_p(n - 1)


def test_too_few_data_sets_are_not_tested():
    # A family of two: 2^(1 - n) <= 0.025 from n = 7 on.
    row = error_row(experiment([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]))

    assert math.isnan(row["p"])
    assert math.isnan(row["p_holm"])
    assert row["note"] == "too few data sets: 6, needs 7"


def test_enough_data_sets_are_tested():
    row = error_row(experiment([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]))

    assert row["p"] == pytest.approx(2**-6)
    assert row["note"] == ""


def test_holm_multiplies_by_what_is_left_and_never_falls():
    # Sorted: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 (raised to the one before).
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_stops_at_one():
    assert holm(np.array([0.6, 0.7])) == pytest.approx([1.0, 1.0])


def test_comparisons_that_were_not_tested_still_count_in_the_family():
    adjusted = holm(np.array([np.nan, 0.01, np.nan]))

    assert adjusted[1] == pytest.approx(0.03)
    assert np.isnan(adjusted[[0, 2]]).all()


def test_the_family_is_all_rows_of_the_table():
    ratios = experiment([-float(i) for i in range(1, 12)])
    craig = ratios[ratios["selector"] == "rs2"].assign(selector="gradmatch", relative_test_error=0)

    table = comparisons(pd.concat([ratios, craig]))

    # rs2 - random, gradmatch - random, gradmatch - rs2, of two quantities each.
    assert len(table) == 6
    assert table["p_holm"].min() == pytest.approx(6 * table["p"].min())


def test_no_pairs_make_an_empty_table():
    assert comparisons(pd.DataFrame([ratio("random")])).empty
