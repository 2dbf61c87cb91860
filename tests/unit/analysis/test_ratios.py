"""Each run against FULL: which runs pair, which are refused, and the numbers."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automata.analysis.ratios import COLUMNS, ratios_to_full
from automata.analysis.runs import TYPES


def run(**changes: Any) -> dict[str, Any]:
    """A run of gradmatch at 10 %: 60 s, 150 J, accuracy 0.88."""
    values = {
        "dataset": "satimage",
        "search": "tpe",
        "scheduler": "hyperband",
        "selector": "gradmatch",
        "fraction": 0.1,
        "seed": 0,
        "total_seconds": 60.0,
        "energy_joules": 150.0,
        "energy_method": "measured",
        "energy_source": "pyJoules RAPL",
        "exclusive": True,
        "test_accuracy": 0.88,
        "full_epoch_equivalents": 10.0,
        "gradient_selections": 15,
        "final_epochs": 20,
        "final_seconds": 30.0,
        "concurrent_trials": 1,
        "threads_per_trial": 1,
        "device": "cpu",
        "machine": "here",
        "set_aside": "",
        "software": "torch 2.13 ray 2.60",
        "training_version": 1,
        "metering_version": 1,
        "selector_version": 1,
        "data_sha256": "abc",
        "own_model_sha256": "abc",
        "protocol_hash": "123",
        "epochs": 20,
        "best_epochs": 18,
        "final_failure": None,
        "other_cpu_share": 0.0,
        "record": "run.json",
    }
    return {**dict.fromkeys(TYPES), **values, **changes}


def full(**changes: Any) -> dict[str, Any]:
    """The FULL run of the pair: 300 s, 600 J, accuracy 0.9, 100 epochs."""
    values = {
        "selector": "full",
        "fraction": 1.0,
        "total_seconds": 300.0,
        "energy_joules": 600.0,
        "test_accuracy": 0.9,
        "full_epoch_equivalents": 100.0,
        "gradient_selections": 0,
        "final_epochs": 0,
        "final_seconds": 0.0,
        "record": "full.json",
    }
    return run(**{**values, **changes})


def ratios(*rows: dict[str, Any]) -> pd.DataFrame:
    return ratios_to_full(pd.DataFrame(list(rows)))


def of_run(table: pd.DataFrame) -> dict[str, Any]:
    """Return the one row that is not FULL's."""
    (row,) = table[table["selector"] != "full"].to_dict("records")
    return {str(key): value for key, value in row.items()}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("speedup", 5.0),
        ("relative_test_error", 2.0),
        ("energy_ratio", 4.0),
        ("ceiling", 100 / 35),  # 20 + 10 + 15 / 3 epochs
        ("efficiency", 5.0 * 35 / 100),
        ("final_ceiling", 4.0),  # 300 / (30 + (10 + 15 / 3) x 3)
        ("test_accuracy", 0.88),
        ("total_seconds", 60.0),
        ("energy_source", "pyJoules RAPL"),
        ("record", "run.json"),
        ("full_record", "full.json"),
    ],
)
def test_ratios_of_a_run(column: str, value: object) -> None:
    assert of_run(ratios(full(), run()))[column] == pytest.approx(value)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("speedup", 1.0),
        ("relative_test_error", 0.0),
        ("energy_ratio", 1.0),
        ("ceiling", 1.0),
        ("efficiency", 1.0),
        ("final_ceiling", 1.0),
        ("full_record", "full.json"),
    ],
)
def test_full_against_itself_is_one_or_zero(column: str, value: object) -> None:
    (row,) = ratios(full()).to_dict("records")

    assert row[column] == value


def test_ceiling_divides_all_but_the_final_training_among_the_slots() -> None:
    table = ratios(full(concurrent_trials=2), run(concurrent_trials=2))

    assert of_run(table)["ceiling"] == pytest.approx(50 / 27.5)  # 20 + (10 + 5) / 2


def test_rows_keep_the_order_and_the_columns() -> None:
    table = ratios(run(seed=1), full(seed=1), full(seed=0), run(seed=0))

    assert list(table.columns) == COLUMNS
    assert list(zip(table["selector"], table["seed"], strict=True)) == [
        ("gradmatch", 1),
        ("full", 1),
        ("full", 0),
        ("gradmatch", 0),
    ]


@pytest.mark.parametrize(
    ("column", "other"),
    [("dataset", "dna"), ("search", "random"), ("scheduler", "asha"), ("seed", 1)],
)
def test_run_is_paired_with_the_full_run_that_agrees_in(column: str, other: object) -> None:
    table = ratios(full(), full(**{column: other}, record="other.json"), run(**{column: other}))

    assert of_run(table)["full_record"] == "other.json"


