"""Statistics of the tables: summaries, intervals, ranks, hypervolumes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kendalltau, sem, t

from automata.analysis.quantities import QUANTITIES, TIMES
from automata.analysis.tables import joined

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """A column with a mean, followed by its bounds in the columns `_low` and `_high`."""

    sample: Callable[[pd.DataFrame], Values]
    """Returns the values to average from the rows of a group."""
    scale: Callable[[Any], Any] = float
    """Applied to mean and bounds, e.g. np.exp for logarithms."""

    def mean(self, group: pd.DataFrame) -> float:
        """Return the mean of a group of rows."""
        return float(self.scale(mean(self.sample(group))))

    def bounded(self, group: pd.DataFrame) -> tuple[float, float, float]:
        """Return the mean of a group of rows, and its `bounds`."""
        low, high = bounds(self.sample(group))
        return self.mean(group), float(self.scale(low)), float(self.scale(high))


Column = Callable[[pd.DataFrame], Any] | Spread
"""A column of a summary, computed from the rows of each group."""


def summarise(
    table: pd.DataFrame,
    by: Sequence[str],
    columns: Mapping[str, Column],
    records: Sequence[str] = ("record",),
) -> pd.DataFrame:
    """Return a row per group of rows with equal values in the columns `by`.

    The last column, `records`, joins the paths in the columns `records`. The summary of an empty
    table has all columns.
    """
    grouped = table.groupby(list(by))
    groups = [group for _, group in grouped]
    made: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if isinstance(column, Spread):
            bounded = [column.bounded(group) for group in groups]
            for place, end in enumerate(("", "_low", "_high")):
                made[name + end] = [values[place] for values in bounded]
        else:
            made[name] = [column(group) for group in groups]
    made["records"] = [joined(word for name in records for word in group[name]) for group in groups]
    return grouped.size().reset_index()[list(by)].assign(**made)


def spread(quantity: str, unit: str = "record") -> Spread:
    """Return the spread of a quantity over the means of each `unit`; of ratios geometric.

    The arithmetic mean of a ratio and its inverse is above 1: FULL's repeat would look faster.
    """
    if QUANTITIES[quantity].unit != TIMES:
        return Spread(of_units(quantity, unit))

    def logarithms(group: pd.DataFrame) -> Values:
        ratios = group[quantity].astype(float)
        logs = group.assign(**{quantity: np.log(ratios.where(ratios > 0))})
        return of_units(quantity, unit)(logs)

    return Spread(logarithms, np.exp)


def number_of(column: str) -> Callable[[pd.DataFrame], int]:
    """Return a function of rows: the number of known values of `column`."""
    return lambda group: int(group[column].count())


def mean(values: Values) -> float:
    """Return the mean of values (n,); NaN if n is 0."""
    return float(values.mean()) if len(values) else math.nan


def hypervolume(speedups: Values, errors: Values, worst: float) -> float:
    """Return the area that points (n,) dominate up to a speedup of 1 and the error `worst`.

    It is the area of all (x, y) with 1 <= x <= speedup and error <= y <= worst of any point.
    """
    order = np.argsort(speedups)
    # Up to a point's speedup, this point and all faster ones dominate.
    best = np.minimum.accumulate(errors[order][::-1])[::-1]
    widths = np.diff(np.maximum(speedups[order], 1.0), prepend=1.0)
    return float((widths * np.maximum(worst - best, 0.0)).sum())


SEEDS_FOR_INTERVAL = 3
"""With fewer seeds, bounds are the smallest and largest value."""


def interval(seeds: int) -> str:
    """Return the kind of the bounds over a number of seeds."""
    return "95 %" if seeds >= SEEDS_FOR_INTERVAL else "range"


def bounds(values: Values) -> tuple[float, float]:
    """Return the 95 % t interval of the mean, or the range of fewer than 3 values.

    Of 3 to 5 values a bootstrap interval would hold the mean in 74 to 83 % of cases.
    """
    if len(values) == 0:
        return math.nan, math.nan
    if len(values) < SEEDS_FOR_INTERVAL:
        return float(values.min()), float(values.max())
    half = float(t.ppf(0.975, len(values) - 1) * sem(values))
    return mean(values) - half, mean(values) + half


def unit_of(group: pd.DataFrame) -> str:
    """Return the column of the independent units of `group`: dataset or seed.

    From three data sets on, they are the units: they differ more than seeds do, and the seeds of
    one data set are not independent.
    """
    return "dataset" if group["dataset"].nunique() >= 3 else "seed"


def of_units(column: str, unit: str = "") -> Callable[[pd.DataFrame], Values]:
    """Return a function of rows: the mean of `column` in each `unit`, by default of `unit_of`."""

    def means(group: pd.DataFrame) -> Values:
        return group.groupby(unit or unit_of(group))[column].mean().dropna().to_numpy(np.float64)

    return means


UNITS: Mapping[str, Column] = {
    "interval": lambda group: interval(group[unit_of(group)].nunique()),
    "over": lambda group: {"dataset": "data sets", "seed": "seeds"}[unit_of(group)],
    "units": lambda group: group[unit_of(group)].nunique(),
}
"""Columns of a summary: the kind of the bounds, and the name and number of their units."""


FEWEST_PAIRS = 5
"""Minimum number of pairs for tau, which takes only a few values with fewer."""


def tau(scores: Values, others: Values) -> float:
    """Return Kendall's tau-b of two arrays (n,); NaN if n < FEWEST_PAIRS or one is constant."""
    if len(scores) < FEWEST_PAIRS or np.ptp(scores) == 0 or np.ptp(others) == 0:
        return math.nan
    # Nothing reads the p-value; the asymptotic one is fast.
    return float(kendalltau(scores, others, variant="b", method="asymptotic").statistic)
