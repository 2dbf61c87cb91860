"""Learning curves as rows of a table, as arrays, and in two published files for each data set.

`dna.parquet` has a row per evaluation, and `dna.json.gz` the rest of each record.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.errors import UserError
from automata.files import replacing
from studies.curves.jobs import Curves, path_of, published_trainings, read_origins, training_of
from studies.curves.plan import Simulated

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Strategy(NamedTuple):
    """How configurations are trained."""

    selector: str
    fraction: float
    horizon_exponent: float = 0.0


FULL = Strategy("full", 1.0)

COSTS = ("samples", "cpu_seconds")
"""The costs of trainings and searches; CPU seconds include selection and evaluation."""
SPEEDUPS = ("speedup_samples", "speedup_cpu")
"""FULL's costs divided by a method's, in the order of `COSTS`."""

ROW = ["training", "configuration", "epoch"]
"""Columns that identify a row."""

TYPES = {
    **dict.fromkeys(("training", "dataset", "selector", "hyperparameters"), "category"),
    "cpu_seconds": "float32",
}
"""Small types. Accuracies keep all their bits: whether two are equal decides a search."""

UNIQUE = ["loss", "cpu_seconds"]
"""Columns whose numbers hardly repeat: their bytes are split, which compresses a third better."""


def publish_curves(records: Iterable[Curves], folder: Path) -> None:
    """Add `records` to the published curves in `folder`, whose rows stay."""
    known = {name: it.configurations for name, it in published_trainings(folder).items()}
    new: dict[str, list[Curves]] = {}
    for record in records:
        if not known.get(training_of(record.job), set()).issuperset(record.job.configurations):
            new.setdefault(record.job.dataset, []).append(record)
    for dataset, some in new.items():
        path, origins = folder / f"{dataset}.parquet", folder / f"{dataset}.json.gz"
        before = [pd.read_parquet(path)] if path.is_file() else []
        table = pd.concat([*before, tabulated(some)]).drop_duplicates(ROW)
        content = read_origins(origins) if origins.is_file() else {}
        content |= {path_of(it.job): it.model_dump(mode="json", exclude={"curves"}) for it in some}
        with replacing(path) as temporary:
            table.sort_values(ROW, ignore_index=True).astype(TYPES).to_parquet(
                temporary,
                index=False,
                compression="zstd",
                compression_level=22,
                use_dictionary=[name for name in table if name not in UNIQUE],
                use_byte_stream_split=UNIQUE,
            )
        with replacing(origins) as temporary:
            text = json.dumps(content, sort_keys=True) + "\n"
            temporary.write_bytes(gzip.compress(text.encode(), mtime=0))


def published_curves(folder: Path, trainings: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the published rows of these trainings, a table for each data set."""
    for dataset in sorted({training.partition("/")[0] for training in trainings}):
        path = folder / f"{dataset}.parquet"
        if path.is_file():
            table = pd.read_parquet(path)
            yield table[table["training"].isin(trainings)]


def tabulated(records: Iterable[Curves]) -> pd.DataFrame:
    """Return a row for each epoch of each training, also after a divergence."""
    return pd.DataFrame([row for record in records for row in _rows(record)])


def _rows(record: Curves) -> Iterator[dict[str, Any]]:
    job = record.job
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
        progress = curve.progress
        scores = {
            evaluation.epoch: {"accuracy": evaluation.accuracy, "loss": evaluation.loss}
            for evaluation in progress.evaluations
            if math.isfinite(evaluation.loss)
            and math.isfinite(progress.training_loss[evaluation.epoch - 1])
        }
        # After a divergence: the worst scores, at no further cost.
        lacking = len(job.epochs) - len(curve.points)
        points = [*curve.points, *curve.points[-1:] * lacking]
        for epoch, point in zip(job.epochs, points, strict=True):
            yield {
                **shared,
                "epoch": epoch,
                **scores.get(epoch, {"accuracy": 0.0, "loss": math.inf}),
                **point.model_dump(),
                "test_accuracy": curve.test_accuracy if epoch == job.epochs[-1] else None,
            }


@dataclass(frozen=True)
class PoolCurves:
    """The curves of p configurations under s seeds at e epochs: arrays (s, p, e)."""

    epochs: list[int]
    scores: dict[str, Floats]
    """By metric, on the validation rows; `log_loss` has exp(-log loss); 0 after a divergence."""
    costs: Floats
    """The costs up to each epoch: (2, s, p, e), in the order of `COSTS`."""
    test: Floats
    """Test accuracy at the last epoch (s, p); NaN for trainings on subsets."""


class DatasetCurves(NamedTuple):
    """The complete curves of a data set: each strategy has the whole pool under all `seeds`."""

    searches: Simulated
    seeds: list[int]
    learning_rates: Floats
    """(p,), NaN if the search space has none."""
    curves: dict[Strategy, PoolCurves]


def complete(table: pd.DataFrame, searches: Mapping[str, Simulated]) -> dict[str, DatasetCurves]:
    """Return the curves of each data set under the seeds with which FULL has the whole pool.

    Raises UserError if no data set has such a seed.
    """
    found = {}
    for dataset, wanted in searches.items():
        here = table[(table["dataset"] == dataset) & (table["configuration"] < wanted.pool)]
        counts = here.groupby([*Strategy._fields, "seed"]).size()
        whole = counts[counts == wanted.pool * here["epoch"].nunique()]
        under: dict[Strategy, set[int]] = {}
        for *strategy, seed in whole.index:
            under.setdefault(Strategy(*strategy), set()).add(int(seed))
        if seeds := sorted(under.get(FULL, ())):
            strategies = [it for it, own in under.items() if own.issuperset(seeds)]
            curves = {it: curves_of(here, it, seeds, wanted.pool) for it in strategies}
            pool = here.drop_duplicates("configuration").sort_values("configuration")
            rates = [json.loads(it).get("learning_rate") for it in pool["hyperparameters"]]
            found[dataset] = DatasetCurves(wanted, seeds, np.array(rates, dtype=float), curves)
    if not found:
        raise UserError("no data set has all curves of FULL under a seed")
    return found


def curves_of(
    table: pd.DataFrame, strategy: Strategy, seeds: Sequence[int], pool: int
) -> PoolCurves:
    """Return the curves of one strategy from the `table` of one data set."""
    some = table[(table[list(Strategy._fields)] == list(strategy)).all(axis=1)]
    axes = list(seeds), range(pool), sorted(table["epoch"].unique())
    index = pd.MultiIndex.from_product(axes, names=["seed", "configuration", "epoch"])
    rows = some.set_index(index.names).loc[index]

    def array(column: str) -> Floats:
        return rows[column].to_numpy(dtype=np.float64).reshape([len(axis) for axis in axes])

    return PoolCurves(
        epochs=[int(epoch) for epoch in axes[2]],
        scores={"accuracy": array("accuracy"), "log_loss": np.exp(-array("loss"))},
        costs=np.stack([array(column) for column in COSTS]),
        test=array("test_accuracy")[:, :, -1],
    )
