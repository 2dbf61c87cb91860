"""The tables over seeds: trade-off, and draws without tuning."""

import numpy as np
import pandas as pd
import pytest

from automata.analysis.tradeoff import tradeoff, untuned

from .conftest import only, run

NO_ENERGY = {"energy_ratio": np.nan, "energy_method": None}
BUSY = {"speedup": np.nan, "cpu_ratio": 3.0}


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        ([{"energy_ratio": 2.0}, NO_ENERGY], {"energy_ratio_low": 2.0, "energy_seeds": 1}),
        ([NO_ENERGY] * 3, {"energy_ratio_low": np.nan, "energy_seeds": 0, "energy_method": ""}),
        ([{}, {"speedup": 9.0, "refused": "other host"}], {"seeds": 1, "speedup": 4.0}),
        ([{}, BUSY], {"seeds": 2, "speedup": 4.0, "speedup_seeds": 1}),
        ([BUSY] * 2, {"speedup": np.nan, "cpu_ratio_low": 3.0, "cpu_seeds": 2}),
        ([{"other_cpu_share": 0.01}, {"other_cpu_share": 0.3}], {"other_cpu_share": 0.3}),
        ([{"record": "b", "full_record": "c"}, {"record": "a"}], {"records": "a b c"}),
    ],
)
def test_a_row_says_what_its_seeds_have(seeds, expected):
    rows = [run(seed=seed, **{"full_record": "c", **own}) for seed, own in enumerate(seeds)]
    row = only(tradeoff(pd.DataFrame(rows)))
    assert {name: row[name] for name in expected} == pytest.approx(expected, nan_ok=True)


FULLS = [("full", 1.0, 0.8, 100.0), ("full", 1.0, 0.9, 200.0)]
DRAWS = [("untuned", 0.0, 0.7, 10.0), ("untuned", 0.0, 0.86, 20.0), ("untuned", 0.0, 0.84, 30.0)]


@pytest.mark.parametrize(
    ("panel", "changes", "expected"),
    [
        (
            DRAWS + FULLS,
            {"final_failure": "nan"},  # it counts with what it reached
            {
                "draws": 3,
                "diverged": 1,
                "not_comparable": 0,
                "test_accuracy": 0.8,
                "relative_test_error": 5.0,  # against FULL's mean of 0.85
                "relative_test_error_median": 1.0,
                "relative_test_error_low": -1.0,
                "relative_test_error_high": 15.0,
                "speedup": 7.5,  # 150 s by 20 s
            },
        ),
        (DRAWS + FULLS, {"machine": "other"}, {"draws": 2, "diverged": 0, "not_comparable": 1}),
        (DRAWS + FULLS, {"other_cpu_share": 0.2}, {"draws": 3, "speedup": 6.0}),  # 150 s by 25 s
        # Against the 0.9 and 200 s of the one FULL that is here.
        (FULLS + DRAWS, {"machine": "other"}, {"relative_test_error": 10.0, "speedup": 10.0}),
    ],
)
def test_draws_are_compared_with_the_mean_of_full(panel, changes, expected):
    """Runs of (selector, fraction, accuracy, seconds); changes are of the first."""
    rows = [
        run(name, size, seed, test_accuracy=accuracy, total_seconds=seconds)
        for seed, (name, size, accuracy, seconds) in enumerate(panel)
    ]
    row = only(untuned(pd.DataFrame([rows[0] | changes, *rows[1:], run()])))
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert len(row["records"].split()) == 5 - ("machine" in changes)
