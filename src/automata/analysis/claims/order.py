"""Claims that smaller subsets save more."""

from __future__ import annotations

from typing import Annotated

import pandas as pd

from automata.analysis.claims.cells import of_panel, tradeoff_of, why_missing
from automata.analysis.claims.claim import GridClaim, SelectorName, Share
from automata.analysis.claims.finding import (
    FEW_SEEDS,
    FIRM,
    FRACTIONS_MISSING,
    OPEN,
    Finding,
    Outcome,
    not_run,
    of_share,
    records_of,
    verdict,
)
from automata.analysis.claims.reach import Quantity
from automata.analysis.claims.words import but_estimates, panel_name
from automata.analysis.quantities import words
from automata.analysis.statistics import SEEDS_FOR_INTERVAL
from automata.analysis.study import Study
from automata.analysis.tradeoff import seeds_column
from automata.analysis.wording import percent
from automata.config.base import axis


class OrderClaim(GridClaim):
    """The smaller the subset, the larger the ratio.

    A panel passes if, for each of `selectors` in it, the means over seeds fall strictly from
    each fraction to the next larger one; at least `share` of the panels that have two fractions
    or more must pass. It is firm where neighbouring intervals do not overlap, and against the
    claim where two fractions are in the wrong order and theirs do not overlap.
    """

    selectors: Annotated[list[SelectorName], axis()]
    quantity: Quantity = "speedup"
    share: Share = 1.0

    @property
    def rule(self) -> str:
        """Say what must fall, and in how many panels."""
        many = "all panels" if self.share == 1 else f"at least {percent(self.share)} of the panels"
        return (
            f"in {many} the {words(self.quantity)} falls from each fraction to the next larger one"
            f"{but_estimates(self.quantity)}"
        )

    def check(self, tables: Study) -> Finding:
        """Return in which share of the panels smaller subsets have larger ratios."""
        table = tradeoff_of(tables, self.quantity)
        outcomes, used, wrong = {}, [], []
        for panel in self.grid.panels:
            lines = []
            for selector in self.selectors:
                rows = of_panel(table, panel, [selector], self.grid.fractions)
                rows = rows.sort_values("fraction")
                if len(rows) > 1:
                    lines.append(_line(rows, self))
                    used.append(rows["records"])
            if lines:
                outcomes[panel] = _all(lines)
                if not outcomes[panel].passes:
                    wrong.append(panel_name(panel))
        of = len(self.grid.panels)
        if not outcomes:
            why = f"no panel has the {words(self.quantity)} at two fractions"
            return not_run(why_missing(tables, self.grid, self.selectors, self.quantity, why), of)
        whole = of_share(outcomes, of, self.share)
        ours = f"in order in {len(outcomes) - len(wrong)} of {len(outcomes)} panels"
        if wrong:
            more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            ours += f"; not in {', '.join(wrong[:3])}{more}"
        return Finding(
            verdict(whole.passes), ours, whole.firm, tuple(outcomes), of, records_of(used)
        )


def _line(rows: pd.DataFrame, claim: OrderClaim) -> Outcome:
    """Return the outcome of one selector; `rows` are its fractions from small to large."""
    value = rows[claim.quantity].to_list()
    low = rows[f"{claim.quantity}_low"].to_list()
    high = rows[f"{claim.quantity}_high"].to_list()
    pairs = list(zip(range(len(rows)), range(1, len(rows)), strict=False))
    passes = all(value[small] > value[large] for small, large in pairs)
    if (rows[seeds_column(claim.quantity)] < SEEDS_FOR_INTERVAL).any():
        return Outcome(passes, FEW_SEEDS)
    if not passes:
        sure = any(high[i] < low[j] for i in range(len(rows)) for j in range(i + 1, len(rows)))
        return Outcome(False, FIRM if sure else OPEN)
    if set(claim.grid.fractions) - set(rows["fraction"]):
        return Outcome(True, FRACTIONS_MISSING)
    return Outcome(True, FIRM if all(low[i] > high[j] for i, j in pairs) else OPEN)


def _all(lines: list[Outcome]) -> Outcome:
    """Return the outcome of a panel: all selectors must be in order, one out of it decides."""
    passes = all(line.passes for line in lines)
    firm = [line.firm for line in lines if line.passes == passes]
    if (FIRM in firm) if not passes else all(word == FIRM for word in firm):
        return Outcome(passes, FIRM)
    return Outcome(passes, next(w for w in (FEW_SEEDS, FRACTIONS_MISSING, OPEN) if w in firm))
