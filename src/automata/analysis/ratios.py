"""Each run against the FULL run of its pair."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, TypedDict, cast

import pandas as pd

from automata.analysis.quantities import (
    FOOTPRINT,
    Footprint,
    ceiling,
    cpu_ratio,
    energy_ratio,
    final_ceiling,
    footprint,
    grams_ratio,
    relative_error_ratio,
    relative_test_error,
    speedup,
    step_ceiling,
)
from automata.analysis.runs import RunRow
from automata.analysis.study import PANEL, RUN
from automata.config.sections import Carbon

logger = logging.getLogger(__name__)

PAIR = [*PANEL, "seed"]
"""A run and its FULL agree in these."""

SAME = [
    "machine",
    "device",
    "software",
    "training_version",
    "metering_version",
    "threads_per_trial",
    "concurrent_trials",
    "exclusive",
    "data_sha256",
    "own_model_sha256",
    "protocol_hash",
]
"""Runs that differ in one of these do not compare."""

SAME_ENERGY = ["energy_method", "energy_source"]
"""Energies of runs that differ in one of these do not compare; their times do."""

NOT_COMPARABLE = "not comparable with its FULL"
"""How the refusal of a run begins that differs from its FULL in one of SAME."""

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


class Ratios(TypedDict, total=False):
    """What a run has of its FULL, each a column: all but `refused`, or that alone."""

    speedup: float
    ceiling: float
    efficiency: float
    step_ceiling: float
    final_ceiling: float
    relative_test_error: float
    relative_error_ratio: float | None
    energy_ratio: float | None
    co2_measured_ratio: float | None
    co2_time_ratio: float | None
    cpu_ratio: float | None
    full_best_epochs: int
    full_record: str
    refused: str | None


COLUMNS = [*FACTS, *FOOTPRINT, *Ratios.__annotations__]


class _Run(RunRow, Footprint):
    """A row of the table of runs, with what the run took."""


def ratios_to_full(runs: pd.DataFrame, carbon: Carbon) -> pd.DataFrame:
    """Return a row per search, with its ratios to the FULL run of its pair (FULL's own are 1).

    Where there is no comparable FULL, or the final training diverged, `refused` says why and
    the ratios are missing. Those of energy are also missing where it was obtained otherwise
    than FULL's; a warning says so.
    """
    rows: list[_Run] = [
        {**row, **footprint(row["energy_joules"], row["total_seconds"], carbon)}
        for row in _records(runs[runs["selector"] != "untuned"])
    ]
    full = {_key(row): row for row in rows if row["selector"] == "full"}
    return pd.DataFrame([_compared(row, full.get(_key(row))) for row in rows], columns=COLUMNS)


def _compared(run: _Run, full: _Run | None) -> dict[str, Any]:
    """Return the row of one run."""
    reason = _refusal(run, full)
    if reason is not None or full is None:
        logger.warning("%s: %s", _names(run, full), reason)
        return {**_facts(run), "refused": reason}
    return {**_facts(run), **_ratios(run, full)}


def _refusal(run: _Run, full: _Run | None) -> str | None:
    """Return why `run` does not compare with `full`, None if it does."""
    if full is None:
        return "no FULL run to compare with"
    for name, row in (("the run", run), ("its FULL", full)):
        if row["set_aside"]:
            return f"{NOT_COMPARABLE}: {name} {row['set_aside']}"
    if differing := _differing(run, full, SAME):
        return f"{NOT_COMPARABLE}: {differing}"
    if run["final_failure"] is not None:
        return f"the final training diverged: {run['final_failure']}"
    return None


def _differing(run: Mapping[str, Any], full: Mapping[str, Any], columns: list[str]) -> str:
    """Return in which of `columns` the two differ, and how; nothing if they do not."""
    return ", ".join(
        f"{name} {run[name]} and {full[name]}" for name in columns if run[name] != full[name]
    )


def _names(run: _Run, full: _Run | None) -> str:
    """Return what a warning calls a run and its FULL."""
    return f"{run['record']}" if full is None else f"{run['record']} (FULL: {full['record']})"


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column] for column in PAIR)


def _records(runs: pd.DataFrame) -> list[RunRow]:
    """Return the rows with None where nothing was measured."""
    table = runs.astype(object).where(runs.notna(), None)
    return cast(list[RunRow], table.to_dict("records"))


def _ratios(run: _Run, full: _Run) -> Ratios:
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
        "final_ceiling": final_ceiling(
            full["total_seconds"],
            full["full_epoch_equivalents"],
            run["full_epoch_equivalents"],
            run["final_seconds"],
            run["gradient_selections"],
        ),
        "relative_test_error": relative_test_error(full["test_accuracy"], run["test_accuracy"]),
        "relative_error_ratio": relative_error_ratio(full["test_accuracy"], run["test_accuracy"]),
        **_energy_ratios(run, full),
        "co2_time_ratio": grams_ratio(full["co2_time_grams"], run["co2_time_grams"]),
        "cpu_ratio": cpu_ratio(full["cpu_seconds"], run["cpu_seconds"]),
        "full_best_epochs": full["best_epochs"],
        "full_record": full["record"],
    }


def _energy_ratios(run: _Run, full: _Run) -> Ratios:
    """Return the ratios that rest on energy, none where the two energies do not compare."""
    if differing := _differing(run, full, SAME_ENERGY):
        logger.warning("%s: no energy ratio: %s", _names(run, full), differing)
        return {}
    return {
        "energy_ratio": energy_ratio(full["energy_joules"], run["energy_joules"]),
        "co2_measured_ratio": grams_ratio(full["co2_measured_grams"], run["co2_measured_grams"]),
    }


def _facts(run: Mapping[str, Any]) -> dict[str, Any]:
    return {column: run[column] for column in (*FACTS, *FOOTPRINT)}
