"""The shapes of claims: a condition in a share of the panels, or a figure over all panels."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from automata import names
from automata.analysis.claims.claim import MEASURES, Estimate, Evidence, GridClaim, in_share
from automata.analysis.quantities import ERROR, ROUNDING
from automata.analysis.ratios import SAME
from automata.analysis.statistics import (
    SEEDS_FOR_INTERVAL,
    Spread,
    hypervolume,
    of_units,
    unit_of,
)
from automata.analysis.study import PANEL, Panel, Study, panels
from automata.analysis.tradeoff import tradeoff
from automata.analysis.wording import count, percent, signed, times
from automata.config.base import Axis, Share, one_of
from automata.names import AUTOMATA, CONTROLS

WORK = [*SAME, "epochs", "configurations", "model", "train_rows"]
"""Columns that say where a run was made, and what and how long it trained."""

FEWEST_DATA_SETS = 5
"""With fewer data sets, a rank correlation says nothing."""

Ratio = Literal["speedup", "energy_ratio"]
QuantityName = Annotated[str, one_of(MEASURES)]
SelectorName = Annotated[str, one_of(names.METHODS)]
SchedulerName = Annotated[str, one_of(names.SCHEDULERS)]


class ShareClaim(GridClaim):
    """A condition (a margin above 0) holds in at least `share` of the panels that were run."""

    quantity: Ratio = "speedup"
    share: Share = 1.0

    @property
    def _panels(self) -> str:
        return "all panels" if self.share == 1 else f"at least {percent(self.share)} of the panels"

    @abstractmethod
    def _margin(self, rows: pd.DataFrame) -> Estimate:
        """Return the margin of a panel's rows; the condition holds if it is above 0."""

    def _ours(self, panels: Mapping[Panel, pd.DataFrame], passing: int) -> str:
        """Return our result in words, from the rows of each panel."""
        return f"holds in {passing} of {len(panels)} panels"

    def _evidence(self, study: Study) -> Evidence | None:
        table = self._rows(study)
        by_panel = {panel: panel.rows(table) for panel in panels(table)}
        if not by_panel:
            return None
        margins = [(self._margin(rows), rows) for rows in by_panel.values()]
        outcomes = [self._judged(margin, rows, 0, math.inf, of=1) for margin, rows in margins]
        passing = sum(outcome.passes for outcome in outcomes)
        whole = in_share(outcomes, len(self.grid.panels), self.share)
        return whole, self._ours(by_panel, passing), table


class ReachesClaim(ShareClaim):
    """One fraction reaches a `threshold` of the quantity within a `loss` of test accuracy.

    The loss against FULL is in percentage points; a gain is a negative loss.
    """

    shape: Literal["reaches"]
    threshold: float
    loss: float = 100.0

    @property
    def _goal(self) -> str:
        limit = "loss of at most" if self.loss >= 0 else "gain of at least"
        return f"{self.threshold:g}x at a {limit} {abs(self.loss):g} percentage points"

    @property
    def rule(self) -> str:
        """The share of panels, and the goal."""
        words = self._measure.words
        return f"in {self._panels} the {words} of one fraction is at least {self._goal}"

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
                f"{ratio.text(times)} at {error.text(signed, ' pp')}, fraction {percent(size)}"
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
    """AUTOMATA's fractions cover a larger area of quantity and error than those of baselines."""

    shape: Literal["covers-more"]
    baseline: Axis[SelectorName]

    @property
    def rule(self) -> str:
        """The share of panels, and the baselines."""
        others = " and ".join(map(names.selector, self.baseline))
        return (
            f"in {self._panels} AUTOMATA's fractions cover a larger area of {self._measure.words} "
            f"against error than those of {others} (up to a ratio of 1 and the worst error of the "
            "panel)"
        )

    @property
    def _selectors(self) -> list[str]:
        return [AUTOMATA, *self.baseline]

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return means of the fractions and seeds that all selectors have."""
        runs = self.grid.rows(self._runs(study), self._selectors)
        present = runs.groupby([*PANEL, "fraction", "seed"])["selector"].transform("nunique")
        return tradeoff(runs[present == len(self._selectors)])

    def _margin(self, rows: pd.DataFrame) -> Estimate:
        """Return AUTOMATA's area minus the largest of the baselines, without an interval."""
        worst = max(rows[ERROR].max(), 0.0)  # FULL's error is 0
        areas = {}
        for selector, own in rows.groupby("selector"):
            ratios, errors = own[[self.quantity, ERROR]].to_numpy(np.float64).T
            areas[selector] = hypervolume(ratios, errors, worst)
        return Estimate(areas[AUTOMATA] - max(areas[name] for name in self.baseline))


