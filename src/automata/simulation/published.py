"""Published learning curves: for each data set a table, and the origins of its rows.

`dna.parquet` has a row per evaluation. `dna.json.gz` has the rest of each record: the job, how it
was measured, and by which commit. Published curves are not trained again.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from automata.files import replacing
from automata.simulation.grid import path_of, published_trainings, read_origins, training_of
from automata.simulation.record import Curve, Curves

ROW = ["training", "configuration", "epoch"]
"""Columns that name a row."""

UNIQUE = ["loss", "cpu_seconds", "joules"]
"""Columns whose numbers hardly repeat: their bytes are split, which compresses a third better."""


def publish_curves(records: Iterable[Curves], folder: Path) -> None:
    """Add `records` to the published curves in `folder`; what is there already stays."""
    new: dict[str, list[Curves]] = defaultdict(list)
    known = published_trainings(folder)
    for record in records:
        job = record.job
        there = known.get(training_of(job))
        if there is None or not there.configurations.issuperset(job.configurations):
            new[job.dataset].append(record)
    for dataset, some in sorted(new.items()):
        path, origins = folder / f"{dataset}.parquet", folder / f"{dataset}.json.gz"
        before = [pd.read_parquet(path)] if path.is_file() else []
        table = pd.concat([*before, tabulated(some)]).drop_duplicates(ROW)
        said = read_origins(origins) if origins.is_file() else {}
        said |= {path_of(it.job): it.model_dump(mode="json", exclude={"curves"}) for it in some}
        with replacing(path) as temporary:
            write_table(_compact(table), temporary)
        with replacing(origins) as temporary:
            text = json.dumps(said, sort_keys=True) + "\n"
            temporary.write_bytes(gzip.compress(text.encode(), mtime=0))


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table of curves as a small Parquet file."""
    table.to_parquet(
        path,
        index=False,
        compression="zstd",
        compression_level=22,
        use_dictionary=[name for name in table if name not in UNIQUE],
        use_byte_stream_split=UNIQUE,
    )


def published_curves(folder: Path, trainings: Sequence[str]) -> pd.DataFrame:
    """Return the published rows of these trainings; none where nothing is published."""
    datasets = sorted({training.partition("/")[0] for training in trainings})
    tables = [
        pd.read_parquet(path)
        for dataset in datasets
        if (path := folder / f"{dataset}.parquet").is_file()
    ]
    if not tables:
        return pd.DataFrame(columns=ROW)
    table = pd.concat([it.astype({"training": "str"}) for it in tables], ignore_index=True)
    return table[table["training"].isin(trainings)]


def _compact(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in order, texts that repeat as categories and costs in four bytes.

    Accuracies stay as they are: whether two are equal decides a search.
    """
    texts = ["training", "dataset", "selector", "hyperparameters"]
    singles = ["cpu_seconds", "joules"]
    kinds = dict.fromkeys(texts, "category") | dict.fromkeys(singles, "float32")
    return table.sort_values(ROW, ignore_index=True).astype(kinds)


def tabulated(records: Iterable[Curves]) -> pd.DataFrame:
    """Return a row for each evaluation of each training, also of one that has diverged."""
    return pd.DataFrame([row for record in records for row in _rows(record)])


def _rows(record: Curves) -> Iterator[dict[str, Any]]:
    job = record.job
    rates = [_rates(record, segment) for segment in range(len(record.segments))]
    for curve in record.curves:
        said = {
            "training": training_of(job),
            "dataset": job.dataset,
            "selector": job.selector,
            "fraction": job.fraction,
            "warm_start": job.warm_start,
            "horizon_exponent": job.settings.protocol.horizon_exponent,
            "seed": job.seed,
            "configuration": curve.index,
            "hyperparameters": json.dumps(curve.configuration, sort_keys=True),
        }
        cpu, watts = rates[curve.segment]
        for epoch, values in _evaluations(curve, job.epochs):
            seconds = values.pop("seconds")
            yield {
                **said,
                "epoch": epoch,
                **values,
                "cpu_seconds": seconds * cpu,
                "joules": seconds * watts,
            }


def _rates(record: Curves, segment: int) -> tuple[float, float]:
    """Return CPU seconds and joules for a second inside trainings of a process.

    Others may take the cores meanwhile, so that a second is no measure.
    """
    measured = record.segments[segment]
    inside = sum(c.progress.seconds.total for c in record.curves if c.segment == segment)
    if not inside:
        return math.nan, math.nan
    taken = measured.cpu_seconds, measured.energy_joules
    cpu, joules = (math.nan if it is None else it / inside for it in taken)
    return cpu, joules


def _evaluations(curve: Curve, epochs: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what is known of each epoch; after a divergence the worst score, at no more cost."""
    progress = curve.progress
    sound = {
        evaluation.epoch: (evaluation, point)
        for evaluation, point in zip(progress.evaluations, curve.points, strict=True)
        if math.isfinite(evaluation.loss)
        and math.isfinite(progress.training_loss[evaluation.epoch - 1])
    }
    for epoch in epochs:
        if epoch in sound:
            evaluation, point = sound[epoch]
            seconds = point.training_seconds + point.selection_seconds + point.evaluation_seconds
            accuracy, loss, samples = evaluation.accuracy, evaluation.loss, point.samples
        else:
            accuracy, loss = 0.0, math.inf
            samples, seconds = progress.samples, progress.seconds.total
        yield (
            epoch,
            {
                "accuracy": accuracy,
                "loss": loss,
                "samples": samples,
                "seconds": seconds,
                "test_accuracy": curve.test_accuracy if epoch == epochs[-1] else None,
            },
        )
