"""What all claims share: texts, the runs that count, and whether a verdict is firm.

Means decide the verdict; it is firm if the whole 95 % interval gives the same verdict.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd

from automata import names
from automata.analysis.energy import follows_time, obtained
from automata.analysis.quantities import QUANTITIES, ROUNDING, VALIDATION, Quantity
from automata.analysis.ratios import disturbed
from automata.analysis.statistics import SEEDS_FOR_INTERVAL
from automata.analysis.study import COMBINATION, Panel, Study, compared, panels
from automata.analysis.tradeoff import tradeoff
from automata.config.base import Axis, Section, Share, Text, one_of

REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not reproduced", "not run"

FIRM, OPEN, NO_INTERVAL = "interval", "within the interval", "no interval"
FRACTIONS_MISSING, PANELS_MISSING = "fractions missing", "panels missing"

MEASURES = {**QUANTITIES, VALIDATION.name: VALIDATION}
"""The quantities of claims."""


class Estimate(NamedTuple):
    """A number with its 95 % interval, which is infinite if there is none."""

    value: float
    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def of(cls, row: dict[Any, Any], quantity: str) -> Estimate:
        """Return the mean of `quantity` in a row of the tradeoff table."""
        seeds = row[MEASURES[quantity].seeds]
        ends = ("_low", "_high") if seeds >= SEEDS_FOR_INTERVAL else ()
        return cls(*(row[quantity + end] for end in ("", *ends)))

    def text(self, form: Callable[[float], str], unit: str = "") -> str:
        """Return value and interval as text; `form` formats a number."""
        value = f"{form(self.value)}{unit}"
        if math.isinf(self.high - self.low):
            return value
        return f"{value} ({form(self.low)} to {form(self.high)})"


class Outcome(NamedTuple):
    """Whether runs support a claim, and why that is firm or not."""

    passes: bool
    firm: str


def in_share(outcomes: Collection[Outcome], of: int, share: float) -> Outcome:
    """Return whether at least `share` of the panels that were run pass.

    The outcome is firm if the firm panels decide it, whatever the others of all `of` would show.
    """

    def enough(passing: int, among: int) -> bool:
        return passing >= share * among - ROUNDING

    passes = enough(sum(outcome.passes for outcome in outcomes), len(outcomes))
    firm = Counter(outcome.passes for outcome in outcomes if outcome.firm == FIRM)
    for among, grade in ((of, FIRM), (len(outcomes), PANELS_MISSING)):
        if enough(firm[True], among) == enough(among - firm[False], among):
            return Outcome(passes, grade)
    reasons = {outcome.firm for outcome in outcomes if outcome.passes == passes}
    return Outcome(passes, min(reasons, key=(NO_INTERVAL, FRACTIONS_MISSING, OPEN, FIRM).index))


Evidence = tuple[Outcome, str, pd.DataFrame]
"""An outcome, our result in words, and the rows behind them."""


class Finding(NamedTuple):
    """The result of checking a claim about `of` panels; `panels` are those that were run."""

    verdict: str
    ours: str
    """Our result in words, or the reason why the claim is not run."""
    firm: str = ""
    of: int = 0
    panels: tuple[Panel, ...] = ()
    records: tuple[str, ...] = ()


class Quote(Section):
    """A quote from the paper; `reading` says how its vague words are read."""

    quote: Text
    location: Text
    reading: str = ""


class StatedClaim(Quote):
    """A claim with its verdict in the file, because runs of one experiment cannot change it."""

    shape: Literal["stated"]
    verdict: Literal["reproduced", "not run"]
    ours: Text
    rule: Text = "not checked here"

    def check(self, _: Study) -> Finding:
        """Return the stated verdict."""
        return Finding(self.verdict, self.ours, "no runs needed" * (self.verdict == REPRODUCED))


class Grid(Section):
    """A part of the paper's grid."""

    datasets: Axis[Annotated[str, one_of(names.DATASETS)]]
    searches: Axis[Annotated[str, one_of(names.SEARCHES)]]
    schedulers: Axis[Annotated[str, one_of(names.SCHEDULERS)]]
    fractions: Axis[Share]

    @property
    def panels(self) -> list[Panel]:
        """All combinations of data set, search and scheduler."""
        return [Panel(*axes) for axes in product(self.datasets, self.searches, self.schedulers)]

    def rows(self, table: pd.DataFrame, selectors: Sequence[str]) -> pd.DataFrame:
        """Return the rows of `selectors` in this part of the grid."""
        axes = (self.datasets, self.searches, self.schedulers, selectors, self.fractions)
        columns = dict(zip(COMBINATION, axes, strict=True))
        return table[table[[*columns]].isin(columns).all(axis=1)]


