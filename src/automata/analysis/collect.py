"""From records to the tables that all else is made of: after this, nothing reads a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis import trials
from automata.analysis.runs import RUN, protocol, protocol_hash, row
from automata.errors import UserError
from automata.records import read_record

CHUNK = 64
"""Records that are read at a time."""


@dataclass(frozen=True)
class Collected:
    """What the records of an experiment say."""

    runs: pd.DataFrame
    """A row per record, sorted by the columns of `RUN`."""
    trials: pd.DataFrame
    """A row per evaluation of a trial."""
    protocols: dict[str, Any]
    """The settings behind each `protocol_hash` of the runs."""


def record_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files among `paths`, and the records anywhere in the folders among them.

    Raises UserError for what is neither a file nor such a folder.
    """
    files: list[Path] = []
    for path in paths:
        found = [path] if path.is_file() else sorted(path.rglob("record.json"))
        if not found:
            raise UserError(f"{path}: no file, and no folder with a record.json in it")
        files += found
    return files


def collect(paths: Sequence[Path], processes: int = 1) -> Collected:
    """Return what the records at `paths`, at least one, say; so many processes read them.

    Raises UserError for a file that is not a record, and when two records are of one run.
    """
    some = [paths[start : start + CHUNK] for start in range(0, len(paths), CHUNK)]
    if processes == 1 or len(some) == 1:
        parts = [_read(chunk) for chunk in some]
    else:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(pool.map(_read, some))
    table = pd.DataFrame([run for part in parts for run in part.runs])
    twice = table[table.duplicated(RUN, keep=False)]
    if len(twice):
        raise UserError(f"records of the same run: {', '.join(twice['record'])}")
    searched = [part.trials for part in parts if len(part.trials)]
    protocols = {name: settings for part in parts for name, settings in part.protocols.items()}
    return Collected(
        table.sort_values(RUN, ignore_index=True),
        pd.concat(searched or [parts[0].trials], ignore_index=True),
        dict(sorted(protocols.items())),
    )


@dataclass(frozen=True)
class _Part:
    """What some of the records say, in their order."""

    runs: list[dict[str, Any]]
    trials: pd.DataFrame
    protocols: dict[str, Any]


def _read(paths: Sequence[Path]) -> _Part:
    """Read the records at `paths`: as many as it takes to be worth a table, and no more memory."""
    runs: list[dict[str, Any]] = []
    evaluations: list[dict[str, Any]] = []
    protocols: dict[str, Any] = {}
    for path in paths:
        record = read_record(path)
        runs.append(row(record, path))
        evaluations += trials.evaluations(record, path)
        protocols[protocol_hash(record)] = protocol(record)
    table = pd.DataFrame(evaluations, columns=trials.COLUMNS)
    return _Part(runs, table.astype(trials.TYPES), protocols)
