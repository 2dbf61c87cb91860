"""Claims that must hold in a share of the panels: an outcome for each, from its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from pydantic import Field, PositiveFloat, model_validator

from automata.analysis.claims.claim import Around, QuantityClaim, SelectorName
from automata.analysis.claims.finding import (
    FEW_SEEDS,
    FIRM,
    FRACTIONS_MISSING,
    OPEN,
    Estimate,
    Finding,
    Outcome,
    not_run,
    of_share,
    records_of,
)
from automata.analysis.quantities import RATIOS, words
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, bounds
from automata.analysis.study import Panel, Study
from automata.analysis.tradeoff import seeds_column
from automata.analysis.wording import bounded, percent, signed, three_digits, times
from automata.config.base import Axis, one_of
from automata.names import AUTOMATA


class PanelClaim(QuantityClaim, ABC):
    """A claim about each panel: at least `share` of those that were run must bear it out.

    A kind says which rows it looks at, what it wants of those of a panel, and our figure.
    """

    share: Annotated[float, Field(gt=0, le=1)] = 1.0

    @property
    def _selectors(self) -> Sequence[str]:
        return [AUTOMATA]

    @property
    @abstractmethod
    def _condition(self) -> str:
        """What must hold in a panel, in words."""

    @property
    @abstractmethod
    def _lacking(self) -> str:
        """What no panel has where the claim is not run, in words."""

    def _table(self, study: Study) -> pd.DataFrame:
        return self._means(study)

    def _counted(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return those of the rows of a panel that count; a panel without any was not run."""
        return rows

    @abstractmethod
    def _outcome(self, rows: pd.DataFrame) -> Outcome:
        """Return whether a panel bears the claim out, from its rows that count."""

    @abstractmethod
    def _ours(self, panels: dict[Panel, pd.DataFrame], passing: list[Panel]) -> str:
        """Return our figure in words, from all rows of the panels that were run."""

    @property
    def rule(self) -> str:
        """Say what must hold, and in how many panels."""
        many = "all panels" if self.share == 1 else f"at least {percent(self.share)} of the panels"
        where = f"in {many} " if len(self.panels) > 1 else ""
        return f"{where}{self._condition}{self._but_estimates}"

    def check(self, study: Study) -> Finding:
        """Return whether enough panels bear the claim out."""
        table = self.grid.subsets(self._table(study), self._selectors)
        there = {panel: panel.rows(table) for panel in self.panels}
        counted = {panel: self._counted(rows) for panel, rows in there.items()}
        counted = {panel: rows for panel, rows in counted.items() if len(rows)}
        of = len(self.panels)
        if not counted:
            return not_run(self._why_missing(study, self._selectors, self._lacking), of)
        outcomes = {panel: self._outcome(rows) for panel, rows in counted.items()}
        whole = of_share(outcomes.values(), of, self.share)
        passing = [panel for panel, outcome in outcomes.items() if outcome.passes]
        ours = self._ours({panel: there[panel] for panel in counted}, passing)
        records = records_of(counted.values())
        return Finding(whole.verdict, ours, whole.firm, tuple(counted), of, records)


def _extremes(values: dict[Panel, float], form: Callable[[float], str]) -> str:
    """Return the smallest and the largest of `values`, and the panels that have them."""
    ends = (min(values, key=values.__getitem__), max(values, key=values.__getitem__))
    return " to ".join(f"{form(values[panel])} ({panel.path})" for panel in ends)


