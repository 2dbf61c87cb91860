"""Means and spreads over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

from automata.analysis.statistics import bounds
from automata.analysis.tradeoff import tradeoff

SPEEDUPS = [4.0, 5.0, 9.0, 6.0]


def ratio(seed: int, **changes: Any) -> dict[str, Any]:
    values = {
        "dataset": "satimage",
        "search": "tpe",
        "scheduler": "hyperband",
        "selector": "gradmatch",
        "fraction": 0.1,
        "seed": seed,
        "speedup": 5.0,
        "ceiling": 8.0,
        "efficiency": 0.625,
        "final_ceiling": 6.0,
        "relative_test_error": 1.0,
        "test_accuracy": 0.88,
        "energy_ratio": 4.0,
        "co2_measured_ratio": 4.0,
        "co2_time_ratio": 5.0,
        "total_seconds": 60.0,
        "energy_method": "measured",
        "other_cpu_share": 0.0,
        "refused": None,
        "record": f"{seed}.json",
        "full_record": f"full-{seed}.json",
    }
    return {**values, **changes}


def only_row(*rows: dict[str, Any]) -> dict[str, Any]:
    (row,) = tradeoff(pd.DataFrame(list(rows))).to_dict("records")
    return {str(key): value for key, value in row.items()}


def with_speedups(values: list[float]) -> list[dict[str, Any]]:
    return [ratio(seed, speedup=value) for seed, value in enumerate(values)]


@pytest.mark.parametrize(
    ("column", "mean"),
    [
        ("speedup", 6.0),
        ("ceiling", 9.0),
        ("efficiency", 0.5),
        ("final_ceiling", 7.0),
        ("relative_test_error", 0.5),
        ("test_accuracy", 0.9),
        ("energy_ratio", 5.0),
        ("co2_measured_ratio", 5.5),
        ("co2_time_ratio", 6.5),
        ("total_seconds", 50.0),
    ],
)
def test_quantity_is_the_mean_over_seeds(column: str, mean: float) -> None:
    first = ratio(0)

    row = only_row(first, ratio(1, **{column: 2 * mean - first[column]}))

    assert row[column] == pytest.approx(mean)


def test_combinations_are_rows_of_their_own() -> None:
    table = tradeoff(
        pd.DataFrame(
            [
                ratio(0, fraction=0.3, speedup=2.0),
                ratio(0, selector="craig", speedup=3.0),
                ratio(0, speedup=4.0),
                ratio(1, speedup=6.0),
                ratio(0, scheduler="asha", speedup=7.0),
            ]
        )
    )

    columns = ["scheduler", "selector", "fraction", "seeds", "speedup"]
    assert table[columns].values.tolist() == [
        ["asha", "gradmatch", 0.1, 1, 7.0],
        ["hyperband", "craig", 0.1, 1, 3.0],
        ["hyperband", "gradmatch", 0.1, 2, 5.0],
        ["hyperband", "gradmatch", 0.3, 1, 2.0],
    ]


@pytest.mark.parametrize("values", [[4.0], [9.0, 4.0]], ids=["1 seed", "2 seeds"])
def test_spread_of_fewer_than_three_seeds_is_the_range(values: list[float]) -> None:
    row = only_row(*with_speedups(values))

    assert (row["speedup_low"], row["speedup_high"]) == (min(values), max(values))
    assert row["interval"] == "range"


def test_spread_of_three_seeds_is_an_interval() -> None:
    assert only_row(*with_speedups([4.0, 5.0, 9.0]))["interval"] == "95 %"


def test_interval_is_scipys_percentile_bootstrap_of_the_mean() -> None:
    row = only_row(*with_speedups(SPEEDUPS))

    expected = bootstrap(
        (SPEEDUPS,),
        np.mean,
        n_resamples=9999,
        confidence_level=0.95,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert (row["speedup_low"], row["speedup_high"]) == (expected.low, expected.high)


def test_interval_is_close_to_that_over_all_resamples() -> None:
    # All 4**4 resamples of four values, each as likely.
    grid = np.array(np.meshgrid(*[SPEEDUPS] * 4)).reshape(4, -1).mean(axis=0)

    low, high = bounds(np.array(SPEEDUPS))

    assert [low, high] == pytest.approx(np.percentile(grid, [2.5, 97.5]), abs=0.26)


def test_interval_holds_the_mean() -> None:
    low, high = bounds(np.array(SPEEDUPS))

    assert low < np.mean(SPEEDUPS) < high


def test_interval_is_the_same_every_time() -> None:
    assert bounds(np.array(SPEEDUPS)) == bounds(np.array(SPEEDUPS))


def test_interval_of_equal_values_is_that_value() -> None:
    assert bounds(np.array([0.5, 0.5, 0.5])) == (0.5, 0.5)


@pytest.mark.parametrize(
    "column",
    ["speedup", "relative_test_error", "energy_ratio", "co2_measured_ratio", "co2_time_ratio"],
)
def test_reported_axes_have_a_spread(column: str) -> None:
    row = only_row(ratio(0, **{column: 1.5}), ratio(1, **{column: 2.5}))

    assert (row[f"{column}_low"], row[f"{column}_high"]) == (1.5, 2.5)


def test_energy_that_no_seed_measured_is_missing() -> None:
    row = only_row(*[ratio(seed, energy_ratio=np.nan, energy_method=None) for seed in range(3)])

    assert np.isnan([row["energy_ratio"], row["energy_ratio_low"], row["energy_ratio_high"]]).all()
    assert row["energy_method"] == ""


def test_energy_that_one_seed_did_not_measure_is_of_the_others() -> None:
    row = only_row(ratio(0, energy_ratio=2.0), ratio(1, energy_ratio=np.nan))

    assert (row["energy_ratio"], row["seeds"]) == (2.0, 2)


def test_energy_methods_of_all_seeds_are_named() -> None:
    row = only_row(ratio(0), ratio(1, energy_method="estimated"), ratio(2))

    assert row["energy_method"] == "estimated, measured"


def test_mean_of_equal_values_lies_within_its_bounds() -> None:
    values = np.array([-0.99, -0.99, -0.99])  # their mean differs from them in the last bit
    low, high = bounds(values)
    assert low <= values.mean() <= high


def test_table_of_no_runs_has_its_columns() -> None:
    empty = tradeoff(pd.DataFrame(columns=list(ratio(0))))
    assert "speedup_low" in empty.columns


def test_refused_runs_are_left_out() -> None:
    row = only_row(ratio(0, speedup=4.0), ratio(1, speedup=np.nan, refused="another host"))
    assert (row["seeds"], row["speedup"]) == (1, 4.0)


def test_share_of_other_work_is_the_largest_of_the_runs() -> None:
    row = only_row(ratio(0, other_cpu_share=0.01), ratio(1, other_cpu_share=0.3))
    assert row["other_cpu_share"] == 0.3


def test_a_row_names_the_records_it_comes_from() -> None:
    row = only_row(ratio(0), ratio(1), ratio(2, refused="no FULL"))
    assert row["records"].split() == ["0.json", "1.json", "full-0.json", "full-1.json"]


def test_seeds_with_a_ratio_of_energies_are_counted_apart() -> None:
    row = only_row(ratio(0), ratio(1, energy_ratio=np.nan), ratio(2, energy_ratio=np.nan))
    assert (row["seeds"], row["energy_seeds"]) == (3, 1)
    assert row["energy_ratio_low"] == row["energy_ratio_high"] == row["energy_ratio"]
