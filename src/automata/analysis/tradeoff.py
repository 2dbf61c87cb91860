"""The tradeoff table: one row per combination, over its seeds."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import bootstrap

from automata.analysis.lineage import joined
from automata.analysis.pareto import on_front
from automata.analysis.runs import PANEL

COMBINATION = [*PANEL, "selector", "fraction"]

QUANTITIES = [
    "speedup",
    "ceiling",
    "efficiency",
    "step_ceiling",
    "relative_test_error",
    "relative_error_ratio",
    "test_accuracy",
    "energy_ratio",
    "co2_measured_ratio",
    "co2_time_ratio",
    "total_seconds",
]

SPREAD = [
    "speedup",
    "relative_test_error",
    "energy_ratio",
    "co2_measured_ratio",
    "co2_time_ratio",
]
"""Quantities that also get the bounds of their spread."""

COLUMNS = [
    *COMBINATION,
    "seeds",
    "energy_seeds",
    *(
        column
        for quantity in QUANTITIES
        for column in [quantity, *([f"{quantity}_low", f"{quantity}_high"] * (quantity in SPREAD))]
    ),
    "interval",
    "other_cpu_share",
    "energy_method",
    "other_code",
    "on_front",
    "records",
]

OF_ENERGY = ("energy_ratio", "co2_measured_ratio")
"""Quantities that rest on energy, which not every seed need have."""

SEEDS_FOR_INTERVAL = 3
"""With fewer seeds there is no interval: the bounds are the smallest and largest value."""


def tradeoff(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return means over seeds per combination, with `_low` and `_high` of those in SPREAD.

    `interval` says what the bounds are: a 95 % bootstrap interval of the mean, or the range;
    those of energy are of the `energy_seeds` that have a ratio of energies.
    Refused runs are left out; `other_cpu_share` is the largest of the runs; `records` are those
    that a row comes from, FULL's included. `on_front`: no other row of its data set, search and
    scheduler is at least as fast and at most as bad, and better in one.
    """
    rows = []
    compared = ratios[ratios["refused"].isna()]
    for combination, group in compared.groupby(COMBINATION, sort=True):
        row: dict[str, object] = dict(zip(COMBINATION, combination, strict=True))
        row["seeds"] = len(group)
        row["energy_seeds"] = int(group["energy_ratio"].notna().sum())
        for quantity in QUANTITIES:
            values = group[quantity].dropna().to_numpy(dtype=np.float64)
            row[quantity] = values.mean() if len(values) else np.nan
            if quantity in SPREAD:
                row[f"{quantity}_low"], row[f"{quantity}_high"] = bounds(values)
        row["interval"] = interval(len(group))
        row["other_cpu_share"] = group["other_cpu_share"].max()
        row["energy_method"] = ", ".join(sorted(set(group["energy_method"].dropna())))
        row["other_code"] = joined(group["other_code"])
        row["records"] = joined([*group["record"], *group["full_record"]])
        rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["on_front"] = _on_front(table)
    return table


def _on_front(table: pd.DataFrame) -> pd.Series:
    """Return which rows no other of their panel beats; FULL's repeat is no method."""
    front = pd.Series(False, index=table.index)
    for _, panel in table[table["selector"] != "full-again"].groupby(PANEL):
        speedups, errors = panel["speedup"].to_numpy(), panel["relative_test_error"].to_numpy()
        front[panel.index] = on_front(speedups, errors)
    return front


def seeds_column(quantity: str) -> str:
    """Return the column that says over how many seeds `quantity` is: not all may have energy."""
    return "energy_seeds" if quantity in OF_ENERGY else "seeds"


def interval(seeds: int) -> str:
    """Return what bounds over that many seeds are."""
    return "95 %" if seeds >= SEEDS_FOR_INTERVAL else "range"


def bounds(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean, or the range of fewer than 3 values."""
    if len(values) == 0:
        return np.nan, np.nan
    if len(values) < SEEDS_FOR_INTERVAL:
        return float(values.min()), float(values.max())
    if np.ptp(values) == 0:
        return float(values.mean()), float(values.mean())
    interval = bootstrap(
        (values,), np.mean, confidence_level=0.95, method="percentile", rng=0
    ).confidence_interval
    mean = float(values.mean())  # rounding must not put it outside of its own interval
    return min(float(interval.low), mean), max(float(interval.high), mean)
