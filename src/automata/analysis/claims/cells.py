"""Rows of the tables, by panel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from automata.analysis.claims.claim import Grid
from automata.analysis.energy import follows_time
from automata.analysis.quantities import quantity as quantity_of
from automata.analysis.statistics import bounds
from automata.analysis.study import COMBINATION, Panel, Study, compared


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


def evidence(ratios: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Return the compared rows, for energy those alone that do not follow time by construction.

    Every kind of claim looks at energies through this or `tradeoff_of`.
    """
    rows = compared(ratios)
    return rows[~_estimated(rows)] if quantity_of(quantity).of_energy else rows


def tradeoff_of(tables: Study, quantity: str) -> pd.DataFrame:
    """Return the rows of the tradeoff table that have `quantity`, over seeds that are evidence.

    Where only some seeds of a row had their energy estimated from CPU time, mean, bounds and
    number of `quantity` are those of the others.
    """
    table = tables.tradeoff
    if quantity_of(quantity).of_energy:
        rows = compared(tables.ratios)
        rows = rows[rows[quantity].notna()]
        mixed = set(rows.loc[_estimated(rows), COMBINATION].itertuples(index=False, name=None))
        measured = {
            combination: group[quantity].to_numpy(dtype=np.float64)
            for combination, group in evidence(rows, quantity).groupby(COMBINATION)
            if combination in mixed
        }
        columns = [quantity, f"{quantity}_low", f"{quantity}_high", "energy_seeds"]
        table = table.copy()
        for index, combination in zip(
            table.index, table[COMBINATION].itertuples(index=False, name=None), strict=True
        ):
            if combination in mixed:
                values = measured.get(combination, np.array([]))
                mean = values.mean() if len(values) else np.nan
                table.loc[index, columns] = [mean, *bounds(values), len(values)]
    return table[table[quantity].notna()]


def why_missing(
    tables: Study, grid: Grid, selectors: Sequence[str], quantity: str, otherwise: str
) -> str:
    """Return why no panel of `grid` has `quantity`: its energies follow time, or `otherwise`."""
    rows = of_grid(compared(tables.ratios), grid)
    rows = rows[rows["selector"].isin(selectors) & rows["fraction"].isin(grid.fractions)]
    if quantity_of(quantity).of_energy and _estimated(rows[rows[quantity].notna()]).any():
        return "energy was estimated from CPU time in these panels"
    return otherwise


def _estimated(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows have an energy that was estimated from CPU time alone."""
    known = rows[["energy_method", "energy_source"]].astype(object)
    pairs = known.where(known.notna(), None).itertuples(index=False, name=None)
    return pd.Series([follows_time(*pair) for pair in pairs], index=rows.index, dtype=bool)
