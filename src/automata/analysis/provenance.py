"""Where and with what the records of an experiment were made."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.tables import markdown
from automata.records import Record

PER_RUN = ("record", "dataset", "search", "scheduler", "selector", "fraction", "started")
"""Columns that say which run it is, and when: the summary counts no values of them."""

_LISTED = 6


def provenance_row(record: Record, path: Path) -> dict[str, Any]:
    """Return the row of one record in the table of provenance."""
    made = record.provenance
    git = made["git"] or {}
    run = record.job.run.model_dump()
    started = min(segment.measurement.started_at for segment in record.segments)
    compute = record.job.settings.compute
    return {
        "record": str(path),
        **run,
        "started": datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
        "git_commit": git.get("commit"),
        "git_dirty": git.get("dirty"),
        "measurement": f"training {record.version('training')}, metering "
        f"{record.version('metering')}, selector {record.version(run['selector'])}",
        "lock_sha256": made["lock_sha256"],
        "data": f"{run['dataset']} {record.data.sha256}",
        "own_model_sha256": made["own_model_sha256"],
        "threads_per_trial": compute.threads_per_trial,
        "concurrent_trials": compute.concurrent_trials,
        "precision": compute.precision,
        "blas": "; ".join(_pairs(library) for library in made["blas"]),
        "torch": _pairs(made["torch"]),
        "environment": _pairs(made["environment"]),
        "python": made["python"],
        "packages": _pairs(made["packages"]),
        "host": made["host"],
        "platform": made["platform"],
        "cpu": f"{made['cpu']}, {made['cpu_count']} cores",
        "memory_mib": made["memory_mib"],
        "device": made["device"],
        "gpus": ", ".join(made["gpus"]),
    }


def distinct(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per value of each column of the table of provenance, and its number of runs.

    A column with many values has one row that counts them. An empty value is one that was not
    there: no git checkout, no GPU.
    """
    rows: list[tuple[str, str, int]] = []
    for column in table.columns.drop([name for name in PER_RUN if name in table]):
        counts = table[column].fillna("").astype(str).value_counts().sort_index()
        if len(counts) > _LISTED:
            rows.append((column, f"{len(counts)} values", int(counts.sum())))
        else:
            rows += [(column, str(value), int(runs)) for value, runs in counts.items()]
    return pd.DataFrame(rows, columns=["what", "value", "runs"])


def presented(table: pd.DataFrame) -> str:
    """Return the table of provenance for readers, in Markdown: its values, and when runs began."""
    first, last = table["started"].min(), table["started"].max()
    runs = f"{len(table)} runs, begun between {first} and {last}."
    return f"{markdown(distinct(table))}\n{runs}\n"


def _pairs(values: dict[str, Any]) -> str:
    """Return the values that there are, as people read them: name value, name value."""
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)
