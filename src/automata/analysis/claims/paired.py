"""Claims that one selector is better than another, run for run."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import pandas as pd
from pydantic import model_validator

from automata.analysis.claims.cells import evidence, of_grid, why_missing
from automata.analysis.claims.claim import GridClaim, SelectorName
from automata.analysis.claims.finding import (
    FEW_SEEDS,
    FIRM,
    FRACTIONS_MISSING,
    PANELS_MISSING,
    Finding,
    by_interval,
    not_run,
    records_of,
    verdict,
)
from automata.analysis.claims.reach import Quantity
from automata.analysis.claims.words import but_estimates
from automata.analysis.quantities import words
from automata.analysis.statistics import interval_of
from automata.analysis.study import PANEL, RUN, Study
from automata.analysis.study import panels as panels_in
from automata.analysis.wording import percent, signed
from automata.names import AUTOMATA, CONTROLS

ACCURACIES = ("test_accuracy", "best_validation_accuracy")
"""Differences of these are in percentage points."""


class PairedClaim(GridClaim):
    """AUTOMATA's runs differ from another selector's in one direction, on average.

    Runs are paired by data set, search, scheduler, fraction and seed (with FULL, which has no
    fraction, by the others). The mean over all pairs of AUTOMATA's value less the other's must be
    above `more_than` or below `less_than`, whichever is given, in percentage points where the
    quantity is an accuracy. The interval is that of
    `automata.analysis.claims.resampling.interval_of`.
    """

    against: SelectorName
    quantity: Literal[Quantity, "test_accuracy", "best_validation_accuracy"]
    more_than: float | None = None
    less_than: float | None = None

    @model_validator(mode="after")
    def _one_bar(self) -> Self:
        if (self.more_than is None) == (self.less_than is None):
            raise ValueError("needs either more_than or less_than")
        return self

    @property
    def rule(self) -> str:
        """Say what the mean difference must be."""
        above = self.more_than is not None
        bar = self.more_than if above else self.less_than
        sizes = ", ".join(percent(fraction) for fraction in self.grid.fractions)
        return (
            f"on average over pairs of runs, AUTOMATA's {words(self.quantity)} less that of "
            f"{self.against.upper()} is {'above' if above else 'below'} {bar:g}{self._unit} "
            f"(subsets of {sizes}){but_estimates(self.quantity)}"
        )

    @property
    def _unit(self) -> str:
        return " percentage points" if self.quantity in ACCURACIES else ""

    def check(self, tables: Study) -> Finding:
        """Return the mean difference of the pairs."""
        pairs = _pairs(self, tables)
        of = len(self.grid.panels)
        if not len(pairs):
            why = f"no pair of AUTOMATA and {self.against} in these panels"
            both = [AUTOMATA, self.against]
            return not_run(why_missing(tables, self.grid, both, self.quantity, why), of)
        values = pairs["difference"].to_numpy(dtype=np.float64)
        mean = float(values.mean())
        interval = interval_of(values, pairs)
        low, high = interval or (mean, mean)
        above = self.more_than is not None
        bar = self.more_than if self.more_than is not None else self.less_than
        outcome = by_interval(mean, low, high, bar or 0.0, above)
        panels = tuple(panels_in(pairs))
        firm = outcome.firm if interval else FEW_SEEDS
        if firm == FIRM and set(self.grid.fractions) - set(pairs["fraction"]):
            firm = FRACTIONS_MISSING
        if firm == FIRM and len(panels) < of:
            firm = PANELS_MISSING
        bounds = f" ({signed(low)} to {signed(high)})" if interval else ""
        sizes = ", ".join(percent(fraction) for fraction in sorted(pairs["fraction"].unique()))
        unit = " pp" if self.quantity in ACCURACIES else ""
        pair = "pair" if len(pairs) == 1 else "pairs"
        return Finding(
            verdict(outcome.passes),
            f"{signed(mean)}{unit}{bounds} over {len(pairs)} {pair}, fractions {sizes}",
            firm,
            panels,
            of,
            records_of([pairs["record"], pairs["record_other"]]),
        )


def _pairs(claim: PairedClaim, tables: Study) -> pd.DataFrame:
    """Return the pairs, with their `difference`; those that lack a value are left out."""
    # Runs that do not compare with their FULL, or diverged, are out here too.
    runs = of_grid(evidence(tables.ratios, claim.quantity), claim.grid)
    if claim.quantity == "best_validation_accuracy":
        runs = runs.merge(tables.runs[[*RUN, claim.quantity]], on=RUN)
    runs = runs[runs[claim.quantity].notna()]
    own = runs[(runs["selector"] == AUTOMATA) & runs["fraction"].isin(claim.grid.fractions)]
    other = runs[runs["selector"] == claim.against]
    keys = [*PANEL, "seed", *(["fraction"] if claim.against not in CONTROLS else [])]
    kept = other[[*keys, claim.quantity, "record"]]
    pairs = own.merge(kept, on=keys, suffixes=("", "_other"))
    scale = 100 if claim.quantity in ACCURACIES else 1
    difference = pairs[claim.quantity] - pairs[f"{claim.quantity}_other"]
    return pairs.assign(difference=scale * difference)
