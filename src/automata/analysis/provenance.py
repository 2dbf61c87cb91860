"""The table of provenance, a row per run, and its page, which counts runs by value."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.study import RUN
from automata.analysis.tables import markdown
from automata.records.record import Record

UNCOUNTED = ("record", *RUN, "started")
"""Columns that the page does not count, because they name a run and its start."""

LISTED = 6
"""Maximum number of values of a column that the page lists."""


def origin(record: Record, path: Path) -> dict[str, Any]:
    """Return the row of one record in the table of provenance."""
    made = record.provenance
    git = made["git"] or {}
    run = record.job.run
    started = min(segment.measurement.started_at for segment in record.segments)
    compute = record.job.settings.compute
    return {
        "record": str(path),
        **run.model_dump(),
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "git_commit": git.get("commit"),
        "git_dirty": git.get("dirty"),
        "measurement": f"training {record.version('training')}, metering "
        f"{record.version('metering')}, selector {record.version(run.selector)}",
        "lock_sha256": made["lock_sha256"],
        "data": f"{run.dataset} {record.data.sha256}",
        "own_model_sha256": made["own_model_sha256"],
        "threads_per_trial": compute.threads_per_trial,
        "concurrent_trials": compute.concurrent_trials,
        "precision": compute.precision,
        "blas": "; ".join(map(_listed, made["blas"])),
        "torch": _listed(made["torch"]),
        "environment": _listed(made["environment"]),
        "python": made["python"],
        "packages": _listed(made["packages"]),
        "host": made["host"],
        "platform": made["platform"],
        "cpu": f"{made['cpu']}, {made['cpu_count']} cores",
        "memory_mib": made["memory_mib"],
        "device": made["device"],
        "gpus": ", ".join(made["gpus"]),
    }


def presented(table: pd.DataFrame) -> str:
    """Return the page of provenance: the number of runs by value of each column.

    An empty value means that the machine or software has no such part, e.g. no GPU.
    """
    rows: list[tuple[str, str, int]] = []
    for column in table.columns.drop(list(UNCOUNTED)):
        counts = table[column].fillna("").astype(str).value_counts().sort_index()
        if len(counts) > LISTED:
            rows.append((column, f"{len(counts)} values", len(table)))
        else:
            rows += [(column, str(value), int(runs)) for value, runs in counts.items()]
    first, last = table["started"].min(), table["started"].max()
    values = markdown(pd.DataFrame(rows, columns=["what", "value", "runs"]))
    return f"{values}\n{len(table)} runs, begun between {first} and {last}.\n"


def _listed(values: dict[str, Any]) -> str:
    """Return the known values as "name value, name value"."""
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)
