"""Claims that speedups grow with the data set."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field
from scipy.stats import rankdata

from automata.analysis.claims.cells import of_grid
from automata.analysis.claims.claim import GridClaim
from automata.analysis.claims.finding import (
    FIRM,
    PANELS_MISSING,
    Finding,
    by_interval,
    not_run,
    records_of,
    verdict,
)
from automata.analysis.statistics import bootstrap_bounds
from automata.analysis.study import Study
from automata.analysis.study import panels as panels_in
from automata.names import AUTOMATA

LEAST = 5
"""Data sets, below which a rank correlation says nothing."""


class TrendClaim(GridClaim):
    """The larger the training set, the larger AUTOMATA's speedup.

    Spearman's rank correlation, over data sets, of the rows of the training set and the mean
    speedup over the combinations of search, scheduler and fraction that all data sets have, must
    be above `more_than`. With fewer than 5 data sets the claim is not run. The interval is a
    bootstrap over data sets.
    """

    more_than: Annotated[float, Field(ge=-1, le=1, description="A correlation")]

    @property
    def rule(self) -> str:
        """Say what must correlate."""
        return (
            f"over at least {LEAST} data sets, the rank correlation of training rows and "
            f"AUTOMATA's mean speedup is above {self.more_than:g}"
        )

    def check(self, tables: Study) -> Finding:
        """Return the rank correlation of size and speedup."""
        rows = of_grid(tables.tradeoff, self.grid)
        rows = rows[(rows["selector"] == AUTOMATA) & rows["fraction"].isin(self.grid.fractions)]
        of, sets = len(self.grid.panels), rows["dataset"].nunique()
        if sets < LEAST:
            return not_run(f"{sets} of the {LEAST} data sets that a correlation needs", of)
        shared = rows.groupby(["search", "scheduler", "fraction"])["dataset"].transform("nunique")
        rows = rows[shared == sets]
        if not len(rows):
            return not_run("no search, scheduler and fraction that all data sets have", of)
        runs = tables.runs[tables.runs["selector"] == AUTOMATA]
        sizes = runs.groupby("dataset")["train_rows"].median()
        speedups = rows.groupby("dataset")["speedup"].mean()
        table = pd.DataFrame({"rows": sizes, "speedup": speedups}).dropna()
        rank = float(_correlations(table, np.arange(len(table))[None])[0])
        bounds = bootstrap_bounds(lambda draws: _correlations(table, draws), len(table))
        low, high = map(float, bounds)
        outcome = by_interval(rank, low, high, self.more_than, above=True)
        panels = tuple(panels_in(rows))
        missing = outcome.firm == FIRM and len(panels) < of
        return Finding(
            verdict(outcome.passes),
            f"rank correlation {rank:.2f} ({low:.2f} to {high:.2f}) over {sets} data sets",
            PANELS_MISSING if missing else outcome.firm,
            panels,
            of,
            records_of([rows["records"]]),
        )


def _correlations(table: pd.DataFrame, draws: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return Spearman's correlation per row of `draws`; 0 where one of the columns is constant."""
    ranks = (rankdata(table[name].to_numpy()[draws], axis=-1) for name in ("rows", "speedup"))
    rows, speedups = (rank - rank.mean(axis=-1, keepdims=True) for rank in ranks)
    scale = np.sqrt((rows**2).sum(axis=-1) * (speedups**2).sum(axis=-1))
    products = (rows * speedups).sum(axis=-1)
    ranked: NDArray[np.float64] = np.zeros_like(scale)
    np.divide(products, scale, out=ranked, where=scale > 0)
    return ranked
