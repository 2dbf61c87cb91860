"""Each run against the FULL run of its pair."""

from __future__ import annotations

import logging
from typing import Any

import pandas as pd

from automata.analysis.definitions import (
    ceiling,
    energy_ratio,
    relative_error_ratio,
    relative_test_error,
    speedup,
    step_ceiling,
)
from automata.analysis.runs import RUN

logger = logging.getLogger(__name__)

PAIR = ["dataset", "search", "scheduler", "seed"]
"""A run and its FULL agree in these."""

SAME = ["host", "device", "threads_per_trial", "concurrent_trials", "exclusive"]
"""Times of runs that differ in one of these do not compare."""


def ratios_to_full(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run that has a comparable FULL run, itself included (speedup 1).

    A run without one is left out, with a warning that names it and says why.
    """
    full = {_key(row): row for row in _records(runs) if row["selector"] == "full"}
    rows = []
    for row in _records(runs):
        pair = full.get(_key(row))
        if pair is None:
            logger.warning("%s: no FULL run to compare with", row["record"])
            continue
        differing = [column for column in SAME if row[column] != pair[column]]
        if differing:
            reasons = ", ".join(f"{c} {row[c]} and {pair[c]}" for c in differing)
            logger.warning("%s: not comparable with %s: %s", row["record"], pair["record"], reasons)
            continue
        rows.append(_ratios(row, pair))
    return pd.DataFrame(rows, columns=COLUMNS)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column] for column in PAIR)


def _records(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts, with None where nothing was measured."""
    table = runs.astype(object).where(runs.notna(), None)
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _ratios(run: dict[str, Any], full: dict[str, Any]) -> dict[str, Any]:
    gain = speedup(full["total_seconds"], run["total_seconds"])
    slots = run["concurrent_trials"]
    top = ceiling(
        full["full_epoch_equivalents"],
        run["full_epoch_equivalents"],
        run["final_epochs"],
        run["gradient_selections"],
        slots,
    )
    same_method = run["energy_source"] == full["energy_source"]
    return {
        **{column: run[column] for column in RUN},
        "speedup": gain,
        "ceiling": top,
        "efficiency": gain / top,
        "step_ceiling": step_ceiling(
            full["trained_steps"], run["trained_steps"], run["final_steps"], slots
        ),
        "relative_test_error": relative_test_error(full["test_accuracy"], run["test_accuracy"]),
        "relative_error_ratio": relative_error_ratio(full["test_accuracy"], run["test_accuracy"]),
        "test_accuracy": run["test_accuracy"],
        "energy_ratio": energy_ratio(full["energy_joules"], run["energy_joules"])
        if same_method
        else None,
        "cpu_ratio": full["cpu_seconds"] / run["cpu_seconds"],
        "total_seconds": run["total_seconds"],
        "energy_method": run["energy_method"],
        "energy_source": run["energy_source"],
        "exclusive": run["exclusive"],
        "record": run["record"],
        "full_record": full["record"],
    }


COLUMNS = [
    *RUN,
    "speedup",
    "ceiling",
    "efficiency",
    "step_ceiling",
    "relative_test_error",
    "relative_error_ratio",
    "test_accuracy",
    "energy_ratio",
    "cpu_ratio",
    "total_seconds",
    "energy_method",
    "energy_source",
    "exclusive",
    "record",
    "full_record",
]
