"""Recorded learning curves as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.errors import UserError
from automata.simulation.grid import Simulated

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


@dataclass(frozen=True)
class PoolCurves:
    """The curves of p configurations under s seeds at e epochs: arrays (s, p, e)."""

    epochs: list[int]
    accuracy: Floats
    """On the validation rows; 0 after a divergence."""
    likelihood: Floats
    """exp(-log loss), which is higher for a lower loss; 0 after a divergence."""
    costs: Floats
    """The costs up to each epoch: (2, s, p, e), in the order of `COSTS`."""
    test: Floats
    """Test accuracy at the last epoch (s, p); NaN for trainings on subsets."""

    def scores(self, metric: str) -> Floats:
        """Return the scores by which trials are compared."""
        return self.likelihood if metric == "log_loss" else self.accuracy


class Recorded(NamedTuple):
    """The complete curves of a data set: each strategy has the whole pool under all `seeds`."""

    asked: Simulated
    seeds: list[int]
    curves: dict[Strategy, PoolCurves]


def complete(table: pd.DataFrame, asked: Mapping[str, Simulated]) -> dict[str, Recorded]:
    """Return the curves on which searches can be simulated, by data set.

    The seeds are those under which FULL has the whole pool. Raises UserError if no data set has
    one.
    """
    found = {}
    for dataset, searches in asked.items():
        here = table[(table["dataset"] == dataset) & (table["configuration"] < searches.pool)]
        counts = here.groupby([*Strategy._fields, "seed"]).size()
        whole = counts[counts == searches.pool * here["epoch"].nunique()]
        under: dict[Strategy, set[int]] = {}
        for *strategy, seed in whole.index:
            under.setdefault(Strategy(*strategy), set()).add(int(seed))
        if seeds := sorted(under.get(FULL, ())):
            strategies = [it for it, own in under.items() if own.issuperset(seeds)]
            curves = {it: curves_of(here, it, seeds, searches.pool) for it in strategies}
            found[dataset] = Recorded(searches, seeds, curves)
    if not found:
        raise UserError("learning_curves: no data set has all curves of FULL under a seed")
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
        accuracy=array("accuracy"),
        likelihood=np.exp(-array("loss")),
        costs=np.stack([array(column) for column in COSTS]),
        test=array("test_accuracy")[:, :, -1],
    )
