"""Read records into the tables of runs, trials and provenance, from which all others are made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.provenance import origin, presented
from automata.analysis.runs import row, table
from automata.analysis.study import PANEL, RUN
from automata.config.sections import Comparison
from automata.errors import UserError
from automata.records.record import Record, read_record

Row = dict[str, Any]

CHUNK = 64
"""Number of records that a process reads at a time."""

EVALUATION = [
    *RUN,
    *("index", "configuration", "status", "epoch", "accuracy", "score"),
    *("elapsed_seconds", "record"),
]
"""Columns of the table of trials."""

ANSWERS, TRAINING = ["record", "class", "answer", "rows"], ["record", "epoch", "loss"]
"""Columns of answers.parquet (answers on test rows) and training.parquet."""


def record_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files of `paths` and the records in folders; raises UserError if one has none."""
    files: list[Path] = []
    for path in paths:
        inside = (file for file in path.rglob("record.json") if file.is_file())
        records = [path] if path.is_file() else sorted(inside)
        if not records:
            raise UserError(f"{path}: no file, and no folder with a record.json in it")
        files += records
    return files


def collect(paths: Sequence[Path], comparison: Comparison, processes: int = 1) -> dict[str, Any]:
    """Return tables of the records at `paths` (at least one) by file name.

    Raises UserError for a file that is not a record, and for two records of the same run.
    """
    read = partial(_read, comparison)
    if processes == 1 or len(paths) <= CHUNK:
        parts = list(map(read, paths))
    else:
        with ProcessPoolExecutor(processes) as pool:
            parts = list(pool.map(read, paths, chunksize=CHUNK))
    rows, trials, settings, provenance, answers, trainings = zip(*parts, strict=True)
    runs = table(rows)
    twice = runs[runs.duplicated(RUN, keep=False)]
    if len(twice):
        raise UserError(f"records of the same run: {', '.join(twice['record'])}")
    _exclude_older(runs)
    protocols: dict[str, Any] = {}
    for name, own in zip(runs["protocol_hash"], settings, strict=True):
        # FULL's settings lack the keys about subsets.
        known = protocols.get(name, own)
        protocols[name] = max(known, own, key=lambda settings: len(settings["protocol"]))
    runs = runs.sort_values(RUN, ignore_index=True)
    origins = pd.DataFrame(provenance).sort_values(RUN, ignore_index=True)
    searched = [part for part in trials if len(part)] or trials[:1]
    return {
        "runs.csv": runs,
        "runs.parquet": runs,
        "trials.parquet": pd.concat(searched, ignore_index=True),
        "answers.parquet": pd.DataFrame(chain(*answers), columns=ANSWERS),
        "training.parquet": pd.DataFrame(chain(*trainings), columns=TRAINING),
        "protocols.json": dict(sorted(protocols.items())),
        "provenance.csv": origins,
        "provenance.md": presented(origins),
    }


def _read(
    comparison: Comparison, path: Path
) -> tuple[Row, pd.DataFrame, Row, Row, list[Any], list[Any]]:
    """Return a record's row of runs, trials, settings without the selector's, and provenance.

    For own data there are also answers on test rows, and the losses of the chosen training.
    """
    record = read_record(path)
    settings = record.job.settings.model_dump(mode="json", exclude={"selector", "metering"})
    if record.data.read:
        settings["read"] = record.data.read
    run = row(record, path, comparison)
    own = record.job.settings.data.own is not None
    names = [*record.data.class_names, "no answer"]
    answers = [(str(path), names[c], names[a], n) for c, a, n in record.test.answers if own]
    losses = (record.final or record.best).progress.training_loss if own else []
    training = [(str(path), epoch, loss) for epoch, loss in enumerate(losses, 1)]
    trials = evaluations(record, path)
    return run, trials, settings, origin(record, path), answers, training


def _exclude_older(runs: pd.DataFrame) -> None:
    """Exclude runs whose measurement version is older than the newest of their panel."""
    for part in ("training", "metering", "selector"):
        group = [*PANEL, "selector"] if part == "selector" else PANEL
        made = runs[f"{part}_version"]
        newest = runs.groupby(group)[f"{part}_version"].transform("max")
        for index in runs.index[(made < newest) & (runs["set_aside"] == "")]:
            text = f"has another measurement version: {part} {made[index]}, not {newest[index]}"
            runs.loc[index, "set_aside"] = text


def evaluations(record: Record, path: Path) -> pd.DataFrame:
    """Return a row per evaluation of a trial, in order of time; empty without a search.

    `elapsed_seconds` counts from the start of the search without interruptions.
    """
    metric = record.job.settings.protocol.metric
    rows = [
        (
            *(getattr(record.job.run, axis) for axis in RUN),
            trial.index,
            json.dumps(trial.configuration, sort_keys=True),
            trial.status,
            evaluation.epoch,
            evaluation.accuracy,
            evaluation.score(metric),
            record.tuning.elapsed(evaluation.finished_at),
            str(path),
        )
        for trial in record.tuning.trials
        for evaluation in (trial.progress.evaluations if record.tuning.measurement else [])
    ]
    table = pd.DataFrame(rows, columns=EVALUATION)
    return table.sort_values("elapsed_seconds", kind="stable", ignore_index=True)
