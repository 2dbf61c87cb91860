"""The second shape of a claim: a figure over all panels passes a threshold."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from automata.analysis.claims.claim import (
    FIRM,
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
from automata.analysis.quantities import QUANTITIES, VALIDATION, quantity, words
from automata.analysis.statistics import Values, bootstrap_bounds, interval_of
from automata.analysis.study import PANEL, Study, panels
from automata.analysis.wording import count, percent, signed, times
from automata.config.base import one_of
from automata.names import AUTOMATA, CONTROLS

DATA_SETS = 5
"""A rank correlation of fewer data sets says nothing."""

QuantityName = Annotated[str, one_of([*QUANTITIES, VALIDATION.name])]

Sample = tuple[Estimate, str, pd.DataFrame] | None
"""An estimate, its words and the rows behind it."""


class MeanClaim(GridClaim):
    """A figure over all panels is above one threshold, below another, or both.

    `difference` and `ratio` are means over pairs of runs, of the subject's quantity less, or over,
    that of the baseline. `correlation` is the rank correlation, over data sets, of training rows
    and the subject's mean.
    """

    shape: Literal["mean"]
    figure: Literal["difference", "ratio", "correlation"]
    quantity: QuantityName
    baseline_quantity: QuantityName | None = None
    subject: SelectorName = AUTOMATA
    baseline: SelectorName = AUTOMATA
    under: tuple[SchedulerName, SchedulerName] | None = None
    """The schedulers of subject and baseline, if they differ."""
    above: float = -math.inf
    below: float = math.inf

    @property
    def rule(self) -> str:
        """The figure and its thresholds."""
        names = [selector_words(self.subject), selector_words(self.baseline)]
        if self.under:
            names = [f"{name} under {where}" for name, where in zip(names, self.under, strict=True)]
        own = f"the {words(self.quantity)} of {names[0]}"
        other = f"the {words(self.baseline_quantity or self.quantity)} of {names[1]}"
        sides = {"above": self.above, "below": self.below}.items()
        bars = [f"{side} {bar:g}{self._unit}" for side, bar in sides if math.isfinite(bar)]
        figure = {
            "difference": f"on average over pairs of runs, {own} less {other}",
            "ratio": f"on average over pairs of runs, {own} over {other}",
            "correlation": f"over data sets, the rank correlation of training rows and {own}",
        }[self.figure]
        return f"{figure} is {' and '.join(bars)}"

    @property
    def _unit(self) -> str:
        return " pp" if quantity(self.quantity).unit == "%" else ""

    def check(self, study: Study) -> Finding:
        """Return whether the figure passes the thresholds."""
        sample = self._correlation(study) if self.figure == "correlation" else self._pairs(study)
        if sample is None:
            return self.not_run(study, [self.subject, self.baseline])
        estimate, ours, rows = sample
        outcome = self.weakened(estimate.between(self.above, self.below), rows)
        if outcome.firm == FIRM and len(panels(rows)) < len(self.grid.panels):
            outcome = Outcome(outcome.passes, PANELS_MISSING)
        return self.found(outcome, ours, rows)

    def _pairs(self, study: Study) -> Sample:
        """Return the mean over pairs of runs; None if there are none."""
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
        compared = values / others if self.figure == "ratio" else values - others
        sample = compared.to_numpy(np.float64) * (100 if self._unit else 1)
        mean, interval = float(sample.mean()), interval_of(sample, pairs)
        estimate = Estimate(mean, *(interval or (mean, mean)), few=interval is None)
        form = times if self.figure == "ratio" else signed
        sizes = ", ".join(map(percent, sorted(set(pairs["fraction"]))))
        shown = estimate.shown(form, self._unit)
        ours = f"{shown} over {count(len(pairs), 'pair')}, fractions {sizes}"
        paired = runs["record"].isin({*pairs["record"], *pairs["record_other"]})
        return estimate, ours, runs.loc[paired, [*PANEL, "fraction", "record"]]

    def _correlation(self, study: Study) -> Sample:
        """Return the rank correlation over data sets; None if there are too few."""
        rows = self.grid.subsets(self.means(study), [self.subject])
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
