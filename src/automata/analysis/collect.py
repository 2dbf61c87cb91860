"""From records to the tables that all else is made of: after this, nothing reads a record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis import trials
from automata.analysis.runs import RUN, protocol, protocol_hash, row
from automata.config import Comparison
from automata.errors import UserError
from automata.records import read_record


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


def collect(paths: Iterable[Path], comparison: Comparison) -> Collected:
    """Return what the records at `paths`, at least one, say, to be compared by `comparison`.

    Raises UserError for a file that is not a record, and when two records are of one run.
    """
    runs: list[dict[str, Any]] = []
    evaluations: list[dict[str, Any]] = []
    protocols: dict[str, Any] = {}
    for path in paths:
        record = read_record(path)
        runs.append(row(record, path, comparison))
        evaluations += trials.evaluations(record, path)
        protocols[protocol_hash(record)] = protocol(record)
    table = pd.DataFrame(runs)
    twice = table[table.duplicated(RUN, keep=False)]
    if len(twice):
        raise UserError(f"records of the same run: {', '.join(twice['record'])}")
    return Collected(
        table.sort_values(RUN, ignore_index=True),
        pd.DataFrame(evaluations, columns=trials.COLUMNS),
        dict(sorted(protocols.items())),
    )
