"""Which rows of an experiment's tables a panel shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from automata.analysis.experiment import Tables
from automata.analysis.runs import PANEL
from automata.figures.ratio import Ratio


@dataclass(frozen=True)
class Panel:
    """A data set, a search and a scheduler: one scatter of the paper."""

    dataset: str
    search: str
    scheduler: str

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `table` that belong to the panel."""
        return table[
            (table["dataset"] == self.dataset)
            & (table["search"] == self.search)
            & (table["scheduler"] == self.scheduler)
        ]


def panels_of(table: pd.DataFrame) -> list[Panel]:
    """Return the panels that `table` has rows of, in the order of their first rows."""
    columns = (table[name] for name in PANEL)
    return [Panel(*panel) for panel in dict.fromkeys(zip(*columns, strict=True))]


@dataclass(frozen=True)
class Content:
    """What a panel shows of one ratio."""

    panel: Panel
    ratio: Ratio

    runs: pd.DataFrame
    """Rows of the ratios, refused ones too."""

    means: pd.DataFrame
    """Rows of the tradeoff table that have the ratio."""

    untuned: pd.DataFrame
    """The row of the untuned table, or none."""

    @cached_property
    def accepted(self) -> pd.DataFrame:
        """The runs that compare with their FULL."""
        return self.runs[self.runs["refused"].isna()]

    @cached_property
    def compared(self) -> pd.DataFrame:
        """Those of them that have the ratio."""
        accepted = self.accepted
        return accepted[accepted[self.ratio.column].notna()]

    @property
    def absence(self) -> str | None:
        """Why there is nothing to draw; None if there is."""
        if len(self.means):
            return None
        if self.runs.empty:
            return "not run"
        return "no comparable run" if self.accepted.empty else "no energy ratio"


def content(
    tables: Tables, panel: Panel, ratio: Ratio, selectors: Collection[str] | None = None
) -> Content:
    """Return what `panel` shows of `ratio`: of all selectors, or of some without `untuned`."""
    runs, means = panel.rows(tables.ratios), panel.rows(tables.tradeoff)
    untuned = panel.rows(tables.untuned)
    if selectors is not None:
        runs = runs[runs["selector"].isin(selectors)]
        means = means[means["selector"].isin(selectors)]
        untuned = untuned.iloc[:0]
    return Content(panel, ratio, runs, means[means[ratio.column].notna()], untuned)
