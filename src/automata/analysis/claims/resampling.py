"""Intervals of means over runs that are not independent of each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.analysis.resampling import spread_over
from automata.analysis.runs import PANEL
from automata.analysis.tradeoff import SEEDS_FOR_INTERVAL

RESAMPLES = 10_000


def interval_of(values: NDArray[np.float64], rows: pd.DataFrame) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of the mean of `values`, one for each row of `rows`.

    Whole data sets are drawn where there are three or more, seeds otherwise (`spread_over`). None
    where a panel has too few seeds for that.
    """
    unit, _ = spread_over(rows)
    few = rows.groupby(PANEL)["seed"].nunique().min() < SEEDS_FOR_INTERVAL
    return None if unit == "seed" and few else clustered_bounds(values, list(rows[unit]))


def clustered_bounds(
    values: NDArray[np.float64], clusters: Sequence[Hashable]
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of n values in clusters.

    Whole clusters are drawn, with all their values: runs of one cluster share what makes them
    alike.
    """
    groups = pd.Series(values).groupby(pd.Series(list(clusters)))
    sums, counts = groups.sum().to_numpy(), groups.size().to_numpy()
    draws = np.random.default_rng(0).integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)
