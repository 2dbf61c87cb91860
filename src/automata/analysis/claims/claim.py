"""The common part of all claims: their texts, the runs that count, and how firm a verdict is.

A verdict follows our means. It is firm if the whole 95 % interval gives the same verdict, so noise
can make a verdict less firm but cannot turn it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import product
from typing import Annotated, Literal, NamedTuple

import pandas as pd

from automata.analysis.energy import follows_time, obtained
from automata.analysis.quantities import QUANTITIES, ROUNDING, VALIDATION, Quantity
from automata.analysis.ratios import SAME
from automata.analysis.study import Panel, Study, compared, panels
from automata.analysis.tradeoff import tradeoff
from automata.analysis.wording import bounded
from automata.config.base import Axis, Section, Share, Text, one_of
from automata.names import AUTOMATA, DATASETS, METHODS, SCHEDULERS, SEARCHES

REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not reproduced", "not run"

FIRM, OPEN, FEW_SEEDS = "interval", "within the interval", "too few seeds"
FRACTIONS_MISSING, PANELS_MISSING = "fractions missing", "panels missing"

WORK = [*SAME, "epochs", "configurations", "model", "train_rows"]
"""Where runs are made, what they tune, and for how long."""

MEASURES = {**QUANTITIES, VALIDATION.name: VALIDATION}
"""The quantities that claims are about."""

SelectorName = Annotated[str, one_of(METHODS)]
SchedulerName = Annotated[str, one_of(SCHEDULERS)]


class Outcome(NamedTuple):
    """Whether runs support a claim, and how firmly."""

    passes: bool
    firm: str


class Estimate(NamedTuple):
    """A figure of ours with its 95 % interval; `few`: too few seeds for one."""

    value: float
    low: float
    high: float
    few: bool = False

    def between(self, least: float, most: float) -> Outcome:
        """Return whether the figure is above `least` and below `most`."""
        inside = least < self.low and self.high < most
        outside = self.high <= least or most <= self.low
        firm = FEW_SEEDS if self.few else FIRM if inside or outside else OPEN
        return Outcome(least < self.value < most, firm)

    def shown(self, form: Callable[[float], str], unit: str = "") -> str:
        """Return the figure and its interval in words; `form` formats a number."""
        value = f"{form(self.value)}{unit}"
        return value if self.few else bounded(value, form(self.low), form(self.high))


class Finding(NamedTuple):
    """What a study says about a claim that is about `of` panels, of which `panels` were run."""

    verdict: str
    ours: str
    """Our figure in words; the reason if the claim is not run."""
    firm: str = ""
    of: int = 0
    panels: tuple[Panel, ...] = ()
    records: tuple[str, ...] = ()


class StatedClaim(Section):
    """A claim whose verdict is in the file: runs of one experiment cannot change it."""

    shape: Literal["stated"]
    quote: Text
    location: Text
    reading: str = ""
    verdict: Literal["reproduced", "not run"]
    ours: Text
    rule: Text = "not checked here"

    def check(self, study: Study) -> Finding:
        """Return the stated verdict."""
        return Finding(self.verdict, self.ours, "no runs needed" * (self.verdict == REPRODUCED))


class Grid(Section):
    """A part of the paper's grid."""

    datasets: Axis[Annotated[str, one_of(DATASETS)]]
    searches: Axis[Annotated[str, one_of(SEARCHES)]]
    schedulers: Axis[SchedulerName]
    fractions: Axis[Share]

    @property
    def panels(self) -> list[Panel]:
        """All combinations of data set, search and scheduler."""
        return [Panel(*axes) for axes in product(self.datasets, self.searches, self.schedulers)]

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows in these panels, of all selectors and fractions."""
        axes = {"dataset": self.datasets, "search": self.searches, "scheduler": self.schedulers}
        return table[table[[*axes]].isin(axes).all(axis=1)]

    def subsets(self, table: pd.DataFrame, selectors: Sequence[str]) -> pd.DataFrame:
        """Return the rows in these panels, of `selectors` and the fractions of the grid."""
        rows = self.rows(table)
        return rows[rows["selector"].isin(selectors) & rows["fraction"].isin(self.fractions)]


class GridClaim(Section):
    """A claim about a quantity in a part of the grid; `reading` explains vague words."""

    quote: Text
    location: Text
    reading: str = ""
    grid: Grid
    quantity: str

    @property
    def _measure(self) -> Quantity:
        return MEASURES[self.quantity]

    def runs(self, study: Study) -> pd.DataFrame:
        """Return the runs that compare with their FULL and have the quantity.

        An energy that was estimated from CPU time alone does not count: it follows time.
        """
        rows = self.grid.rows(compared(study.ratios))
        columns = {self.quantity, *WORK}.difference(rows.columns)
        rows = rows.join(study.runs.set_index("record")[sorted(columns)], on="record")
        rows = rows[rows[self.quantity].notna()]
        return rows[~_estimated(rows)] if self._measure.of_energy else rows

    def means(self, study: Study) -> pd.DataFrame:
        """Return the rows of the tradeoff table; those of energy are of the runs that count."""
        return tradeoff(self.runs(study)) if self._measure.of_energy else study.tradeoff

    def weakened(self, outcome: Outcome, rows: pd.DataFrame) -> Outcome:
        """Return the outcome, less firm if `rows` lack a fraction of the grid."""
        if outcome.firm == FEW_SEEDS or set(self.grid.fractions) <= set(rows["fraction"]):
            return outcome
        return Outcome(outcome.passes, FRACTIONS_MISSING)

    def found(self, outcome: Outcome, ours: str, rows: pd.DataFrame) -> Finding:
        """Return the finding from `rows`: their panels, and the paths of all records behind."""
        columns = (rows.get(name, ()) for name in ("record", "full_record", "records"))
        records = sorted({path for column in columns for cell in column for path in cell.split()})
        verdict, of = REPRODUCED if outcome.passes else NOT_REPRODUCED, len(self.grid.panels)
        return Finding(verdict, ours, outcome.firm, of, tuple(panels(rows)), tuple(records))

    def not_run(self, study: Study, selectors: Sequence[str]) -> Finding:
        """Return the finding if the runs of `selectors` do not suffice."""
        rows = compared(self.grid.subsets(study.ratios, selectors))
        names = ", ".join(map(selector_words, dict.fromkeys(selectors)))
        reason = f"needs more runs of {names} with the {self._measure.words}"
        if self._measure.of_energy and _estimated(rows).any():
            reason = "energy was estimated from CPU time in these panels"
        return Finding(NOT_RUN, reason, of=len(self.grid.panels))


def of_share(outcomes: Collection[Outcome], of: int, share: float) -> Outcome:
    """Return whether at least `share` of the panels that were run pass.

    The outcome is firm if the panels with firm outcomes decide it for all `of` panels: each panel
    that was not run may pass or fail.
    """

    def enough(count: int, among: int) -> bool:
        return count >= share * among - ROUNDING

    passes = enough(sum(outcome.passes for outcome in outcomes), len(outcomes))
    reasons = [outcome.firm for outcome in outcomes if outcome.passes == passes]
    firm = reasons.count(FIRM)
    for among, word in ((of, FIRM), (len(outcomes), PANELS_MISSING)):
        if enough(firm, among) if passes else not enough(among - firm, among):
            return Outcome(passes, word)
    order = (FEW_SEEDS, FRACTIONS_MISSING, OPEN)
    return Outcome(passes, next(reason for reason in order if reason in reasons))


def selector_words(name: str) -> str:
    """Return the name of a selector as the paper writes it."""
    return "AUTOMATA" if name == AUTOMATA else name.upper()


def _estimated(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows have an energy that was estimated from CPU time alone."""
    found = [follows_time(*pair) for pair in obtained(rows)]
    return pd.Series(found, index=rows.index, dtype=bool)
