"""Recorded learning curves as arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.curves import Simulated
from automata.errors import UserError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Way(NamedTuple):
    """How configurations were trained."""

    selector: str
    fraction: float
    warm_start: float = 0.0
    horizon_exponent: float = 0.0


FULL = Way("full", 1.0)

COSTS = ("samples", "cpu_seconds", "joules")
"""What is counted of trainings and searches, up to an evaluation or in all.

CPU seconds and joules are of training, selection and evaluation.
"""


@dataclass(frozen=True)
class Curved:
    """The curves of a pool of p configurations under s seeds, seen at e epochs: (s, p, e)."""

    epochs: list[int]
    accuracy: Floats
    """On the validation rows, 0 from where a training diverged."""
    likelihood: Floats
    """exp(-log loss), which orders trials as the loss does; 0 from there."""
    costs: Floats
    """What was taken by then, warm start included: (3, s, p, e), by `COSTS`."""
    test: Floats
    """Test accuracy at the end (s, p), of trainings on all data; else NaN."""

    def place(self, epoch: int) -> int:
        """Return where `epoch` is among the epochs."""
        return self.epochs.index(epoch)

    def scores(self, metric: str) -> Floats:
        """Return what trials are compared by."""
        return self.likelihood if metric == "log_loss" else self.accuracy


def hyperparameters(table: pd.DataFrame, pool: int) -> list[dict[str, Any]]:
    """Return the configurations of the pool, in their order."""
    texts = table.drop_duplicates("configuration").set_index("configuration")["hyperparameters"]
    return [json.loads(texts[index]) for index in range(pool)]


def ways_in(table: pd.DataFrame) -> list[Way]:
    """Return the ways of training that a table of curves has, in order."""
    rows = table[list(Way._fields)].drop_duplicates().sort_values(list(Way._fields))
    return [Way(*row) for row in rows.itertuples(index=False)]


def curved(table: pd.DataFrame, way: Way, seeds: Sequence[int], pool: int) -> Curved | None:
    """Return the curves of one data set's `table` for one way of training.

    None where a training of the `pool` under one of the `seeds` is missing.
    """
    some = table[(table[list(Way._fields)] == list(way)).all(axis=1) & table["seed"].isin(seeds)]
    axes = list(seeds), range(pool), sorted(table["epoch"].unique())
    index = pd.MultiIndex.from_product(axes, names=["seed", "configuration", "epoch"])
    trained = some.set_index(index.names)
    if not index.isin(trained.index).all():
        return None
    rows = trained.loc[index]

    def array(column: str) -> Floats:
        return rows[column].to_numpy(dtype=np.float64).reshape([len(axis) for axis in axes])

    return Curved(
        epochs=[int(epoch) for epoch in axes[2]],
        accuracy=array("accuracy"),
        likelihood=np.exp(-array("loss")),
        costs=np.stack([array(column) for column in COSTS]),
        test=array("test_accuracy")[:, :, -1],
    )


class Complete(NamedTuple):
    """The curves of one data set, and the seeds under which most of them are complete."""

    asked: Simulated
    table: pd.DataFrame
    seeds: list[int]

    def curved(self, way: Way) -> Curved | None:
        """Return the curves of a way of training; None if one of the pool is missing."""
        return curved(self.table, way, self.seeds, self.asked.pool)


def complete(table: pd.DataFrame, asked: Mapping[str, Simulated]) -> dict[str, Complete]:
    """Return by data set the curves that searches can be simulated on.

    Those seeds count under which FULL and the most other ways of training have the whole pool.
    Raises UserError where FULL has it nowhere.
    """
    found = {}
    for dataset, searches in asked.items():
        here = table[table["dataset"] == dataset]
        ways = ways_in(here)
        counts: dict[int, int] = {}
        for seed in sorted(map(int, here["seed"].unique())):
            whole = [way for way in ways if curved(here, way, [seed], searches.pool) is not None]
            if FULL in whole:
                counts[seed] = len(whole)
        seeds = [seed for seed, count in counts.items() if count == max(counts.values())]
        if seeds:
            found[dataset] = Complete(searches, here, seeds)
    if not found:
        raise UserError("learning_curves: no data set has all curves of FULL under a seed")
    return found
