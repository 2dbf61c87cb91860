"""Recorded learning curves as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.curves.record import Curve, Curves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WAY = ["dataset", "selector", "fraction", "warm_start", "horizon_exponent"]
"""Columns that say how configurations were trained."""


class Way(NamedTuple):
    """How configurations were trained."""

    selector: str
    fraction: float
    warm_start: float = 0.0
    horizon_exponent: float = 0.0


FULL = Way("full", 1.0)


@dataclass(frozen=True)
class Curved:
    """The curves of a pool of p configurations under s seeds, seen at e epochs: (s, p, e)."""

    epochs: list[int]
    accuracy: Floats
    """On the validation rows, 0 from where a training diverged."""
    likelihood: Floats
    """exp(-log loss), which orders trials as the loss does; 0 from there."""
    samples: Floats
    """Taken by then, warm start included."""
    seconds: Floats
    """CPU seconds of training, selection and evaluation by then."""
    test: Floats
    """Test accuracy at the end (s, p), of trainings on all data; else NaN."""

    def place(self, epoch: int) -> int:
        """Return where `epoch` is among the epochs."""
        return self.epochs.index(epoch)

    def scores(self, metric: str) -> Floats:
        """Return what trials are compared by."""
        return self.likelihood if metric == "log_loss" else self.accuracy


def tabulated(records: Iterable[Curves]) -> pd.DataFrame:
    """Return a row for each evaluation of each training, and one for where a training diverged."""
    return pd.DataFrame([row for record in records for row in _rows(record)])


def _rows(record: Curves) -> Iterable[dict[str, Any]]:
    job = record.job
    shares = [_cpu_share(record, segment) for segment in range(len(record.segments))]
    for curve in record.curves:
        said = {
            "dataset": job.dataset,
            "selector": job.selector,
            "fraction": job.fraction,
            "warm_start": job.warm_start,
            "horizon_exponent": job.settings.protocol.horizon_exponent,
            "seed": job.seed,
            "configuration": curve.index,
        }
        for epoch, values in _evaluations(curve, job.epochs):
            values["cpu_seconds"] = values.pop("seconds") * shares[curve.segment]
            yield {**said, "epoch": epoch, **values}


def _cpu_share(record: Curves, segment: int) -> float:
    """Return CPU seconds for a second inside trainings of a process: others may take the cores."""
    measured = record.segments[segment]
    inside = sum(c.progress.seconds.total for c in record.curves if c.segment == segment)
    return (measured.cpu_seconds or math.nan) / inside if inside else math.nan


def _evaluations(curve: Curve, epochs: Sequence[int]) -> Iterable[tuple[int, dict[str, Any]]]:
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


def curved(table: pd.DataFrame, way: Way, seeds: Sequence[int]) -> Curved | None:
    """Return the curves of one data set's `table` for one way of training.

    None where a configuration of the pool that FULL was trained with is missing.
    """
    full = table[(table[list(Way._fields)] == list(FULL)).all(axis=1)]
    axes = list(seeds), sorted(full["configuration"].unique()), sorted(full["epoch"].unique())
    index = pd.MultiIndex.from_product(axes, names=["seed", "configuration", "epoch"])
    trained = table[(table[list(Way._fields)] == list(way)).all(axis=1)].set_index(index.names)
    if not len(index) or not index.isin(trained.index).all():
        return None
    rows = trained.loc[index]

    def array(column: str) -> Floats:
        return rows[column].to_numpy(dtype=np.float64).reshape([len(axis) for axis in axes])

    return Curved(
        epochs=[int(epoch) for epoch in axes[2]],
        accuracy=array("accuracy"),
        likelihood=np.exp(-array("loss")),
        samples=array("samples"),
        seconds=array("cpu_seconds"),
        test=array("test_accuracy")[:, :, -1],
    )
