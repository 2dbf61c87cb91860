"""The table of trials: one row per evaluation of a trial on the validation set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from automata.analysis.study import RUN
from automata.records import Evaluation, Record, Trial

COLUMNS = [
    *RUN,
    "index",
    "configuration",
    "status",
    "epoch",
    "rung",
    "accuracy",
    "loss",
    "elapsed_seconds",
    "elapsed_joules",
    "record",
]

TYPES = {"elapsed_joules": "float64"}
"""Of columns in which a value may be missing: one that nobody has would have no type."""


def evaluations(record: Record, path: Path) -> list[dict[str, Any]]:
    """Return a row per evaluation of a trial, in the order of time; none without a search.

    `epoch` is when the trial was evaluated, `rung` says whether the scheduler saw it;
    `elapsed_seconds` count from the start of the search, without interruptions.
    `elapsed_joules` spread the energy of the search evenly over its time, as counters are read
    seconds apart: None where it is not known. Trials that diverged keep the evaluations made
    before.
    """
    window = record.tuning.measurement
    if window is None:
        return []
    energy = window.energy_joules
    watts = None if energy is None else energy / window.wall_seconds
    run = record.job.run.model_dump()
    rows = []
    for trial, rung, evaluation in _evaluations(record):
        elapsed = record.tuning.elapsed(evaluation.finished_at)
        rows.append(
            {
                **run,
                "index": trial.index,
                "configuration": json.dumps(trial.configuration, sort_keys=True),
                "status": trial.status,
                "epoch": evaluation.epoch,
                "rung": rung,
                "accuracy": evaluation.accuracy,
                "loss": evaluation.loss,
                "elapsed_seconds": elapsed,
                "elapsed_joules": None if watts is None else watts * elapsed,
                "record": str(path),
            }
        )
    return sorted(rows, key=lambda row: row["elapsed_seconds"])


def _evaluations(record: Record) -> Iterator[tuple[Trial, bool, Evaluation]]:
    """Yield the evaluations with their trials, and whether each was at a rung."""
    for trial in record.tuning.trials:
        yield from ((trial, True, evaluation) for evaluation in trial.progress.evaluations)
        yield from ((trial, False, evaluation) for evaluation in trial.progress.curve)
