"""What checking a claim gives: a verdict, our figure, and how firm it is.

One principle for all kinds: the verdict goes by our means, and it is firm if the whole 95 %
interval would give the same verdict. Noise can thus make a verdict less firm, never turn it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from automata.analysis.study import Panel

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
    """What the tables say of one claim."""

    verdict: str
    ours: str
    """Our figure in words; where nothing was run, why."""
    firm: str = ""
    panels: tuple[Panel, ...] = ()
    """Those of the claim that were run."""
    of: int = 0
    """How many panels the claim is about, 0 if it is about none."""
    records: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """Whether one panel bears a claim out, and how firmly."""

    passes: bool
    firm: str


def not_run(reason: str, of: int = 0) -> Finding:
    """Return the finding where the runs that a claim needs are not there."""
    return Finding(NOT_RUN, reason, of=of)


def verdict(passes: bool) -> str:
    """Return the verdict in words."""
    return REPRODUCED if passes else NOT_REPRODUCED


def by_interval(value: float, low: float, high: float, bar: float, above: bool) -> Outcome:
    """Return the outcome of a value that should lie above `bar` (else below), with its bounds."""
    passes = value > bar if above else value < bar
    sure = (low > bar or high <= bar) if above else (high < bar or low >= bar)
    return Outcome(passes, FIRM if sure else OPEN)


def of_share(outcomes: Mapping[Panel, Outcome], of: int, share: float) -> Outcome:
    """Return whether at least `share` of the panels pass.

    The verdict is about the panels that were run. It is firm if panels with firm outcomes decide
    it for all `of` panels; those that were not run may turn out either way.
    """
    passing = sum(outcome.passes for outcome in outcomes.values())
    passes = _enough(passing, len(outcomes), share)
    relevant = [outcome for outcome in outcomes.values() if outcome.passes == passes]
    firm = sum(outcome.firm == FIRM for outcome in relevant)
    if passes:
        decided, decided_here = _enough(firm, of, share), _enough(firm, len(outcomes), share)
    else:
        decided = not _enough(of - firm, of, share)
        decided_here = not _enough(len(outcomes) - firm, len(outcomes), share)
    if decided:
        return Outcome(passes, FIRM)
    if decided_here:
        return Outcome(passes, PANELS_MISSING)
    reasons = {outcome.firm for outcome in relevant}
    order = (FEW_SEEDS, FRACTIONS_MISSING, OPEN)
    return Outcome(passes, next((reason for reason in order if reason in reasons), OPEN))


def _enough(count: int, of: int, share: float) -> bool:
    return count >= share * of - 1e-9


def records_of(tables: Iterable[pd.Series[str]]) -> tuple[str, ...]:
    """Return all record paths in columns whose cells hold one or several, separated by spaces."""
    cells = [str(cell) for column in tables for cell in column.dropna().unique()]
    return tuple(sorted({path for cell in cells for path in cell.split()}))
