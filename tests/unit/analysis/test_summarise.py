"""A row per group: functions of its rows, spreads with their bounds, and records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

from automata.analysis.statistics import Spread, known, mean_of, summarise

RUNS = pd.DataFrame(
    {
        "dataset": ["b", "b", "a", "b"],
        "speedup": [1.0, 4.0, 2.0, 10.0],
        "error": [0.5, np.nan, np.nan, 1.5],
        "record": ["r1", "r2", "r3", "r0"],
        "full_record": ["f", "f", "g h", "f"],
    }
)
COLUMNS = {
    "runs": len,
    "speedup": Spread(known("speedup")),
    "error": mean_of("error"),
}


def test_a_group_has_the_values_of_its_rows_and_its_records_once() -> None:
    table = summarise(RUNS, ["dataset"], COLUMNS, ["record", "full_record"])

    assert table["dataset"].tolist() == ["a", "b"]
    assert table["runs"].tolist() == [1, 3]
    assert table["speedup"].tolist() == [2.0, 5.0]
    assert table["error"].tolist() == pytest.approx([np.nan, 1.0], nan_ok=True)
    assert table["records"].tolist() == ["g h r3", "f r0 r1 r2"]


def test_bounds_stand_beside_their_mean_and_are_those_of_scipy() -> None:
    table = summarise(RUNS, ["dataset"], COLUMNS)

    assert list(table.columns[2:5]) == ["speedup", "speedup_low", "speedup_high"]
    found = bootstrap(([1.0, 4.0, 10.0],), np.mean, method="percentile", rng=0).confidence_interval
    assert table["speedup_low"].tolist() == [2.0, found.low]
    assert table["speedup_high"].tolist() == [2.0, found.high]


def test_a_scale_is_that_of_mean_and_bounds() -> None:
    logs = RUNS.assign(log=np.log(RUNS["speedup"]))

    table = summarise(logs, ["dataset"], {"ratio": Spread(known("log"), np.exp)})

    assert table["ratio"].tolist() == pytest.approx([2.0, 40 ** (1 / 3)])
    assert (table["ratio_low"][1], table["ratio_high"][1]) == pytest.approx((1.0, 10.0))


def test_nothing_has_all_columns() -> None:
    nothing = summarise(RUNS.iloc[:0], ["dataset"], COLUMNS)

    assert nothing.empty
    assert list(nothing.columns) == list(summarise(RUNS, ["dataset"], COLUMNS).columns)
