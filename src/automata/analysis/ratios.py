"""Each run compared with its FULL run, and the formulas of the ratios."""

from __future__ import annotations

import logging
from operator import attrgetter
from typing import Any

import pandas as pd

from automata.analysis.energy import AMOUNTS, follows_time, with_amounts
from automata.analysis.quantities import ERROR, QUANTITIES
from automata.analysis.runs import RESUMED, RunRow
from automata.analysis.study import PANEL, RUN
from automata.config.sections import Carbon
from automata.records.measurement import CONTAMINATED_SHARE

logger = logging.getLogger(__name__)

PAIR = [*PANEL, "seed"]
"""Columns that a run shares with its FULL run."""

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
"""Columns that must be equal for two runs to be comparable."""

SAME_ENERGY = ["energy_method", "energy_source"]
"""Columns that must also be equal for their energies to be comparable."""

NOT_COMPARABLE = "not comparable with its FULL"
"""Start of the reason why a run is refused that differs from its FULL in SAME."""

SET_ASIDE = "FULL itself"
"""Start of the reason why FULL's own row is refused."""

FORWARD_SHARE = 1 / 3
"""Cost of a forward pass over the training set, in epochs: a training step costs three passes."""

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
"""Columns copied from the table of runs."""

COLUMNS = list(
    dict.fromkeys([*FACTS, *AMOUNTS, *QUANTITIES, "full_best_epochs", "full_record", "refused"])
)


def disturbed(runs: pd.DataFrame) -> pd.Series[bool]:
    """Return which runs were disturbed by other work, so that their wall times are too long."""
    return runs["other_cpu_share"].astype(float) > CONTAMINATED_SHARE


def ratios_to_full(runs: pd.DataFrame, carbon: Carbon) -> pd.DataFrame:
    """Return a row per search, compared with its FULL run; FULL's own ratios are 1.

    `refused` says why a run is not compared; such a row has only FACTS and AMOUNTS. If two energies
    were obtained in different ways, their ratio is missing, and a warning says so.
    """
    table = with_amounts(runs[runs["selector"] != "untuned"], carbon).astype(object)
    rows = [RunRow(row) for row in table.where(table.notna(), None).to_dict("records")]
    pair = attrgetter(*PAIR)
    full = {pair(row): row for row in rows if row.selector == "full"}
    busy = set(table["record"][disturbed(table)])
    compared = [
        _compared(row, full.get(pair(row)), busy) | amounts
        for row, amounts in zip(rows, table[AMOUNTS].to_dict("records"), strict=True)
    ]
    return pd.DataFrame(compared, columns=COLUMNS)


def _compared(run: RunRow, full: RunRow | None, busy: set[str]) -> dict[str, Any]:
    """Return the row of `run`; `busy` has the records of all disturbed runs."""
    facts = {column: getattr(run, column) for column in FACTS}
    refused = _refusal(run, full)
    if full is None or refused:
        pair = run.record if full is None else f"{run.record} (FULL: {full.record})"
        logger.warning("%s: %s", pair, refused)
        return {**facts, "refused": refused}
    return facts | _ratios(run, full, run is not full and bool({run.record, full.record} & busy))


def _refusal(run: RunRow, full: RunRow | None) -> str | None:
    """Return why `run` is not compared with `full`; None if it is."""
    if full is None:
        return "no FULL run to compare with"
    if run is full and run.set_aside:
        scores = "; its time is the sum over calls, its scores are not affected"
        return f"{SET_ASIDE} {run.set_aside}{scores * (run.set_aside == RESUMED)}"
    for name, row in (("the run", run), ("its FULL", full)):
        if row.set_aside:
            return f"{NOT_COMPARABLE}: {name} {row.set_aside}"
    if differing := _differing(run, full, SAME):
        return f"{NOT_COMPARABLE}: {differing}"
    if run.final_failure is not None:
        return f"the final training diverged: {run.final_failure}"
    return None


def _differing(run: RunRow, full: RunRow, columns: list[str]) -> str:
    """Return the `columns` that differ, with both values; "" if none does."""
    pairs = ((name, getattr(run, name), getattr(full, name)) for name in columns)
    return ", ".join(f"{name} {one} and {other}" for name, one, other in pairs if one != other)


def _ratios(run: RunRow, full: RunRow, busy: bool) -> dict[str, Any]:
    """Return the ratios; if the host was `busy` with other work, without those of wall times."""
    speedup = None if busy else full.total_seconds / run.total_seconds
    limit = ceiling(run, full)
    work = energy = None
    if run.device == "cpu" and full.cpu_seconds is not None and run.cpu_seconds:
        work = full.cpu_seconds / run.cpu_seconds
    if differing := _differing(run, full, SAME_ENERGY):
        logger.warning("%s (FULL: %s): no energy ratio: %s", run.record, full.record, differing)
    elif (
        full.energy_joules is not None
        and run.energy_joules
        and (follows_time(run.energy_method, run.energy_source) or not busy)
        and not {"counter_reset", "shared_gpu"} & {*f"{run.flags} {full.flags}".split()}
    ):
        energy = full.energy_joules / run.energy_joules
    return {
        "speedup": speedup,
        "cpu_ratio": work,
        "ceiling": limit,
        "efficiency": None if speedup is None else speedup / limit,
        "final_ceiling": None if busy else final_ceiling(run, full),
        ERROR: relative_test_error(full.test_accuracy, run.test_accuracy),
        "energy_ratio": energy,
        "co2_energy_ratio": energy,  # one intensity holds for all runs
        "co2_time_ratio": speedup,
        "full_best_epochs": full.best_epochs,
        "full_record": full.record,
    }


def relative_test_error(full_accuracy: float, run_accuracy: float) -> float:
    """Return accuracy(FULL) - accuracy(run) in percentage points; negative is a gain.

    The paper has no formula; its "performance loss of 0.65 %" fits this one.
    """
    return 100 * (full_accuracy - run_accuracy)


def ceiling(run: RunRow, full: RunRow) -> float:
    """Return the speedup if an epoch cost its share of samples, and nothing else cost anything.

    ceiling = E_full/P / (T + E_run/P + selection/P), with E in passes over the training set and P
    trials at once. E_run is f times the epochs on subsets, plus the warm start. A selection by
    gradients costs one forward pass. T is the final training: max(T, E_final/P) if P finalists of
    E_final epochs in all train at once.
    """
    selection = FORWARD_SHARE * run.gradient_selections
    trials = run.concurrent_trials
    longest = min(run.epochs, run.final_epochs)
    final = max(longest, run.final_epochs / (run.final_slots or 1))
    passes = final + (run.full_epoch_equivalents + selection) / trials
    return full.full_epoch_equivalents / trials / passes


def final_ceiling(run: RunRow, full: RunRow) -> float:
    """Return `ceiling` with the measured seconds of the final training.

    An epoch of the search costs as much as FULL's mean epoch, with as many trials at once.
    """
    epoch = full.total_seconds / full.full_epoch_equivalents
    passes = run.full_epoch_equivalents + FORWARD_SHARE * run.gradient_selections
    return full.total_seconds / (run.final_seconds + passes * epoch)
