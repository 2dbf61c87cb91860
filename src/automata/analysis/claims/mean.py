"""Claims about a figure over all panels: it passes a threshold."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from automata.analysis.claims.claim import (
    FIRM,
    MEASURES,
    PANELS_MISSING,
    WORK,
    Estimate,
    Finding,
    GridClaim,
    Outcome,
    SchedulerName,
    SelectorName,
    selector_words,
)
from automata.analysis.statistics import Values, bootstrap_bounds, interval_of
from automata.analysis.study import PANEL, Study, panels
from automata.analysis.wording import count, percent, signed, times
from automata.config.base import one_of
from automata.names import AUTOMATA, CONTROLS

DATA_SETS = 5
"""A rank correlation of fewer data sets says nothing."""

QuantityName = Annotated[str, one_of(MEASURES)]

Sample = tuple[Estimate, str, pd.DataFrame] | None
"""An estimate, its words and the rows behind it; None if there are too few runs."""


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
    def _selectors(self) -> list[str]:
        return [AUTOMATA]

    @property
    def _unit(self) -> str:
        return ""

    @abstractmethod
    def _sample(self, study: Study) -> Sample: ...

    @property
    def rule(self) -> str:
        """The figure and its thresholds."""
        sides = {"above": self.above, "below": self.below}.items()
        bars = [f"{side} {bar:g}{self._unit}" for side, bar in sides if math.isfinite(bar)]
        return f"{self._figure} is {' and '.join(bars)}"

    def check(self, study: Study) -> Finding:
        """Return whether the figure passes the thresholds."""
        sample = self._sample(study)
        if sample is None:
            return self.not_run(study, self._selectors)
        estimate, ours, rows = sample
        outcome = self.weakened(estimate.between(self.above, self.below), rows)
        if outcome.firm == FIRM and len(panels(rows)) < len(self.grid.panels):
            outcome = Outcome(outcome.passes, PANELS_MISSING)
        return self.found(outcome, ours, rows)


class PairsClaim(MeanClaim):
    """The mean over pairs of runs: the subject's quantity less, or over, that of the baseline."""

    shape: Literal["difference", "ratio"]
    baseline_quantity: QuantityName | None = None
    subject: SelectorName = AUTOMATA
    baseline: SelectorName = AUTOMATA
    under: tuple[SchedulerName, SchedulerName] | None = None
    """The schedulers of subject and baseline, if they differ."""

    @property
    def _figure(self) -> str:
        names = list(map(selector_words, self._selectors))
        if self.under:
            names = [f"{name} under {where}" for name, where in zip(names, self.under, strict=True)]
        other = MEASURES[self.baseline_quantity or self.quantity]
        sides = [f"the {self._measure.words} of {names[0]}", f"the {other.words} of {names[1]}"]
        sign = "over" if self.shape == "ratio" else "less"
        return f"on average over pairs of runs, {f' {sign} '.join(sides)}"

    @property
    def _selectors(self) -> list[str]:
        return [self.subject, self.baseline]

    @property
    def _unit(self) -> str:
        return " pp" if self._measure.unit == "%" else ""

    def _sample(self, study: Study) -> Sample:
        runs = self.runs(study)
        own = self.grid.subsets(runs, [self.subject])
        other = runs[runs["selector"] == self.baseline]
        keys = ["dataset", "search", "seed", *WORK]
        if self.under:
            keys.remove("protocol_hash")  # it contains the scheduler
            own = own[own["scheduler"] == self.under[0]]
            other = other[other["scheduler"] == self.under[1]]
        else:
            keys.append("scheduler")
        if self.baseline not in CONTROLS:
            keys.append("fraction")
        pairs = own.merge(other, on=keys, suffixes=("", "_other"))
        if pairs.empty:
            return None
        values = pairs[self.quantity]
        others = pairs[f"{self.baseline_quantity or self.quantity}_other"]
        compared = values / others if self.shape == "ratio" else values - others
        sample = compared.to_numpy(np.float64) * (100 if self._unit else 1)
        mean, interval = float(sample.mean()), interval_of(sample, pairs)
        estimate = Estimate(mean, *(interval or (mean, mean)), few=interval is None)
        form = times if self.shape == "ratio" else signed
        sizes = ", ".join(map(percent, sorted(set(pairs["fraction"]))))
        shown = estimate.shown(form, self._unit)
        ours = f"{shown} over {count(len(pairs), 'pair')}, fractions {sizes}"
        paired = runs["record"].isin({*pairs["record"], *pairs["record_other"]})
        return estimate, ours, runs.loc[paired, [*PANEL, "fraction", "record"]]


class CorrelationClaim(MeanClaim):
    """The rank correlation, over data sets, of training rows and AUTOMATA's mean quantity."""

    shape: Literal["correlation"]

    @property
    def _figure(self) -> str:
        words = self._measure.words
        return f"over data sets, the rank correlation of training rows and the {words} of AUTOMATA"

    def _sample(self, study: Study) -> Sample:
        rows = self.grid.subsets(self.means(study), self._selectors)
        sets = rows["dataset"].nunique()
        shared = rows.groupby(["search", "scheduler", "fraction"])["dataset"].transform("nunique")
        rows = rows[shared == sets]
        if sets < DATA_SETS or rows.empty:
            return None
        values = rows.groupby("dataset")[self.quantity].mean()
        sizes = self.runs(study).groupby("dataset")["train_rows"].median()[values.index]
        pair = sizes.to_numpy(np.float64), values.to_numpy(np.float64)

        def correlations(draws: NDArray[np.intp]) -> Values:
            ranks = (rankdata(side[draws], axis=-1) for side in pair)
            a, b = (rank - rank.mean(axis=-1, keepdims=True) for rank in ranks)
            scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
            result: Values = (a * b).sum(axis=-1) / np.where(scale > 0, scale, 1)
            return result

        low, high = map(float, bootstrap_bounds(correlations, sets))
        estimate = Estimate(correlations(np.arange(sets)[None]).item(), low, high)
        ours = f"rank correlation {estimate.shown('{:.2f}'.format)} over {sets} data sets"
        return estimate, ours, rows
