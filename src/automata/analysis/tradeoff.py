"""The tradeoff table: one row per combination, over its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

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
    "final_ceiling",
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

_TOGETHER = 50
"""Samples whose resamples lie in memory at once."""

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
    rows: list[dict[str, object]] = []
    samples: list[NDArray[np.float64]] = []
    compared = ratios[ratios["refused"].isna()]
    for combination, group in compared.groupby(COMBINATION, sort=True):
        row: dict[str, object] = dict(zip(COMBINATION, combination, strict=True))
        row["seeds"] = len(group)
        row["energy_seeds"] = int(group["energy_ratio"].notna().sum())
        values = {name: group[name].dropna().to_numpy(dtype=np.float64) for name in QUANTITIES}
        row |= {name: known.mean() if len(known) else np.nan for name, known in values.items()}
        samples += [values[name] for name in SPREAD]
        row["interval"] = interval(len(group))
        row["other_cpu_share"] = group["other_cpu_share"].max()
        row["energy_method"] = ", ".join(sorted(set(group["energy_method"].dropna())))
        row["other_code"] = joined(group["other_code"])
        row["records"] = joined([*group["record"], *group["full_record"]])
        rows.append(row)
    places = product(rows, SPREAD)
    for (row, quantity), (low, high) in zip(places, bounds_of_each(samples), strict=True):
        row |= {f"{quantity}_low": low, f"{quantity}_high": high}
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
    return bounds_of_each([values])[0]


def bounds_of_each(samples: Sequence[NDArray[np.float64]]) -> list[tuple[float, float]]:
    """Return the bounds of each sample; those of one size share their resamples, and the cost."""
    found = [(np.nan, np.nan)] * len(samples)
    for size in {len(values) for values in samples} - {0}:
        alike = [place for place, values in enumerate(samples) if len(values) == size]
        for start in range(0, len(alike), _TOGETHER):
            places = alike[start : start + _TOGETHER]
            stacked = np.stack([samples[place] for place in places])
            for place, low, high in zip(places, *_bounds(stacked), strict=True):
                found[place] = float(low), float(high)
    return found


def _bounds(samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of each row of `samples` (samples, values)."""
    if samples.shape[1] < SEEDS_FOR_INTERVAL:
        return samples.min(axis=1), samples.max(axis=1)
    means = samples.mean(axis=1)  # rounding must not put one outside of its own interval
    interval = bootstrap(
        (samples,), np.mean, axis=1, confidence_level=0.95, method="percentile", rng=0
    ).confidence_interval
    constant = np.ptp(samples, axis=1) == 0
    low = np.where(constant, means, np.minimum(interval.low, means))
    return low, np.where(constant, means, np.maximum(interval.high, means))
