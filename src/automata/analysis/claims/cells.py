"""Rows of the tables, by panel."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from automata.analysis.claims.claim import Grid
from automata.analysis.differences import Panel
from automata.analysis.untuned import PANEL


def of_panel(
    table: pd.DataFrame, panel: Panel, selectors: Sequence[str], fractions: Sequence[float]
) -> pd.DataFrame:
    """Return the rows of one panel, of `selectors` and `fractions`."""
    dataset, search, scheduler = panel
    return table[
        (table["dataset"] == dataset)
        & (table["search"] == search)
        & (table["scheduler"] == scheduler)
        & table["selector"].isin(selectors)
        & table["fraction"].isin(fractions)
    ]


def of_grid(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """Return the rows in the panels of `grid`, of all selectors and fractions."""
    return table[
        table["dataset"].isin(grid.datasets)
        & table["search"].isin(grid.searches)
        & table["scheduler"].isin(grid.schedulers)
    ]


def compared(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table of ratios that compare with their FULL."""
    return ratios[ratios["refused"].isna()]


def panels_in(table: pd.DataFrame) -> tuple[Panel, ...]:
    """Return the panels that have rows in `table`."""
    return tuple(sorted(set(table[PANEL].itertuples(index=False, name=None))))
