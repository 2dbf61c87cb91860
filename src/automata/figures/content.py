"""Which rows of an experiment's tables a panel of a trade-off shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from automata.analysis.quantities import Quantity
from automata.analysis.statistics import interval
from automata.analysis.study import Panel, Study, compared
from automata.analysis.tradeoff import seeds_column


@dataclass(frozen=True)
class Content:
    """What a panel shows of one ratio."""

    panel: Panel
    ratio: Quantity

    runs: pd.DataFrame
    """Rows of the ratios, refused ones too."""

    means: pd.DataFrame
    """Rows of the tradeoff table that have the ratio."""

    untuned: pd.DataFrame
    """The row of the untuned table, or none."""

    @cached_property
    def accepted(self) -> pd.DataFrame:
        """The runs that compare with their FULL."""
        return compared(self.runs)

    @cached_property
    def compared(self) -> pd.DataFrame:
        """Those of them that have the ratio."""
        return self.accepted[self.accepted[self.ratio.name].notna()]

    @property
    def absence(self) -> str | None:
        """Why there is nothing to draw; None if there is."""
        if len(self.means):
            return None
        if self.runs.empty:
            return "not run"
        return "no comparable run" if self.accepted.empty else "no energy ratio"


def content(
    study: Study, panel: Panel, ratio: Quantity, selectors: Collection[str] | None = None
) -> Content:
    """Return what `panel` shows of `ratio`: of all selectors, or of some without `untuned`."""
    runs, means = panel.rows(study.ratios), panel.rows(study.tradeoff)
    untuned = panel.rows(study.untuned)
    if selectors is not None:
        runs = runs[runs["selector"].isin(selectors)]
        means = means[means["selector"].isin(selectors)]
        untuned = untuned.iloc[:0]
    means = means[means[ratio.name].notna()]
    of_ratio = means[seeds_column(ratio.name)].astype(int)  # of which not all may have an energy
    means = means.assign(seeds=of_ratio, interval=of_ratio.map(interval))
    return Content(panel, ratio, runs, means, untuned)
