"""Published learning curves: for each data set a table, and the origins of its rows.

`dna.parquet` has a row per evaluation. `dna.json.gz` has the rest of each record: the job, how it
was measured, and by which commit. Published curves are not trained again.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from automata.files import replacing
from automata.simulation.grid import Curves, path_of, published_trainings, read_origins, training_of

ROW = ["training", "configuration", "epoch"]
"""Columns that identify a row."""

COLUMNS = [
    *("training", "dataset", "selector", "fraction", "warm_start", "horizon_exponent", "seed"),
    *("configuration", "hyperparameters", "epoch"),
    *("accuracy", "loss", "samples", "cpu_seconds", "test_accuracy"),
]

TEXTS = ["training", "dataset", "selector", "hyperparameters"]
TYPES = dict.fromkeys(TEXTS, "category") | {"cpu_seconds": "float32"}
"""Small types. Accuracies keep all their bits: whether two are equal decides a search."""

UNIQUE = ["loss", "cpu_seconds"]
"""Columns whose numbers hardly repeat: their bytes are split, which compresses a third better."""


def publish_curves(records: Iterable[Curves], folder: Path) -> None:
    """Add `records` to the published curves in `folder`, whose rows stay."""
    known = {name: it.configurations for name, it in published_trainings(folder).items()}
    new = [
        record
        for record in records
        if not known.get(training_of(record.job), set()).issuperset(record.job.configurations)
    ]
    for dataset in sorted({record.job.dataset for record in new}):
        some = [record for record in new if record.job.dataset == dataset]
        path, origins = folder / f"{dataset}.parquet", folder / f"{dataset}.json.gz"
        before = [pd.read_parquet(path, columns=COLUMNS)] if path.is_file() else []
        table = pd.concat([*before, tabulated(some)]).drop_duplicates(ROW)
        content = read_origins(origins) if origins.is_file() else {}
        content |= {path_of(it.job): it.model_dump(mode="json", exclude={"curves"}) for it in some}
        with replacing(path) as temporary:
            table.sort_values(ROW, ignore_index=True).astype(TYPES).to_parquet(
                temporary,
                index=False,
                compression="zstd",
                compression_level=22,
                use_dictionary=[name for name in COLUMNS if name not in UNIQUE],
                use_byte_stream_split=UNIQUE,
            )
        with replacing(origins) as temporary:
            text = json.dumps(content, sort_keys=True) + "\n"
            temporary.write_bytes(gzip.compress(text.encode(), mtime=0))


def published_curves(folder: Path, trainings: Sequence[str]) -> pd.DataFrame:
    """Return the published rows of these trainings."""
    datasets = sorted({training.partition("/")[0] for training in trainings})
    paths = [folder / f"{dataset}.parquet" for dataset in datasets]
    tables = [pd.read_parquet(path, columns=COLUMNS) for path in paths if path.is_file()]
    if not tables:
        return pd.DataFrame(columns=ROW)
    table = pd.concat([it.astype({"training": "str"}) for it in tables], ignore_index=True)
    return table[table["training"].isin(trainings)]


def tabulated(records: Iterable[Curves]) -> pd.DataFrame:
    """Return a row for each epoch of each training, also after a divergence."""
    return pd.DataFrame([row for record in records for row in _rows(record)])


def _rows(record: Curves) -> Iterator[dict[str, Any]]:
    job = record.job
    rates = [_cpu_rate(record, segment) for segment in range(len(record.segments))]
    for curve in record.curves:
        shared = {
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
        sound = {
            evaluation.epoch: (evaluation, point)
            for evaluation, point in zip(curve.progress.evaluations, curve.points, strict=True)
            if math.isfinite(evaluation.loss)
            and math.isfinite(curve.progress.training_loss[evaluation.epoch - 1])
        }
        for epoch in job.epochs:
            if epoch in sound:
                evaluation, it = sound[epoch]
                seconds = it.training_seconds + it.selection_seconds + it.evaluation_seconds
                accuracy, loss, samples = evaluation.accuracy, evaluation.loss, it.samples
            else:  # it has diverged: the worst scores, at no further cost
                accuracy, loss, samples = 0.0, math.inf, curve.progress.samples
                seconds = curve.progress.seconds.total
            yield {
                **shared,
                "epoch": epoch,
                "accuracy": accuracy,
                "loss": loss,
                "samples": samples,
                "cpu_seconds": seconds * rates[curve.segment],
                "test_accuracy": curve.test_accuracy if epoch == job.epochs[-1] else None,
            }


def _cpu_rate(record: Curves, segment: int) -> float:
    """Return the CPU seconds of a process for a second inside its trainings.

    Other processes may use the cores at the same time, so that wall time is no measure.
    """
    inside = sum(c.progress.seconds.total for c in record.curves if c.segment == segment)
    taken = record.segments[segment].cpu_seconds
    return math.nan if taken is None or not inside else taken / inside
