"""The tradeoff table as people read it: fewer columns, intervals beside the means."""

from __future__ import annotations

from math import nan

import pandas as pd

from automata.analysis.tables import three_digits
from automata.analysis.tradeoff import COMBINATION, seeds_column

SHOWN = {
    "speedup": "speedup",
    "ceiling": "ceiling",
    "relative_test_error": "error (pp)",
    "energy_ratio": "energy ratio",
    "test_accuracy": "test accuracy",
}
"""Quantities, and what the table calls them."""

ROUNDING = 9
"""Decimals below which a difference is an error of rounding: it reads as 0."""


def presented(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `tradeoff` with the combination, its seeds and the quantities SHOWN.

    A mean over several seeds is followed by the bounds of its spread, where it has one.
    """
    table = tradeoff[[*COMBINATION, "seeds"]].copy()
    for column, name in SHOWN.items():
        bounds = [f"{column}_low", f"{column}_high"]
        lows, highs = (tradeoff.get(bound, [nan] * len(tradeoff)) for bound in bounds)
        seeds = tradeoff[seeds_column(column)]
        table[name] = [cell(*row) for row in zip(tradeoff[column], lows, highs, seeds, strict=True)]
    return table


def cell(mean: float, low: float, high: float, seeds: int) -> str:
    """Return a mean over `seeds`, and its bounds if they are known and those of several."""
    if pd.isna(mean):
        return ""
    shown = [three_digits(round(value, ROUNDING) + 0.0) for value in (mean, low, high)]
    return shown[0] if seeds == 1 or pd.isna(low) else "{} ({} to {})".format(*shown)