class FallsClaim(ShareClaim):
    """The mean of each `subject` falls from each fraction to the next larger one."""

    shape: Literal["falls"]
    subject: Axis[SelectorName] = [AUTOMATA]

    @property
    def rule(self) -> str:
        """The share of panels, and what falls."""
        words = self._measure.words
        return f"in {self._panels} the {words} falls from each fraction to the next larger one"

    @property
    def _selectors(self) -> list[str]:
        return self.subject

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return the means of selectors that have several fractions."""
        means = super()._rows(study)
        return means[means.groupby([*PANEL, "selector"])["fraction"].transform("nunique") > 1]

    def _margin(self, rows: pd.DataFrame) -> Estimate:
        """Return the smallest fall to the next fraction, with the gap between both intervals."""
        falls = []
        for _, line in rows.sort_values("fraction").groupby("selector"):
            means = [Estimate.of(row, self.quantity) for row in line.to_dict("records")]
            falls += [
                (a.value - b.value, a.low - b.high, a.high - b.low) for a, b in pairwise(means)
            ]
        return Estimate(*map(min, zip(*falls, strict=True)))


class MeanClaim(GridClaim):
    """A figure over all panels is above one threshold, below another, or both."""

    quantity: QuantityName
    above: float = -math.inf
    below: float = math.inf

    @property
    @abstractmethod
    def _figure(self) -> str:
        """The figure in words."""

    @property
    def _unit(self) -> str:
        """The unit of the figure: differences of percentages are in percentage points."""
        return " pp" if self._measure.unit == "%" else ""

    @property
    def rule(self) -> str:
        """The figure and its limits."""
        sides = {"above": self.above, "below": self.below}.items()
        limits = [f"{side} {value:g}{self._unit}" for side, value in sides if math.isfinite(value)]
        return f"{self._figure} is {' and '.join(limits)}"

    def _passing(self, figure: Estimate, ours: str, rows: pd.DataFrame) -> Evidence:
        of = len(self.grid.panels)
        return self._judged(figure, rows, self.above, self.below, of), ours, rows


class PairsClaim(MeanClaim):
    """The mean, over pairs of runs, of the subject's quantity less (or over) the baseline's.

    It is the mean over data sets, or, with fewer than three, over seeds; of ratios geometric.
    """

    shape: Literal["difference", "ratio"]
    baseline_quantity: QuantityName | None = None
    subject: SelectorName = AUTOMATA
    baseline: SelectorName = AUTOMATA
    under: tuple[SchedulerName, SchedulerName] | None = None
    """The schedulers of subject and baseline, if they differ."""

    @property
    def _figure(self) -> str:
        sides = list(map(names.selector, self._selectors))
        if self.under:
            pairs = zip(sides, self.under, strict=True)
            sides = [f"{side} under {names.scheduler(scheduler)}" for side, scheduler in pairs]
        sign = "over" if self.shape == "ratio" else "less"
        other = MEASURES[self.baseline_quantity or self.quantity].words
        figure = f"the {self._measure.words} of {sides[0]} {sign} the {other} of {sides[1]}"
        return f"on average over data sets (fewer than three: seeds) of pairs of runs, {figure}"

    @property
    def _selectors(self) -> list[str]:
        return [self.subject, self.baseline]

    def _evidence(self, study: Study) -> Evidence | None:
        runs = self._runs(study)
        other = f"{self.baseline_quantity or self.quantity}_other"
        pairs = self._pairs(runs).dropna(subset=other)
        if pairs.empty:
            return None
        values, others = pairs[self.quantity].astype(float), pairs[other].astype(float)
        is_ratio = self.shape == "ratio"
        compared = np.log(values / others) if is_ratio else values - others
        pairs = pairs.assign(compared=compared * (100 if self._unit else 1))
        spread = Spread(of_units("compared"), np.exp if is_ratio else float)
        few = pairs.groupby(PANEL)["seed"].nunique().min() < SEEDS_FOR_INTERVAL
        has_interval = unit_of(pairs) == "dataset" or not few
        figure = Estimate(*spread.bounded(pairs)) if has_interval else Estimate(spread.mean(pairs))
        mean = figure.text(times if is_ratio else signed, self._unit)
        sizes = ", ".join(map(percent, sorted(set(pairs["fraction"]))))
        ours = f"{mean} over {count(len(pairs), 'pair')}, fractions {sizes}"
        paired = runs["record"].isin({*pairs["record"], *pairs["record_other"]})
        return self._passing(figure, ours, runs.loc[paired, [*PANEL, "fraction", "record"]])

    def _pairs(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Return a row for each run of the subject with the matching run of the baseline."""
        own = self.grid.rows(runs, [self.subject])
        other = runs[runs["selector"] == self.baseline]
        same = {*PANEL, "fraction", "seed", *WORK}
        if self.baseline in CONTROLS:
            same -= {"fraction"}
        if self.under:
            same -= {"scheduler", "protocol_hash"}  # the hash contains the scheduler
            own = own[own["scheduler"] == self.under[0]]
            other = other[other["scheduler"] == self.under[1]]
        return own.merge(other, on=sorted(same), suffixes=("", "_other"))


class CorrelationClaim(MeanClaim):
    """The rank correlation, over data sets, of training rows and AUTOMATA's mean quantity."""

    shape: Literal["correlation"]
    quantity: Ratio

    @property
    def _figure(self) -> str:
        words = self._measure.words
        return f"over data sets, the rank correlation of training rows and the {words} of AUTOMATA"

    def _evidence(self, study: Study) -> Evidence | None:
        rows = self._rows(study)
        sets = rows["dataset"].nunique()
        shared = rows.groupby(["search", "scheduler", "fraction"])["dataset"].transform("nunique")
        rows = rows[shared == sets]
        if sets < FEWEST_DATA_SETS or rows.empty:
            return None
        logs = rows.assign(log=np.log(rows[self.quantity].astype(float)))
        values = logs.groupby("dataset")["log"].mean()
        sizes = self._runs(study).groupby("dataset")["train_rows"].median()[values.index]
        figure = Estimate(float(np.nan_to_num(spearmanr(sizes, values).statistic)))
        ours = f"rank correlation {figure.text('{:.2f}'.format)} over {sets} data sets"
        return self._passing(figure, ours, rows)
