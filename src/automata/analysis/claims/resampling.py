"""Intervals of means over runs that are not independent of each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

RESAMPLES = 10_000


def clustered_bounds(
    values: NDArray[np.float64], clusters: Sequence[Hashable]
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean of n values in clusters.

    Whole clusters are drawn, with all their values: runs of one cluster share what makes them
    alike. Two clusters give no more than the range of their means.
    """
    groups = pd.Series(values).groupby(pd.Series(list(clusters)))
    sums, counts = groups.sum().to_numpy(), groups.size().to_numpy()
    draws = np.random.default_rng(0).integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def clusters_of(table: pd.DataFrame) -> list[Hashable]:
    """Return the cluster of each row: its data set, or its seed where there is only one."""
    column = "dataset" if table["dataset"].nunique() > 1 else "seed"
    return list(table[column])