@pytest.mark.parametrize(
    ("column", "other"),
    [("dataset", "dna"), ("search", "random"), ("scheduler", "asha"), ("seed", 1)],
)
def test_run_without_a_full_run_is_refused_with_a_warning_that_names_it(
    column: str, other: object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        table = ratios(full(), run(**{column: other}))

    assert of_run(table)["refused"] == "no FULL run to compare with"
    assert caplog.messages == ["run.json: no FULL run to compare with"]


@pytest.mark.parametrize(
    ("column", "here", "other"),
    [
        ("machine", "here", "there"),
        ("device", "cpu", "NVIDIA H200"),
        ("threads_per_trial", 1, 2),
        ("concurrent_trials", 1, 4),
        ("exclusive", True, False),
        ("software", "torch 2.13 ray 2.60", "torch 2.14 ray 2.60"),
        ("data_sha256", "abc", "def"),
        ("own_model_sha256", "abc", None),
        ("protocol_hash", "123", "456"),
    ],
)
def test_run_of_other_conditions_is_refused_and_says_which(
    column: str, here: object, other: object
) -> None:
    row = of_run(ratios(full(), run(**{column: other})))

    assert row["refused"] == f"not comparable with its FULL: {column} {other} and {here}"
    assert pd.isna(row["speedup"])


def test_refusal_names_every_condition_that_differs() -> None:
    row = of_run(ratios(full(), run(machine="there", threads_per_trial=2)))

    assert row["refused"].endswith("machine there and here, threads_per_trial 2 and 1")


def test_diverged_final_training_has_no_speedup() -> None:
    row = of_run(ratios(full(), run(final_failure="training loss nan in epoch 2")))

    assert row["refused"] == "the final training diverged: training loss nan in epoch 2"
    assert pd.isna(row["speedup"])


def test_compared_run_is_not_refused() -> None:
    assert pd.isna(of_run(ratios(full(), run()))["refused"])


OTHERWISE = [
    ("energy_method", "estimated", "energy_method estimated and measured"),
    ("energy_source", "codecarbon RAPL", "energy_source codecarbon RAPL and pyJoules RAPL"),
    ("exclusive", False, "exclusive False and True"),
]


@pytest.mark.parametrize(("column", "other", "differing"), OTHERWISE)
def test_energies_obtained_in_different_ways_have_no_ratio(
    column: str, other: object, differing: str
) -> None:
    table = ratios(full(), run(**{column: other}))

    assert pd.isna(of_run(table)["energy_ratio"])


@pytest.mark.parametrize(("column", "other", "differing"), OTHERWISE)
def test_a_warning_names_run_and_full_and_how_their_energies_differ(
    column: str, other: object, differing: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        ratios(full(), run(**{column: other}))

    (line,) = caplog.messages
    assert line.startswith("run.json (FULL: full.json): ")
    assert line.endswith(f": {differing}")


@pytest.mark.parametrize(("column", "other"), [("energy_method", "x"), ("energy_source", "x")])
def test_times_compare_where_energies_do_not(column: str, other: str) -> None:
    row = of_run(ratios(full(), run(**{column: other})))

    assert row["speedup"] == 5.0
    assert pd.isna(row["refused"])


def test_comparable_energies_give_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    unmeasured = {"energy_joules": None, "energy_method": None, "energy_source": None}

    with caplog.at_level(logging.WARNING):
        ratios(full(), run(), full(seed=1, **unmeasured), run(seed=1, **unmeasured))

    assert caplog.messages == []


@pytest.mark.parametrize("missing", [None, np.nan], ids=["None", "NaN"])
@pytest.mark.parametrize("which", ["full", "run"])
def test_energy_that_was_not_measured_has_no_ratio(which: str, missing: float | None) -> None:
    unmeasured = {"energy_joules": missing, "energy_method": None, "energy_source": None}

    table = ratios(
        full(**unmeasured) if which == "full" else full(),
        run(**unmeasured) if which == "run" else run(),
    )

    assert pd.isna(of_run(table)["energy_ratio"])
    assert of_run(table)["speedup"] == 5.0


def test_no_runs_at_all_give_an_empty_table_with_its_columns() -> None:
    table = ratios_to_full(pd.DataFrame(columns=list(run())))

    assert (len(table), list(table.columns)) == (0, COLUMNS)
