"""Paired differences, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from automata.analysis.statistics import bounds
from automata.analysis.tradeoff import ALL, paired_differences, resampling
from automata.names import CONTRASTS


def ratio(selector, seed=0, error=0.0, speedup=1.0, **changes):
    values = {
        "dataset": "dna",
        "search": "tpe",
        "scheduler": "asha",
        "selector": selector,
        "fraction": 0.1,
        "seed": seed,
        "relative_test_error": error,
        "speedup": speedup,
        "refused": None,
        **changes,
    }
    place = f"{values['dataset']}/{values['search']}-{values['scheduler']}"
    values.setdefault("full_record", f"{place}/full/{values['seed']}.json")
    values["record"] = f"{place}/{values['selector']}-{values['fraction']}/{values['seed']}.json"
    return values


def pairs(errors, **changes):
    """Return rs2 runs whose error is `errors` above that of random, and twice as fast."""
    rows = []
    for seed, error in enumerate(errors):
        rows.append(ratio("random", seed, 1.0, 2.0, **changes))
        rows.append(ratio("rs2", seed, 1.0 + error, 4.0, **changes))
    return rows


def rows_of(ratios, **place):
    table = resampling(pd.DataFrame(ratios))
    for column, value in place.items():
        table = table[table[column] == value]
    return table.to_dict("records")


def test_a_difference_is_the_selector_less_its_baseline():
    (row,) = paired_differences(pd.DataFrame(pairs([-0.5]))).to_dict("records")

    assert (row["selector"], row["baseline"]) == ("rs2", "random")
    assert row["error"] == pytest.approx(-0.5)
    assert row["log_speedup"] == pytest.approx(math.log(2))


def test_every_contrast_is_made_where_all_were_run():
    names = {name for pair in CONTRASTS for name in pair}
    made = paired_differences(pd.DataFrame([ratio(name) for name in sorted(names)]))

    assert [(row.selector, row.baseline) for row in made.itertuples()] == list(CONTRASTS)


def test_own_selector_is_compared_with_random_subsets_and_automata():
    made = paired_differences(
        pd.DataFrame([ratio(name) for name in ("random", "gradmatch", "mine")])
    )

    assert [(row.selector, row.baseline) for row in made.itertuples()] == [
        ("gradmatch", "random"),
        ("mine", "random"),
        ("mine", "gradmatch"),
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"dataset": "letter"},
        {"search": "random"},
        {"scheduler": "hyperband"},
        {"fraction": 0.3},
        {"refused": "no FULL"},
    ],
)
def test_runs_without_a_partner_make_no_difference(changes):
    table = pd.DataFrame([ratio("random"), ratio("rs2", **changes)])

    assert paired_differences(table).empty


@pytest.mark.parametrize(
    ("errors", "interval"), [([-1.0, -0.5], "range"), ([-1.0, -0.5, 0.3], "95 %")]
)
def test_a_combination_has_mean_and_bounds_over_its_seeds(errors, interval):
    (row,) = rows_of(pairs(errors), scheduler="asha")

    assert row["error_difference"] == pytest.approx(np.mean(errors))
    low, high = bounds(np.array(errors))
    assert row["error_difference_low"] == pytest.approx(low)
    assert row["error_difference_high"] == pytest.approx(high)
    assert (row["interval"], row["over"]) == (interval, "seeds")
    assert (row["units"], row["pairs"]) == (len(errors), len(errors))


def test_speedups_are_compared_by_their_geometric_mean():
    ratios = [
        *[ratio("random", seed, speedup=2.0) for seed in (0, 1)],
        ratio("rs2", 0, speedup=1.0),
        ratio("rs2", 1, speedup=8.0),
    ]

    (row,) = rows_of(ratios, scheduler="asha")

    assert row["speedup_ratio"] == pytest.approx(math.sqrt(0.5 * 4.0))
    assert (row["speedup_ratio_low"], row["speedup_ratio_high"]) == pytest.approx((0.5, 4.0))


def test_a_data_set_pools_its_panels_seed_by_seed():
    ratios = [*pairs([-1.0, 0.0]), *pairs([-3.0, -2.0], scheduler="hyperband")]

    (row,) = rows_of(ratios, dataset="dna", scheduler=ALL)

    # Seed 0: -2, seed 1: -1.
    assert row["error_difference"] == pytest.approx(-1.5)
    assert (row["error_difference_low"], row["error_difference_high"]) == pytest.approx((-2, -1))
    assert (row["units"], row["pairs"], row["fraction"]) == (2, 4, 0.1)


def test_three_data_sets_count_alike_whatever_their_seeds():
    ratios = [
        *pairs([-1.0] * 5, dataset="dna"),
        *pairs([-2.0] * 3, dataset="letter"),
        *pairs([-6.0], dataset="sst2"),
    ]

    (row,) = rows_of(ratios, dataset=ALL, fraction=0.1)

    assert row["error_difference"] == pytest.approx(-3.0)
    assert (row["over"], row["units"], row["pairs"]) == ("data sets", 3, 9)


def test_all_fractions_are_pooled_in_the_last_row():
    ratios = [*pairs([-1.0]), *pairs([-2.0], fraction=0.3)]

    (row,) = rows_of(ratios, dataset=ALL, fraction=ALL)

    assert row["error_difference"] == pytest.approx(-1.5)
    assert row["pairs"] == 2


def test_rows_name_all_records_of_their_pairs():
    (row,) = rows_of(pairs([-1.0]), scheduler="asha")

    assert row["records"].split() == [
        "dna/tpe-asha/full/0.json",
        "dna/tpe-asha/random-0.1/0.json",
        "dna/tpe-asha/rs2-0.1/0.json",
    ]


def test_an_experiment_without_two_selectors_makes_an_empty_table():
    table = resampling(pd.DataFrame([ratio("random")]))

    assert table.empty
    assert "error_difference" in table.columns