class GridClaim(Quote):
    """A claim about a quantity in a part of the grid."""

    grid: Grid
    quantity: str

    @property
    def _measure(self) -> Quantity:
        return MEASURES[self.quantity]

    @property
    def _selectors(self) -> list[str]:
        return [names.AUTOMATA]

    @property
    @abstractmethod
    def rule(self) -> str:
        """The check in one sentence."""

    @abstractmethod
    def _evidence(self, study: Study) -> Evidence | None:
        """Return what the runs say about the claim; None if they are too few."""

    def check(self, study: Study) -> Finding:
        """Return the verdict of the runs of a study."""
        evidence, of = self._evidence(study), len(self.grid.panels)
        if evidence is None:
            selectors = ", ".join(map(names.selector, dict.fromkeys(self._selectors)))
            reason = f"needs more runs of {selectors} that have the {self._measure.words}"
            if self._measure.of_energy:
                reason += "; energy estimated from CPU time does not count"
            elif self.quantity in ("speedup", "total_seconds") and disturbed(study.runs).any():
                reason += "; times beside other work do not count"
            return Finding(NOT_RUN, reason, of=of)
        (passes, firm), ours, rows = evidence
        columns = (rows.get(name, ()) for name in ("record", "full_record", "records"))
        records = sorted({path for column in columns for cell in column for path in cell.split()})
        verdict = REPRODUCED if passes else NOT_REPRODUCED
        return Finding(verdict, ours, firm, of, tuple(panels(rows)), tuple(records))

    def _runs(self, study: Study) -> pd.DataFrame:
        """Return the runs that compare with their FULL and have the quantity.

        Energies estimated from CPU time alone do not count, nor do times of disturbed runs.
        """
        ratios = compared(study.ratios)
        columns = ratios.columns.difference(study.runs.columns)
        runs = study.runs.merge(ratios[["record", *columns]], on="record")
        runs = runs[runs[self.quantity].notna()]
        if self.quantity == "total_seconds":
            runs = runs[~disturbed(runs)]
        if self._measure.of_energy:
            runs = runs.loc[[not follows_time(*pair) for pair in obtained(runs)]]
        return runs

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return rows of the tradeoff table, for energy made again from the runs that count."""
        if self._measure.of_energy:
            return tradeoff(self.grid.rows(self._runs(study), self._selectors))
        rows = self.grid.rows(study.tradeoff, self._selectors)
        return rows[rows[self.quantity].notna()]

    def _judged(
        self, figure: Estimate, rows: pd.DataFrame, above: float, below: float, of: int
    ) -> Outcome:
        """Return whether a figure is between limits; it comes from `rows` of `of` panels."""
        inside = above < figure.low and figure.high <= below
        decided = inside or figure.high <= above or below <= figure.low
        if not decided and math.isinf(figure.high - figure.low):
            firm = NO_INTERVAL
        elif not set(self.grid.fractions) <= set(rows["fraction"]):
            firm = FRACTIONS_MISSING
        elif not decided:
            firm = OPEN
        else:
            firm = FIRM if len(panels(rows)) == of else PANELS_MISSING
        return Outcome(above < figure.value < below, firm)
