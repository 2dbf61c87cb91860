"""Recorded learning curves as arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.errors import UserError
from automata.simulation.asked import Simulated

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
SAVED = ("speedup_samples", "speedup_cpu", "energy_ratio")
"""FULL's costs over a method's, by `COSTS`."""


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

    def scores(self, metric: str) -> Floats:
        """Return what trials are compared by."""
        return self.likelihood if metric == "log_loss" else self.accuracy


def hyperparameters(table: pd.DataFrame, pool: int) -> list[dict[str, Any]]:
    """Return the configurations of the pool, in their order."""
    texts = table.drop_duplicates("configuration").set_index("configuration")["hyperparameters"]
    return [json.loads(texts[index]) for index in range(pool)]


def pools(recorded: Mapping[str, Complete]) -> pd.DataFrame:
    """Return a row per data set and configuration, with its hyper-parameters in JSON."""
    return pd.DataFrame(
        {"dataset": dataset, "configuration": place, "hyperparameters": json.dumps(one)}
        for dataset, here in recorded.items()
        for place, one in enumerate(hyperparameters(here.table, here.asked.pool))
    )


def curved(table: pd.DataFrame, way: Way, seeds: Sequence[int], pool: int) -> Curved:
    """Return the curves of one data set's `table` for one way of training, which is complete."""
    some = table[(table[list(Way._fields)] == list(way)).all(axis=1)]
    axes = list(seeds), range(pool), sorted(table["epoch"].unique())
    index = pd.MultiIndex.from_product(axes, names=["seed", "configuration", "epoch"])
    rows = some.set_index(index.names).loc[index]

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
    """The curves of one data set that are complete: of each way the whole pool, under all seeds."""

    asked: Simulated
    table: pd.DataFrame
    seeds: list[int]
    curves: dict[Way, Curved]


def complete(table: pd.DataFrame, asked: Mapping[str, Simulated]) -> dict[str, Complete]:
    """Return by data set the curves that searches can be simulated on, FULL's among them.

    Seeds and ways are those that give the most trainings: a further seed counts if more is won by
    it than lost with the ways that lack it. Raises UserError where FULL has no whole pool.
    """
    found = {}
    for dataset, searches in asked.items():
        here = table[table["dataset"] == dataset]
        whole = _whole(here, searches.pool)
        choices = [
            (seeds, [way for way, under in whole.items() if seeds <= under])
            for count in range(1, len(whole.get(FULL, ())) + 1)
            for seeds in map(frozenset, combinations(sorted(whole[FULL]), count))
        ]
        if choices:
            seeds, ways = max(choices, key=lambda choice: len(choice[0]) * len(choice[1]))
            curves = {way: curved(here, way, sorted(seeds), searches.pool) for way in ways}
            found[dataset] = Complete(searches, here, sorted(seeds), curves)
    if not found:
        raise UserError("learning_curves: no data set has all curves of FULL under a seed")
    return found


def _whole(table: pd.DataFrame, pool: int) -> dict[Way, set[int]]:
    """Return the seeds under which a way of training has all evaluations of the pool."""
    evaluations = pool * table["epoch"].nunique()
    some = table[table["configuration"] < pool]
    counts = some.groupby([*Way._fields, "seed"], as_index=False).size()
    found: dict[Way, set[int]] = {}
    for *way, seed, count in counts.itertuples(index=False):
        if count == evaluations:
            found.setdefault(Way(*way), set()).add(int(seed))
    return found
