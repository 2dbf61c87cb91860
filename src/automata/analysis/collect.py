"""From records to the tables that all else is made of: after this, nothing reads a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.provenance import presented, provenance_row
from automata.analysis.runs import (
    TRIAL_COLUMNS,
    TRIAL_TYPES,
    EvaluationRow,
    RunRow,
    evaluations,
    protocol,
    protocol_hash,
    row,
)
from automata.analysis.study import PANEL, RUN
from automata.analysis.tables import write_csv, write_json, write_parquet
from automata.config.sections import Comparison
from automata.errors import UserError
from automata.files import write_text
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
    provenance: pd.DataFrame
    """A row per record: where and with what it was made."""

    def write(self, folder: Path) -> None:
        """Write them to files: those of the catalogue that name no function."""
        write_csv(self.runs, folder / "runs.csv")
        write_parquet(self.runs, folder / "runs.parquet")
        write_parquet(self.trials, folder / "trials.parquet")
        write_json(self.protocols, folder / "protocols.json")
        write_csv(self.provenance, folder / "provenance.csv")
        write_text(folder / "provenance.md", presented(self.provenance))


def record_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files among `paths`, and the records anywhere in the folders among them.

    Raises UserError for what is neither a file nor such a folder.
    """
    files: list[Path] = []
    for path in paths:
        inside = (file for file in path.rglob("record.json") if file.is_file())
        found = [path] if path.is_file() else sorted(inside)
        if not found:
            raise UserError(f"{path}: no file, and no folder with a record.json in it")
        files += found
    return files


def collect(
    paths: Sequence[Path],
    comparison: Comparison,
    processes: int = 1,
) -> Collected:
    """Return what the records at `paths`, at least one, say, to be compared by `comparison`.

    So many `processes` read them. Raises UserError for a file that is not a record, and when two
    records are of one run.
    """
    some = [paths[start : start + CHUNK] for start in range(0, len(paths), CHUNK)]
    read = partial(_read, comparison)
    if processes == 1 or len(some) == 1:
        parts = [read(chunk) for chunk in some]
    else:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(pool.map(read, some))
    runs = [run for part in parts for run in part.runs]
    table = pd.DataFrame(runs, columns=list(RunRow.__annotations__))
    twice = table[table.duplicated(RUN, keep=False)]
    if len(twice):
        raise UserError(f"records of the same run: {', '.join(twice['record'])}")
    _set_older_aside(table)
    searched = [part.trials for part in parts if len(part.trials)]
    protocols: dict[str, Any] = {}
    for part in parts:
        for name, settings in part.protocols.items():
            protocols[name] = _fuller(protocols.get(name), settings)
    trials = pd.concat(searched or [parts[0].trials], ignore_index=True)
    origins = pd.DataFrame([origin for part in parts for origin in part.origins])
    return Collected(
        table.sort_values(RUN, ignore_index=True),
        trials,
        dict(sorted(protocols.items())),
        origins.sort_values(RUN, ignore_index=True),
    )


def _set_older_aside(runs: pd.DataFrame) -> None:
    """Set runs aside that have an older measurement version than others of their panel."""
    for part in ("training", "metering", "selector"):
        group = [*PANEL, "selector"] if part == "selector" else PANEL
        made = runs[f"{part}_version"]
        newest = made.groupby([runs[column] for column in group]).transform("max")
        for one in runs.index[(made < newest) & (runs["set_aside"] == "")]:
            text = f"has another measurement version: {part} {made[one]}, not {newest[one]}"
            runs.loc[one, "set_aside"] = text


@dataclass(frozen=True)
class _Part:
    """What some of the records say, in their order."""

    runs: list[RunRow]
    trials: pd.DataFrame
    protocols: dict[str, Any]
    origins: list[dict[str, Any]]


def _fuller(one: dict[str, Any] | None, other: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that say more: FULL's have no key that concerns subsets alone."""
    return max(one or other, other, key=lambda settings: len(settings["protocol"]))


def _read(comparison: Comparison, paths: Sequence[Path]) -> _Part:
    """Read the records at `paths`: as many as it takes to be worth a table, and no more memory."""
    runs: list[RunRow] = []
    scores: list[EvaluationRow] = []
    protocols: dict[str, Any] = {}
    origins: list[dict[str, Any]] = []
    for path in paths:
        record = read_record(path)
        runs.append(row(record, path, comparison))
        scores += evaluations(record, path)
        name = protocol_hash(record)
        protocols[name] = _fuller(protocols.get(name), protocol(record))
        origins.append(provenance_row(record, path))
    table = pd.DataFrame(scores, columns=TRIAL_COLUMNS)
    return _Part(runs, table.astype(TRIAL_TYPES), protocols, origins)
