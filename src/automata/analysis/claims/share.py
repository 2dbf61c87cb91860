"""Claims about panels: in a share of them a condition holds, which is a margin above 0."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata import names
from automata.analysis.claims.claim import (
    Estimate,
    Evidence,
    GridClaim,
    Ratio,
    SelectorName,
    in_share,
)
from automata.analysis.quantities import ROUNDING
from automata.analysis.statistics import Values, hypervolume
from automata.analysis.study import PANEL, Panel, Study, panels
from automata.analysis.wording import percent, signed, times
from automata.config.base import Axis, Share

ERROR = "relative_test_error"


class ShareClaim(GridClaim):
    """A condition holds in at least `share` of the panels that were run."""

    quantity: Ratio = "speedup"
    share: Share = 1.0

    @property
    @abstractmethod
    def _condition(self) -> str:
        """The condition in words."""

    @property
    def rule(self) -> str:
        """The condition, and in how many panels it must hold."""
        many = "all panels" if self.share == 1 else f"at least {percent(self.share)} of the panels"
        return f"in {many} {self._condition}"

    @abstractmethod
    def _margin(self, rows: pd.DataFrame) -> Estimate:
        """Return a figure of the rows of a panel; the condition holds if it is above 0."""

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return the rows of a table that margins are made of."""
        return self._means(study)

    def _ours(self, panels: Mapping[Panel, pd.DataFrame], passing: int) -> str:
        """Return our result in words, from the rows of each panel."""
        return f"holds in {passing} of {len(panels)} panels"

    def _evidence(self, study: Study) -> Evidence | None:
        table = self._rows(study)
        rows = {panel: panel.rows(table) for panel in panels(table)}
        if not rows:
            return None
        outcomes = [self._judged(self._margin(it), it, 0, math.inf, of=1) for it in rows.values()]
        passing = sum(outcome.passes for outcome in outcomes)
        whole = in_share(outcomes, len(self.grid.panels), self.share)
        return whole, self._ours(rows, passing), table


class ReachesClaim(ShareClaim):
    """One fraction reaches a `threshold` of the quantity within a `loss` of test accuracy.

    The loss against FULL is in percentage points; a gain is a negative loss.
    """

    shape: Literal["reaches"]
    threshold: float
    loss: float = 100.0

    @property
    def _goal(self) -> str:
        return f"{self.threshold:g}x at a loss of at most {self.loss:g} percentage points"

    @property
    def _condition(self) -> str:
        return f"the {self._measure.words} of one fraction is at least {self._goal}"

    def _margin(self, rows: pd.DataFrame) -> Estimate:
        return Estimate(*(ratio - self.threshold + ROUNDING for ratio in self._best(rows)))

    def _best(self, rows: pd.DataFrame) -> Estimate:
        """Return the largest ratio of a fraction within the loss; 0 if none is."""
        points, loss = self._points(rows), self.loss + ROUNDING
        return Estimate(
            max((ratio.value for ratio, error in points if error.value <= loss), default=0.0),
            max((ratio.low for ratio, error in points if error.high <= loss), default=0.0),
            max((ratio.high for ratio, error in points if error.low <= loss), default=0.0),
        )

    def _points(self, rows: pd.DataFrame) -> list[tuple[Estimate, Estimate]]:
        """Return ratio and error of each fraction."""
        means = rows.to_dict("records")
        return [(Estimate.of(row, self.quantity), Estimate.of(row, ERROR)) for row in means]

    def _ours(self, panels: Mapping[Panel, pd.DataFrame], passing: int) -> str:
        """Return the fractions of a single panel, or the best fractions of several."""
        if len(self.grid.panels) == 1:
            (rows,) = panels.values()
            return "; ".join(
                f"{ratio.shown(times)} at {error.shown(signed, ' pp')}, fraction {percent(size)}"
                for (ratio, error), size in zip(self._points(rows), rows["fraction"], strict=True)
            )
        parts = [f"{passing} of {len(panels)} panels reach {self._goal}"]
        best = sorted((self._best(rows).value, panel.path) for panel, rows in panels.items())
        within = [f"{times(ratio)} ({path})" for ratio, path in best if ratio > 0]
        if within:
            parts.append(f"the best fraction there has {within[0]} to {within[-1]}")
        if len(within) < len(best):
            parts.append(f"no fraction is within the loss in {len(best) - len(within)}")
        return "; ".join(parts)


class CoversMoreClaim(ShareClaim):
    """AUTOMATA's fractions cover a larger area of the quantity against error than baselines'."""

    shape: Literal["covers-more"]
    baseline: Axis[SelectorName]

    @property
    def _condition(self) -> str:
        others = " and ".join(map(names.selector, self.baseline))
        return (
            f"AUTOMATA's fractions cover a larger area of {self._measure.words} against error than "
            f"those of {others} (up to a ratio of 1 and the worst error of the panel)"
        )

    @property
    def _selectors(self) -> list[str]:
        return [names.AUTOMATA, *self.baseline]

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return the runs whose fraction and seed all selectors have."""
        runs = self.grid.rows(self._runs(study), self._selectors)
        present = runs.groupby([*PANEL, "fraction", "seed"])["selector"].transform("nunique")
        return runs[present == len(self._selectors)]

    def _margin(self, rows: pd.DataFrame) -> Estimate:
        """Return AUTOMATA's lead over the best baseline in area; the interval draws seeds."""
        seeds = rows["seed"].nunique()

        def means(column: str, draws: NDArray[np.intp]) -> Values:
            """Return means over drawn seeds (draws, selectors, fractions)."""
            table = rows.pivot(index=["selector", "fraction"], columns="seed", values=column)
            table = table.reindex(self._selectors, level="selector")
            cube = table.to_numpy(np.float64).reshape(len(self._selectors), -1, seeds)
            # A fraction of no drawn seed becomes a ratio of 0, which covers no area.
            mean = np.ma.masked_invalid(cube[..., draws]).mean(axis=-1).filled(0.0)
            averaged: Values = np.moveaxis(mean, -1, 0)
            return averaged

        def lead(draws: NDArray[np.intp]) -> Values:
            ratios, errors = means(self.quantity, draws), means(ERROR, draws)
            worst = np.maximum(errors.max(axis=(1, 2)), 0.0)  # FULL's error is 0
            corners = np.stack([np.ones_like(worst), worst], axis=-1)
            areas = hypervolume(ratios, errors, corners[:, None])
            leads: Values = areas[:, 0] - areas[:, 1:].max(axis=1)
            return leads

        return Estimate.bootstrapped(lead, seeds)


class FallsClaim(ShareClaim):
    """The mean of each `subject` falls from each fraction to the next larger one."""

    shape: Literal["falls"]
    subject: Axis[SelectorName] = [names.AUTOMATA]

    @property
    def _condition(self) -> str:
        return f"the {self._measure.words} falls from each fraction to the next larger one"

    @property
    def _selectors(self) -> list[str]:
        return self.subject

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return the means of selectors that have several fractions."""
        means = self._means(study)
        return means[means.groupby([*PANEL, "selector"])["fraction"].transform("nunique") > 1]

    def _margin(self, rows: pd.DataFrame) -> Estimate:
        """Return the smallest fall to the next fraction; its interval is the gap of theirs."""
        falls = []
        for _, line in rows.sort_values("fraction").groupby("selector"):
            means = [Estimate.of(row, self.quantity) for row in line.to_dict("records")]
            falls += [
                (a.value - b.value, a.low - b.high, a.high - b.low) for a, b in pairwise(means)
            ]
        return Estimate(*map(min, zip(*falls, strict=True)))
