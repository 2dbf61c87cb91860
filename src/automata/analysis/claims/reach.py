"""Claims of a speedup, or another ratio, at a loss of accuracy."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, PositiveFloat, model_validator

from automata.analysis.claims.cells import of_panel, tradeoff_of, why_missing
from automata.analysis.claims.claim import GridClaim, Share
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
from automata.analysis.claims.words import but_estimates, of_row, panel_name
from automata.analysis.quantities import words
from automata.analysis.statistics import SEEDS_FOR_INTERVAL
from automata.analysis.study import Panel, Study
from automata.analysis.tradeoff import seeds_column
from automata.analysis.wording import percent, times
from automata.names import AUTOMATA

Quantity = Literal["speedup", "energy_ratio", "co2_measured_ratio", "co2_time_ratio"]
Around = Annotated[
    float, Field(ge=0, lt=1, description='How much less, as a share, "around" still covers')
]


class RangeClaim(GridClaim):
    """AUTOMATA reaches a ratio within a loss, at one fraction of each panel.

    In a panel some fraction has, on average over seeds, a ratio of at least
    `low` x (1 - `around`) and a relative test error of at most `loss` percentage points (a gain
    is a negative loss). At least `share` of the panels must have one. Better than claimed is as
    good as claimed: `high` is reported and decides nothing.
    """

    low: PositiveFloat
    high: PositiveFloat | None = None
    loss: float | None = None
    """Percentage points; None: any."""
    around: Around = 0.0
    share: Share = 1.0
    quantity: Quantity = "speedup"

    @property
    def rule(self) -> str:
        """Say at which figures the claim is reproduced."""
        many = len(self.grid.panels) > 1
        where = f"in {_share(self.share)} panels " if many else ""
        return (
            f"{where}one fraction has a {words(self.quantity)} of {_bar(self)} {_within(self.loss)}"
            f"{but_estimates(self.quantity)}"
        )

    def check(self, tables: Study) -> Finding:
        """Return whether enough panels have a fraction that reaches the bar."""
        return _check(self, tables)


class PointClaim(RangeClaim):
    """AUTOMATA reaches a ratio at a loss in one panel: the rule of a range, for a single point."""

    @model_validator(mode="after")
    def _one_point(self) -> Self:
        if len(self.grid.panels) != 1 or self.loss is None or self.high is not None:
            raise ValueError("a point has one panel, a loss, and no high")
        return self


def _bar(claim: RangeClaim) -> str:
    less = f" (less {percent(claim.around)}, for 'around')" if claim.around else ""
    return f"at least {times(claim.low)}{less}"


def _within(loss: float | None) -> str:
    if loss is None:
        return "at any loss"
    if loss < 0:
        return f"at a gain of at least {-loss:g} percentage points"
    return f"at a loss of at most {loss:g} percentage points"


def _share(share: float) -> str:
    return "all" if share == 1 else f"at least {percent(share)} of the"


def _check(claim: RangeClaim, tables: Study) -> Finding:
    table = tradeoff_of(tables, claim.quantity)
    panels: dict[Panel, pd.DataFrame] = {}
    for panel in claim.grid.panels:
        rows = of_panel(table, panel, [AUTOMATA], claim.grid.fractions)
        if len(rows):
            panels[panel] = rows
    of = len(claim.grid.panels)
    if not panels:
        why = f"no {words(claim.quantity)} of AUTOMATA in these panels"
        return not_run(why_missing(tables, claim.grid, [AUTOMATA], claim.quantity, why), of)
    outcomes = {panel: reached(claim, rows) for panel, rows in panels.items()}
    whole = of_share(outcomes, of, claim.share)
    return Finding(
        verdict(whole.passes),
        _ours(claim, panels, outcomes),
        whole.firm,
        tuple(panels),
        of,
        records_of(rows["records"] for rows in panels.values()),
    )


def reached(claim: RangeClaim, rows: pd.DataFrame) -> Outcome:
    """Return whether one of `rows`, the fractions of a panel, reaches what `claim` says."""
    bar, loss = _limits(claim)
    error = rows["relative_test_error"]
    met = (rows[claim.quantity] >= bar) & (error <= loss)
    enough = rows[seeds_column(claim.quantity)] >= SEEDS_FOR_INTERVAL
    if met.any():
        sure = (rows[f"{claim.quantity}_low"] >= bar) & (rows["relative_test_error_high"] <= loss)
        if (met & enough & sure).any():
            return Outcome(True, FIRM)
        return Outcome(True, OPEN if (met & enough).any() else FEW_SEEDS)
    if not enough.all():
        return Outcome(False, FEW_SEEDS)
    if set(claim.grid.fractions) - set(rows["fraction"]):
        return Outcome(False, FRACTIONS_MISSING)
    could = (rows[f"{claim.quantity}_high"] >= bar) & (rows["relative_test_error_low"] <= loss)
    return Outcome(False, OPEN if could.any() else FIRM)


def _limits(claim: RangeClaim) -> tuple[float, float]:
    loss = np.inf if claim.loss is None else claim.loss
    return claim.low * (1 - claim.around) - 1e-9, loss + 1e-9  # as written, not as in binary


def _closest(claim: RangeClaim, rows: pd.DataFrame) -> tuple[bool, pd.Series[float]]:
    """Return the fastest row within the loss, else that of least error; and which it is."""
    inside = rows[rows["relative_test_error"] <= _limits(claim)[1]]
    if len(inside):
        return True, inside.sort_values(claim.quantity).iloc[-1]
    return False, rows.sort_values("relative_test_error").iloc[0]


def _ours(
    claim: RangeClaim, panels: dict[Panel, pd.DataFrame], outcomes: dict[Panel, Outcome]
) -> str:
    closest = {panel: _closest(claim, rows) for panel, rows in panels.items()}
    if len(claim.grid.panels) == 1:
        ((rows, (_, row)),) = zip(panels.values(), closest.values(), strict=True)
        return _of_panel(claim, rows, row, all(outcome.passes for outcome in outcomes.values()))
    passing = sum(outcome.passes for outcome in outcomes.values())
    bar = times(claim.low * (1 - claim.around))
    parts = [f"{passing} of {len(panels)} panels reach {bar} {_within(claim.loss)}"]
    fast = {p: float(row[claim.quantity]) for p, (inside, row) in closest.items() if inside}
    if fast:
        least, most = min(fast, key=fast.__getitem__), max(fast, key=fast.__getitem__)
        parts.append(
            f"the best fraction there has {times(fast[least])} ({panel_name(least)})"
            f" to {times(fast[most])} ({panel_name(most)})"
        )
    if len(fast) < len(panels):
        parts.append(f"no fraction is within the loss in {len(panels) - len(fast)}")
    if claim.high is not None:
        count = sum(value >= claim.high for value in fast.values())
        parts.append(f"{times(claim.high)} is reached in {count}")
    return "; ".join(parts)


def _of_panel(
    claim: RangeClaim, rows: pd.DataFrame, closest: pd.Series[float], passes: bool
) -> str:
    """Return the closest fraction of the only panel and, where it falls short, the fastest."""
    ours = of_row(closest, claim.quantity)
    fastest = rows.sort_values(claim.quantity).iloc[-1]
    if passes or fastest["fraction"] == closest["fraction"]:
        return ours
    return f"{ours}; the fastest: {of_row(fastest, claim.quantity)}"
