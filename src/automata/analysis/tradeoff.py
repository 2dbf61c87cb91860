"""The tradeoff table: one row per combination, over its seeds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.analysis.quantities import QUANTITIES
from automata.analysis.statistics import bounds_of_each, interval, on_front
from automata.analysis.study import COMBINATION, PANEL
from automata.analysis.tables import joined
from automata.analysis.wording import cell

SPREAD = [name for name, quantity in QUANTITIES.items() if quantity.spread]

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
    return "energy_seeds" if QUANTITIES[quantity].of_energy else "seeds"


SHOWN = ["speedup", "ceiling", "relative_test_error", "energy_ratio", "test_accuracy"]
"""Quantities of the table for people."""


def presented(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `tradeoff` with the combination, its seeds and the quantities SHOWN.

    A mean over several seeds is followed by the bounds of its spread, where it has one.
    """
    table = tradeoff[[*COMBINATION, "seeds"]].copy()
    for column in SHOWN:
        bounds = [f"{column}_low", f"{column}_high"]
        lows, highs = (tradeoff.get(bound, [np.nan] * len(tradeoff)) for bound in bounds)
        seeds = tradeoff[seeds_column(column)]
        table[QUANTITIES[column].heading] = [
            cell(*row) for row in zip(tradeoff[column], lows, highs, seeds, strict=True)
        ]
    return table
