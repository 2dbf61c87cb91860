"""From records to the tables of runs, trials and provenance; everything else reads these tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.provenance import presented, provenance_row
from automata.analysis.runs import row, table
from automata.analysis.study import PANEL, RUN
from automata.analysis.tables import write_csv, write_json, write_parquet
from automata.analysis.trials import evaluations
from automata.config.sections import Comparison
from automata.errors import UserError
from automata.files import write_text
from automata.records import read_record

Row = dict[str, Any]

CHUNK = 64
"""Records that a process reads at a time."""


@dataclass(frozen=True)
class Collected:
    """The tables of an experiment that are made from its records."""

    runs: pd.DataFrame
    """A row per record, sorted by the columns of `RUN`."""
    trials: pd.DataFrame
    """A row per evaluation of a trial."""
    protocols: dict[str, Any]
    """The settings for each `protocol_hash` of the runs."""
    provenance: pd.DataFrame
    """A row per record, with the machine and software that made it."""

    def write(self, folder: Path) -> None:
        """Write the tables."""
        write_csv(self.runs, folder / "runs.csv")
        write_parquet(self.runs, folder / "runs.parquet")
        write_parquet(self.trials, folder / "trials.parquet")
        write_json(self.protocols, folder / "protocols.json")
        write_csv(self.provenance, folder / "provenance.csv")
        write_text(folder / "provenance.md", presented(self.provenance))


def record_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files among `paths`, and all records in the folders among them.

    Raises UserError for a path that is neither a file nor a folder with records.
    """
    files: list[Path] = []
    for path in paths:
        inside = (file for file in path.rglob("record.json") if file.is_file())
        found = [path] if path.is_file() else sorted(inside)
        if not found:
            raise UserError(f"{path}: no file, and no folder with a record.json in it")
        files += found
    return files


def collect(paths: Sequence[Path], comparison: Comparison, processes: int = 1) -> Collected:
    """Return the tables of the records at `paths`, which are at least one.

    `processes` processes read them. Raises UserError for a file that is not a record, and for two
    records of the same run.
    """
    read = partial(_read, comparison)
    if processes == 1 or len(paths) <= CHUNK:
        parts = list(map(read, paths))
    else:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(pool.map(read, paths, chunksize=CHUNK))
    rows, trials, settings, provenance = zip(*parts, strict=True)
    runs = table(rows)
    twice = runs[runs.duplicated(RUN, keep=False)]
    if len(twice):
        raise UserError(f"records of the same run: {', '.join(twice['record'])}")
    _exclude_older(runs)
    protocols: dict[str, Any] = {}
    for name, own in zip(runs["protocol_hash"], settings, strict=True):
        # FULL's settings lack the keys that concern subsets alone.
        known = protocols.get(name, own)
        protocols[name] = max(known, own, key=lambda one: len(one["protocol"]))
    return Collected(
        runs.sort_values(RUN, ignore_index=True),
        pd.concat([part for part in trials if len(part)] or trials[:1], ignore_index=True),
        dict(sorted(protocols.items())),
        pd.DataFrame(provenance).sort_values(RUN, ignore_index=True),
    )


def _read(comparison: Comparison, path: Path) -> tuple[Row, pd.DataFrame, Row, Row]:
    """Return what a record adds: its run, trials, settings and provenance.

    The settings lack those of selectors, and have the notes on the user's data.
    """
    record = read_record(path)
    settings = record.job.settings.model_dump(mode="json", exclude={"selector", "metering"})
    if record.data.read:
        settings["read"] = record.data.read
    run = row(record, path, comparison)
    return run, evaluations(record, path), settings, provenance_row(record, path)


def _exclude_older(runs: pd.DataFrame) -> None:
    """Exclude runs with an older measurement version than others of their panel."""
    for part in ("training", "metering", "selector"):
        group = [*PANEL, "selector"] if part == "selector" else PANEL
        made = runs[f"{part}_version"]
        newest = made.groupby([runs[column] for column in group]).transform("max")
        for one in runs.index[(made < newest) & (runs["set_aside"] == "")]:
            text = f"has another measurement version: {part} {made[one]}, not {newest[one]}"
            runs.loc[one, "set_aside"] = text
