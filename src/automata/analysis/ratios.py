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

SAME = [
    "host",
    "device",
    "software",
    "threads_per_trial",
    "concurrent_trials",
    "exclusive",
    "data_sha256",
    "own_model_sha256",
    "protocol_hash",
]
"""Runs that differ in one of these do not compare."""

FACTS = [
    *RUN,
    "test_accuracy",
    "total_seconds",
    "epochs",
    "energy_method",
    "energy_source",
    "exclusive",
    "other_cpu_share",
    "record",
]
"""Columns taken over from the table of runs."""

COLUMNS = [
    *FACTS,
    "speedup",
    "ceiling",
    "efficiency",
    "step_ceiling",
    "relative_test_error",
    "relative_error_ratio",
    "energy_ratio",
    "cpu_ratio",
    "full_best_epochs",
    "full_record",
    "refused",
]


def ratios_to_full(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run, with its ratios to the FULL run of its pair (FULL's own are 1).

    Where there is no comparable FULL, or the final training diverged, `refused` says why and
    the ratios are missing.
    """
    rows = _records(runs)
    full = {_key(row): row for row in rows if row["selector"] == "full"}
    return pd.DataFrame([_compared(row, full.get(_key(row))) for row in rows], columns=COLUMNS)


def _compared(run: dict[str, Any], full: dict[str, Any] | None) -> dict[str, Any]:
    """Return the row of one run."""
    reason = _refusal(run, full)
    if reason is not None or full is None:
        logger.warning("%s: %s", run["record"], reason)
        return {**_facts(run), "refused": reason}
    return {**_facts(run), **_ratios(run, full)}


def _refusal(run: dict[str, Any], full: dict[str, Any] | None) -> str | None:
    """Return why `run` does not compare with `full`, None if it does."""
    if full is None:
        return "no FULL run to compare with"
    differing = [column for column in SAME if run[column] != full[column]]
    if differing:
        reasons = ", ".join(f"{name} {run[name]} and {full[name]}" for name in differing)
        return f"not comparable with its FULL: {reasons}"
    if run["final_failure"] is not None:
        return f"the final training diverged: {run['final_failure']}"
    return None


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
    return {
        "speedup": gain,
        "ceiling": top,
        "efficiency": gain / top,
        "step_ceiling": step_ceiling(
            full["trained_steps"], run["trained_steps"], run["final_steps"], slots
        ),
        "relative_test_error": relative_test_error(full["test_accuracy"], run["test_accuracy"]),
        "relative_error_ratio": relative_error_ratio(full["test_accuracy"], run["test_accuracy"]),
        "energy_ratio": energy_ratio(full["energy_joules"], run["energy_joules"])
        if run["energy_source"] == full["energy_source"]
        else None,
        "cpu_ratio": full["cpu_seconds"] / run["cpu_seconds"],
        "full_best_epochs": full["best_epochs"],
        "full_record": full["record"],
    }


def _facts(run: dict[str, Any]) -> dict[str, Any]:
    return {column: run[column] for column in FACTS}
