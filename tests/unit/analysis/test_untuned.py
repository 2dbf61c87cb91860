"""The control without tuning, beside FULL."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from automata.analysis.tradeoff import untuned
from support.synthetic import synthetic_runs


@pytest.fixture
def runs() -> pd.DataFrame:
    """FULL with 2 seeds (accuracies 0.8 and 0.9, 100 and 200 s), 3 draws, and gradmatch."""
    table = synthetic_runs(
        datasets=("dna",),
        selectors=("full", "untuned", "gradmatch"),
        searches=("tpe",),
        schedulers=("asha",),
        repeats=3,
    )
    table = table[(table["selector"] != "full") | (table["seed"] < 2)].reset_index(drop=True)
    set_to(table, "full", test_accuracy=[0.8, 0.9], total_seconds=[100.0, 200.0])
    set_to(table, "untuned", test_accuracy=[0.7, 0.86, 0.84], total_seconds=[10.0, 20.0, 30.0])
    return table


def set_to(table: pd.DataFrame, selector: str, **columns: list[Any]) -> None:
    for column, values in columns.items():
        table.loc[table["selector"] == selector, column] = values


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("dataset", "dna"),
        ("scheduler", "asha"),
        ("draws", 3),
        ("test_accuracy", 0.8),
        ("relative_test_error", 5.0),  # against FULL's mean of 0.85
        ("relative_test_error_median", 1.0),
        ("relative_test_error_low", -1.0),
        ("relative_test_error_high", 15.0),
        ("speedup", 7.5),  # 150 s by 20 s
    ],
)
def test_draws_are_compared_with_the_mean_of_full(
    runs: pd.DataFrame, column: str, value: object
) -> None:
    (row,) = untuned(runs).to_dict("records")

    assert row[column] == pytest.approx(value)


def test_row_names_the_records_of_draws_and_full(runs: pd.DataFrame) -> None:
    records = untuned(runs)["records"].iloc[0].split()

    assert len(records) == 5
    assert sum("untuned-0" in record for record in records) == 3


@pytest.mark.parametrize("changed", ["machine", "protocol_hash", "data_sha256"])
def test_draw_that_does_not_compare_is_left_out(runs: pd.DataFrame, changed: str) -> None:
    set_to(runs, "untuned", **{changed: ["other", *runs[changed].iloc[:2]]})
    (row,) = untuned(runs).to_dict("records")

    assert (row["draws"], row["not_comparable"]) == (2, 1)


def test_draw_that_diverged_counts_with_what_it_reached(runs: pd.DataFrame) -> None:
    runs["final_failure"] = runs["final_failure"].astype(object)
    set_to(runs, "untuned", final_failure=["nan", None, None])
    (row,) = untuned(runs).to_dict("records")

    assert (row["draws"], row["diverged"]) == (3, 1)
    assert row["relative_test_error_high"] == pytest.approx(15.0)


def test_full_of_another_place_has_no_part(runs: pd.DataFrame) -> None:
    set_to(runs, "full", machine=["other", "vm"])
    (row,) = untuned(runs).to_dict("records")

    assert row["relative_test_error"] == pytest.approx(10.0)  # against the 0.9 of the one here
    assert row["speedup"] == pytest.approx(10.0)
    assert len(row["records"].split()) == 4


@pytest.mark.parametrize("missing", ["full", "untuned"])
def test_panel_without_draws_or_full_has_no_row(runs: pd.DataFrame, missing: str) -> None:
    table = untuned(runs[runs["selector"] != missing])

    assert list(table.columns) == list(untuned(runs).columns)
    assert table.empty
