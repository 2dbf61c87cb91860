"""Claims about one figure over all panels: it is above one threshold, below another, or both."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from automata import names
from automata.analysis.claims.claim import (
    MEASURES,
    Estimate,
    Evidence,
    GridClaim,
    Outcome,
    Ratio,
    SchedulerName,
    SelectorName,
)
from automata.analysis.ratios import SAME
from automata.analysis.statistics import Values, interval_of
from automata.analysis.study import PANEL, Study
from automata.analysis.wording import count, percent, signed, times
from automata.config.base import one_of
from automata.names import AUTOMATA, CONTROLS

WORK = [*SAME, "epochs", "configurations", "model", "train_rows"]
"""The columns that say where a run was made, what it tuned, and for how long."""

DATA_SETS = 5
"""A rank correlation of fewer data sets says nothing."""

QuantityName = Annotated[str, one_of(MEASURES)]


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

    def _passes(self, figure: Estimate, rows: pd.DataFrame) -> Outcome:
        return self._judged(figure, rows, self.above, self.below, of=len(self.grid.panels))


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
        subject, baseline = map(names.selector, self._selectors)
        if self.under:
            subject, baseline = (
                f"{name} under {scheduler}"
                for name, scheduler in zip((subject, baseline), self.under, strict=True)
            )
        sign = "over" if self.shape == "ratio" else "less"
        other = MEASURES[self.baseline_quantity or self.quantity].words
        figure = f"the {self._measure.words} of {subject} {sign} the {other} of {baseline}"
        return f"on average over pairs of runs, {figure}"

    @property
    def _selectors(self) -> list[str]:
        return [self.subject, self.baseline]

    def _evidence(self, study: Study) -> Evidence | None:
        runs = self._runs(study)
        pairs = self._pairs(runs)
        if pairs.empty:
            return None
        scale = 100 if self._unit else 1
        values = pairs[self.quantity]
        others = pairs[f"{self.baseline_quantity or self.quantity}_other"]
        compared = values / others if self.shape == "ratio" else values - others
        sample = compared.to_numpy(np.float64) * scale
        figure = Estimate(float(sample.mean()), *(interval_of(sample, pairs) or ()))
        shown = figure.shown(times if self.shape == "ratio" else signed, self._unit)
        sizes = ", ".join(map(percent, sorted(set(pairs["fraction"]))))
        ours = f"{shown} over {count(len(pairs), 'pair')}, fractions {sizes}"
        paired = runs["record"].isin({*pairs["record"], *pairs["record_other"]})
        rows = runs.loc[paired, [*PANEL, "fraction", "record"]]
        return self._passes(figure, rows), ours, rows

    def _pairs(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Return a row for each run of the subject and the run of the baseline that matches it."""
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
        rows = self._means(study)
        sets = rows["dataset"].nunique()
        shared = rows.groupby(["search", "scheduler", "fraction"])["dataset"].transform("nunique")
        rows = rows[shared == sets]
        if sets < DATA_SETS or rows.empty:
            return None
        values = rows.groupby("dataset")[self.quantity].mean()
        sizes = self._runs(study).groupby("dataset")["train_rows"].median()[values.index]
        pair = sizes.to_numpy(np.float64), values.to_numpy(np.float64)

        def correlations(draws: NDArray[np.intp]) -> Values:
            ranks = (rankdata(side[draws], axis=-1) for side in pair)
            a, b = (rank - rank.mean(axis=-1, keepdims=True) for rank in ranks)
            scale = np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
            result: Values = (a * b).sum(axis=-1) / np.where(scale > 0, scale, 1)
            return result

        figure = Estimate.bootstrapped(correlations, sets)
        ours = f"rank correlation {figure.shown('{:.2f}'.format)} over {sets} data sets"
        return self._passes(figure, rows), ours, rows
