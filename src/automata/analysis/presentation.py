"""The tradeoff table as people read it: fewer columns, intervals beside the means."""

from __future__ import annotations

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


def presented(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `tradeoff` with the combination, its seeds and the quantities SHOWN.

    A mean over several seeds is followed by the bounds of its spread, where it has one.
    """
    table = tradeoff[[*COMBINATION, "seeds"]].copy()
    for column, name in SHOWN.items():
        bounds = [f"{column}_low", f"{column}_high"]
        spread = tradeoff[bounds] if bounds[0] in tradeoff else None
        table[name] = [
            _cell(mean, spread.loc[index].to_list() if spread is not None else [], seeds)
            for index, mean, seeds in zip(
                tradeoff.index, tradeoff[column], tradeoff[seeds_column(column)], strict=True
            )
        ]
    return table


def _cell(mean: float, bounds: list[float], seeds: int) -> str:
    if pd.isna(mean):
        return ""
    if not bounds or seeds == 1:
        return three_digits(mean)
    low, high = (three_digits(bound) for bound in bounds)
    return f"{three_digits(mean)} ({low} to {high})"
