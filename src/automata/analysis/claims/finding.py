"""What checking a claim gives: a verdict, our figure, and how firm it is.

One principle for all kinds: the verdict goes by our means, and it is firm if the whole 95 %
interval would give the same verdict. Noise can thus make a verdict less firm, never turn it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from automata.analysis.study import Panel
from automata.analysis.wording import bounded

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
NOT_RUN = "not run"

FIRM = "interval"
"""The whole interval lies on the verdict's side."""
OPEN = "within the interval"
FEW_SEEDS = "too few seeds"
FRACTIONS_MISSING = "fractions missing"
"""A fraction that was not run could turn the verdict."""
PANELS_MISSING = "panels missing"
"""Panels that were not run could turn the verdict."""
NO_RUNS_NEEDED = "no runs needed"


@dataclass(frozen=True)
class Finding:
    """What a study says of one claim.

    Whether it rests on runs or on simulated searches is said where it is shown.
    """

    verdict: str
    ours: str
    """Our figure in words; where nothing was run, why."""
    firm: str = ""
    panels: tuple[Panel, ...] = ()
    """Those of the claim that were run."""
    of: int = 0
    """How many panels the claim is about, 0 if it is about none."""
    records: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """Whether runs bear a claim out, and how firmly."""

    passes: bool
    firm: str

    @property
    def verdict(self) -> str:
        """The same in words."""
        return REPRODUCED if self.passes else NOT_REPRODUCED


class Estimate(NamedTuple):
    """A figure of ours, its 95 % interval, and whether it has too few seeds for one."""

    value: float
    low: float
    high: float
    few: bool = False

    def above(self, bar: float) -> Outcome:
        """Return whether the figure lies above `bar`."""
        return self._outcome(self.value > bar, self.low > bar or self.high <= bar)

    def below(self, bar: float) -> Outcome:
        """Return whether the figure lies below `bar`."""
        return self._outcome(self.value < bar, self.high < bar or self.low >= bar)

    def between(self, least: float, most: float) -> Outcome:
        """Return whether the figure lies from `least` to `most`."""
        inside, outside = (
            least <= self.low <= self.high <= most,
            most < self.low or self.high < least,
        )
        return self._outcome(least <= self.value <= most, inside or outside)

    def shown(self, form: Callable[[float], str], unit: str = "") -> str:
        """Return the figure in words, with its interval if it has one; `form` is of a number."""
        value = f"{form(self.value)}{unit}"
        return value if self.few else bounded(value, form(self.low), form(self.high))

    def _outcome(self, passes: bool, sure: bool) -> Outcome:
        return Outcome(passes, FEW_SEEDS if self.few else FIRM if sure else OPEN)


def not_run(reason: str, of: int = 0) -> Finding:
    """Return the finding where the runs that a claim needs are not there."""
    return Finding(NOT_RUN, reason, of=of)


def of_share(outcomes: Collection[Outcome], of: int, share: float) -> Outcome:
    """Return whether at least `share` of the panels that were run pass.

    It is firm if panels with firm outcomes decide it for all `of` panels; those that were not run
    may turn out either way.
    """

    def enough(count: int, among: int) -> bool:
        return count >= share * among - 1e-9

    passes = enough(sum(outcome.passes for outcome in outcomes), len(outcomes))
    reasons = [outcome.firm for outcome in outcomes if outcome.passes == passes]
    firm = reasons.count(FIRM)

    def decided(among: int) -> bool:
        return enough(firm, among) if passes else not enough(among - firm, among)

    if decided(of):
        return Outcome(passes, FIRM)
    if decided(len(outcomes)):
        return Outcome(passes, PANELS_MISSING)
    order = (FEW_SEEDS, FRACTIONS_MISSING, OPEN)
    return Outcome(passes, next(reason for reason in order if reason in reasons))


def records_of(tables: Iterable[pd.DataFrame]) -> tuple[str, ...]:
    """Return the paths of all records that rows of `tables` come from, FULL's included."""
    columns = ("record", "full_record", "records")
    cells = {cell for rows in tables for name in columns for cell in rows.get(name, ())}
    return tuple(sorted({path for cell in cells for path in cell.split()}))