class RangeClaim(PanelClaim):
    """AUTOMATA reaches a ratio within a loss, at one fraction of each panel.

    In a panel some fraction has, on average over seeds, a ratio of at least
    `low` x (1 - `around`) and a relative test error of at most `loss` percentage points (a gain
    is a negative loss; none: any loss). Better than claimed is as good as claimed: `high` is
    reported and decides nothing.
    """

    low: PositiveFloat
    high: PositiveFloat | None = None
    loss: float | None = None
    around: Around = 0.0

    @property
    def _condition(self) -> str:
        less = f" (less {percent(self.around)}, for 'around')" if self.around else ""
        bar = f"at least {times(self.low)}{less}"
        return f"one fraction has a {words(self.quantity)} of {bar} {self._within}"

    @property
    def _within(self) -> str:
        if self.loss is None:
            return "at any loss"
        most = (
            f"gain of at least {-self.loss:g}"
            if self.loss < 0
            else f"loss of at most {self.loss:g}"
        )
        return f"at a {most} percentage points"

    @property
    def _lacking(self) -> str:
        return f"no {words(self.quantity)} of AUTOMATA in these panels"

    @property
    def _limits(self) -> tuple[float, float]:
        """The smallest ratio and the largest error: as written, not as in binary."""
        loss = np.inf if self.loss is None else self.loss
        return self.low * (1 - self.around) - 1e-9, loss + 1e-9

    def _inside(self, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[rows["relative_test_error"] <= self._limits[1]]

    def closest(self, rows: pd.DataFrame) -> pd.Series[Any]:
        """Return the fastest of the `rows` inside the loss, else that of least error."""
        inside = self._inside(rows)
        if len(inside):
            return inside.nlargest(1, self.quantity).iloc[0]
        return rows.nsmallest(1, "relative_test_error").iloc[0]

    def _reached(self, rows: pd.DataFrame, ratio: str, error: str) -> pd.Series[bool]:
        """Return which rows are within the limits, with the mean or one end of the intervals."""
        bar, loss = self._limits
        return (rows[self.quantity + ratio] >= bar) & (rows["relative_test_error" + error] <= loss)

    def _outcome(self, rows: pd.DataFrame) -> Outcome:
        enough = rows[seeds_column(self.quantity)] >= SEEDS_FOR_INTERVAL
        met = self._reached(rows, "", "")
        if (met & enough & self._reached(rows, "_low", "_high")).any():
            return Outcome(True, FIRM)
        if met.any():
            return Outcome(True, OPEN if (met & enough).any() else FEW_SEEDS)
        if not enough.all():
            return Outcome(False, FEW_SEEDS)
        if self.grid.lacks_fractions(rows):
            return Outcome(False, FRACTIONS_MISSING)
        return Outcome(False, OPEN if self._reached(rows, "_high", "_low").any() else FIRM)

    def _ours(self, panels: dict[Panel, pd.DataFrame], passing: list[Panel]) -> str:
        if len(self.panels) == 1:
            (rows,) = panels.values()
            return _of_one(rows, self.closest(rows), self.quantity, bool(passing))
        inside = {panel: self._inside(rows) for panel, rows in panels.items()}
        bar = times(self.low * (1 - self.around))
        parts = [f"{len(passing)} of {len(panels)} panels reach {bar} {self._within}"]
        best = {panel: rows[self.quantity].max() for panel, rows in inside.items() if len(rows)}
        if best:
            parts.append(f"the best fraction there has {_extremes(best, times)}")
        if len(best) < len(panels):
            parts.append(f"no fraction is within the loss in {len(panels) - len(best)}")
        if self.high is not None:
            count = sum(value >= self.high for value in best.values())
            parts.append(f"{times(self.high)} is reached in {count}")
        return "; ".join(parts)


class PointClaim(RangeClaim):
    """AUTOMATA reaches a ratio at a loss in one panel: the rule of a range, for a single point."""

    @model_validator(mode="after")
    def _one_point(self) -> Self:
        if len(self.panels) != 1 or self.loss is None or self.high is not None:
            raise ValueError("a point has one panel, a loss, and no high")
        return self


def _of_one(rows: pd.DataFrame, closest: pd.Series[Any], quantity: str, passes: bool) -> str:
    """Return the row that comes `closest` to a claim, in words.

    Where it falls short, the fastest of all `rows` follows.
    """
    fastest = rows.nlargest(1, quantity).iloc[0]
    ours = _of_row(closest, quantity)
    if passes or fastest["fraction"] == closest["fraction"]:
        return ours
    return f"{ours}; the fastest: {_of_row(fastest, quantity)}"


def _of_row(row: pd.Series[float], quantity: str) -> str:
    """Return a row of the tradeoff table: 8.4x (7.1 to 9.6) at +0.6 pp (+0.2 to +1), fraction 1 %.

    In parentheses is the 95 % interval, or the range of two seeds; one seed has none. The ratio
    may be of fewer seeds than the error.
    """
    ratio, error = times(row[quantity]), f"{signed(row['relative_test_error'])} pp"
    if row[seeds_column(quantity)] > 1:
        ratio = bounded(ratio, *(three_digits(row[f"{quantity}_{end}"]) for end in ("low", "high")))
    if row["seeds"] > 1:
        low, high = row["relative_test_error_low"], row["relative_test_error_high"]
        error = bounded(error, signed(low), signed(high))
    return f"{ratio} at {error}, fraction {percent(row['fraction'])}"


class OrderClaim(PanelClaim):
    """The smaller the subset, the larger the ratio.

    A panel passes if, for each of `selectors` in it, the means over seeds fall strictly from
    each fraction to the next larger one; panels that have two fractions or more count. It is firm
    where neighbouring intervals do not overlap, and against the claim where two fractions are in
    the wrong order and theirs do not overlap.
    """

    selectors: Axis[SelectorName]

    @property
    def _selectors(self) -> Sequence[str]:
        return self.selectors

    @property
    def _condition(self) -> str:
        return f"the {words(self.quantity)} falls from each fraction to the next larger one"

    @property
    def _lacking(self) -> str:
        return f"no panel has the {words(self.quantity)} at two fractions"

    def _counted(self, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[rows.groupby("selector")["fraction"].transform("size") > 1]

    def _outcome(self, rows: pd.DataFrame) -> Outcome:
        """Return whether all selectors are in order: one out of it decides."""
        lines = [self._line(line) for _, line in rows.sort_values("fraction").groupby("selector")]
        return of_share(lines, len(lines), 1.0)

    def _line(self, rows: pd.DataFrame) -> Outcome:
        """Return the outcome of one selector; `rows` are its fractions from small to large."""
        value, low, high = (
            rows[f"{self.quantity}{end}"].to_numpy() for end in ("", "_low", "_high")
        )
        passes = bool((value[:-1] > value[1:]).all())
        if (rows[seeds_column(self.quantity)] < SEEDS_FOR_INTERVAL).any():
            return Outcome(passes, FEW_SEEDS)
        if not passes:
            wrong = np.triu(high[:, None] < low[None, :]).any()  # a smaller fraction, a larger one
            return Outcome(False, FIRM if wrong else OPEN)
        if self.grid.lacks_fractions(rows):
            return Outcome(True, FRACTIONS_MISSING)
        return Outcome(True, FIRM if (low[:-1] > high[1:]).all() else OPEN)

    def _ours(self, panels: dict[Panel, pd.DataFrame], passing: list[Panel]) -> str:
        ours = f"in order in {len(passing)} of {len(panels)} panels"
        wrong = [panel.path for panel in panels if panel not in passing]
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        return f"{ours}; not in {', '.join(wrong[:3])}{more}" if wrong else ours


SIMILAR = (0.8, 1.25)
"""What is similar: within a quarter, either way."""


class SimilarClaim(PanelClaim):
    """Energy, or CO2 from energy, is saved by about the factor that time is.

    In a panel the mean over fractions and seeds of AUTOMATA's ratio / speedup must lie between
    0.8 and 1.25.
    """

    quantity: Annotated[
        str, one_of({name: row for name, row in RATIOS.items() if row.of_energy})
    ] = "energy_ratio"

    @property
    def _condition(self) -> str:
        return f"the mean of {words(self.quantity)} / speedup lies between 0.8 and 1.25"

    @property
    def _lacking(self) -> str:
        return "no energy ratio in these panels"

    def _table(self, study: Study) -> pd.DataFrame:
        return self._runs(study)

    def _per_seed(self, rows: pd.DataFrame) -> pd.Series:
        return (rows[self.quantity] / rows["speedup"]).groupby(rows["seed"]).mean()

    def _outcome(self, rows: pd.DataFrame) -> Outcome:
        values = self._per_seed(rows).to_numpy(dtype=np.float64)
        few = len(values) < SEEDS_FOR_INTERVAL
        return Estimate(float(values.mean()), *bounds(values), few).between(*SIMILAR)

    def _ours(self, panels: dict[Panel, pd.DataFrame], passing: list[Panel]) -> str:
        means = {panel: self._per_seed(rows).mean() for panel, rows in panels.items()}
        ends = _extremes(means, "{:.2f}".format)
        return f"similar in {len(passing)} of {len(panels)} panels; ratio / speedup from {ends}"
