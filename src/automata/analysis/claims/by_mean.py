"""Claims of a mean over runs: a sample of them, its figure with an interval, and a bar."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Annotated, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, PositiveInt, model_validator
from scipy.stats import rankdata

from automata.analysis.claims.claim import (
    Around,
    Claim,
    DatasetName,
    GridClaim,
    QuantityClaim,
    SchedulerName,
    SelectorName,
    Text,
)
from automata.analysis.claims.finding import (
    FIRM,
    FRACTIONS_MISSING,
    PANELS_MISSING,
    Estimate,
    Finding,
    Outcome,
    not_run,
    records_of,
)
from automata.analysis.quantities import QUANTITIES, RATIOS, SECONDS_PER_HOUR, VALIDATION
from automata.analysis.quantities import quantity as quantity_of
from automata.analysis.ratios import SAME
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, bootstrap_bounds, bounds, interval_of
from automata.analysis.study import PANEL, Study
from automata.analysis.study import panels as panels_in
from automata.analysis.wording import count, percent, signed, times
from automata.config.base import one_of
from automata.names import AUTOMATA, CONTROLS


class Sample(NamedTuple):
    """What the runs of a claim say on average."""

    outcome: Outcome
    ours: str
    """The mean in words."""
    rows: pd.DataFrame
    """The runs: their panels and records."""


class MeanClaim(Claim, ABC):
    """A claim about a mean over the runs of all its panels together.

    A kind says which runs, what their mean is, and whether it is what it must be.
    """

    @abstractmethod
    def _sample(self, study: Study) -> Sample | str:
        """Return what the runs say; where there are none, why."""

    def check(self, study: Study) -> Finding:
        """Return what the runs say, less firmly where panels are missing."""
        sample, of = self._sample(study), len(self.panels)
        if isinstance(sample, str):
            return not_run(sample, of)
        outcome, ours, rows = sample
        panels = tuple(panels_in(rows)) if of else ()
        missing = outcome.firm == FIRM and len(panels) < of
        firm = PANELS_MISSING if missing else outcome.firm
        return Finding(outcome.verdict, ours, firm, panels, of, records_of([rows]))


def _of_pairs(values: pd.Series, pairs: pd.DataFrame) -> Estimate:
    """Return the mean of `values`, one for each of `pairs`, with `statistics.interval_of`."""
    sample = values.to_numpy(dtype=np.float64)
    mean, interval = float(sample.mean()), interval_of(sample, pairs)
    return Estimate(mean, *(interval or (mean, mean)), few=interval is None)


def _both(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on either side of `pairs`; the columns of one side end in _other."""
    columns = [*PANEL, "record"]
    others = {name: pairs[f"{name}_other"] for name in columns if f"{name}_other" in pairs}
    return pd.concat([pairs[columns], pairs.assign(**others)[columns]])


COMPARABLE = {**RATIOS, "test_accuracy": QUANTITIES["test_accuracy"], VALIDATION.name: VALIDATION}


class PairedClaim(QuantityClaim, MeanClaim):
    """AUTOMATA's runs differ from another selector's in one direction, on average.

    Runs are paired by data set, search, scheduler, fraction and seed (with FULL, which has no
    fraction, by the others). The mean over all pairs of AUTOMATA's value less the other's must be
    above `more_than` or below `less_than`, whichever is given, in percentage points where the
    quantity is an accuracy.
    """

    against: SelectorName
    quantity: Annotated[str, one_of(COMPARABLE)]
    more_than: float | None = None
    less_than: float | None = None

    @model_validator(mode="after")
    def _one_bar(self) -> Self:
        if (self.more_than is None) == (self.less_than is None):
            raise ValueError("needs either more_than or less_than")
        return self

    @property
    def _of_accuracy(self) -> bool:
        return quantity_of(self.quantity).unit == "%"

    @property
    def rule(self) -> str:
        """Say what the mean difference must be."""
        bar = f"below {self.less_than:g}" if self.more_than is None else f"above {self.more_than:g}"
        unit = " percentage points" if self._of_accuracy else ""
        return (
            f"on average over pairs of runs, AUTOMATA's {quantity_of(self.quantity).words} less "
            f"that of {self.against.upper()} is {bar}{unit} (subsets of "
            f"{_sizes(self.grid.fractions)}){self._but_estimates}"
        )

    def _sample(self, study: Study) -> Sample | str:
        # Runs that do not compare with their FULL, or diverged, are out here too.
        runs = self._runs(study)
        keys = [*PANEL, "seed", *(["fraction"] if self.against not in CONTROLS else [])]
        other = runs.loc[runs["selector"] == self.against, [*keys, self.quantity, "record"]]
        own = self.grid.subsets(runs, [AUTOMATA])
        pairs = own.merge(other, on=keys, suffixes=("", "_other"))
        if not len(pairs):
            why = f"no pair of AUTOMATA and {self.against} in these panels"
            return self._why_missing(study, [AUTOMATA, self.against], why)
        scale, unit = (100, " pp") if self._of_accuracy else (1, "")
        differences = scale * (pairs[self.quantity] - pairs[f"{self.quantity}_other"])
        figure = _of_pairs(differences, pairs)
        sizes = _sizes(sorted(set(pairs["fraction"])))
        ours = f"{figure.shown(signed, unit)} over {count(len(pairs), 'pair')}, fractions {sizes}"
        return Sample(self._outcome(figure, pairs), ours, _both(pairs))

    def _outcome(self, figure: Estimate, pairs: pd.DataFrame) -> Outcome:
        if self.more_than is not None:
            outcome = figure.above(self.more_than)
        else:
            outcome = figure.below(self.less_than or 0.0)
        if outcome.firm == FIRM and self.grid.lacks_fractions(pairs):
            return Outcome(outcome.passes, FRACTIONS_MISSING)
        return outcome


def _sizes(fractions: Iterable[float]) -> str:
    return ", ".join(percent(fraction) for fraction in fractions)


WORK = ["epochs", "configurations", "model", "train_rows"]
"""What is tuned, and for how long: runs of two schedulers differ in their protocols anyway."""


class SchedulerClaim(GridClaim, MeanClaim):
    """FULL tunes faster under one scheduler than under another.

    Runs of FULL are paired by data set, search and seed; they must be of one host, device and
    software, and of the same epochs, configurations, model and number of training rows. The mean
    over pairs of seconds under `slower` / seconds under `faster` must be above 1.
    """

    faster: SchedulerName
    slower: SchedulerName

    @property
    def rule(self) -> str:
        """Say which ratio must be above 1."""
        return (
            f"on average over pairs of runs, FULL takes longer under {self.slower} than under "
            f"{self.faster}"
        )

    def _sample(self, study: Study) -> Sample | str:
        runs = study.runs[study.runs["set_aside"] == ""]
        full = self.grid.rows(runs[runs["selector"] == "full"])
        same = [column for column in SAME if column != "protocol_hash"]  # it holds the scheduler
        keys = ["dataset", "search", "seed", *same, *WORK]
        columns = [*keys, "total_seconds", "record", "scheduler"]
        fast, slow = (
            full.loc[full["scheduler"] == name, columns] for name in (self.faster, self.slower)
        )
        pairs = fast.merge(slow, on=keys, suffixes=("", "_other"))
        if not len(pairs):
            return f"no pair of FULL under {self.faster} and {self.slower}"
        figure = _of_pairs(pairs["total_seconds_other"] / pairs["total_seconds"], pairs)
        mean = figure.shown(times)
        ours = f"FULL takes {mean} as long under {self.slower} as under {self.faster}"
        return Sample(figure.above(1.0), ours, _both(pairs))


LEAST = 5
"""Data sets, below which a rank correlation says nothing."""


class TrendClaim(GridClaim, MeanClaim):
    """The larger the training set, the larger AUTOMATA's speedup.

    Spearman's rank correlation, over data sets, of the rows of the training set and the mean
    speedup over the combinations of search, scheduler and fraction that all data sets have, must
    be above `more_than`. With fewer than 5 data sets the claim is not run. The interval is a
    bootstrap over data sets.
    """

    more_than: Annotated[float, Field(ge=-1, le=1, description="A correlation")]

    @property
    def rule(self) -> str:
        """Say what must correlate."""
        return (
            f"over at least {LEAST} data sets, the rank correlation of training rows and "
            f"AUTOMATA's mean speedup is above {self.more_than:g}"
        )

    def _sample(self, study: Study) -> Sample | str:
        rows = self.grid.subsets(study.tradeoff, [AUTOMATA])
        sets = rows["dataset"].nunique()
        if sets < LEAST:
            return f"{sets} of the {LEAST} data sets that a correlation needs"
        shared = rows.groupby(["search", "scheduler", "fraction"])["dataset"].transform("nunique")
        rows = rows[shared == sets]
        if not len(rows):
            return "no search, scheduler and fraction that all data sets have"
        runs = study.runs[study.runs["selector"] == AUTOMATA]
        sizes = runs.groupby("dataset")["train_rows"].median()
        speedups = rows.groupby("dataset")["speedup"].mean()
        table = pd.DataFrame({"rows": sizes, "speedup": speedups}).dropna()
        (rank,) = _correlations(table, np.arange(len(table))[None]).tolist()
        limits = bootstrap_bounds(lambda draws: _correlations(table, draws), len(table))
        low, high = map(float, limits)
        figure = Estimate(rank, low, high)
        ours = f"rank correlation {figure.shown('{:.2f}'.format)} over {sets} data sets"
        return Sample(figure.above(self.more_than), ours, rows)


def _correlations(table: pd.DataFrame, draws: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return Spearman's correlation per row of `draws`; 0 where one of the columns is constant."""
    ranks = (rankdata(table[name].to_numpy()[draws], axis=-1) for name in ("rows", "speedup"))
    rows, speedups = (rank - rank.mean(axis=-1, keepdims=True) for rank in ranks)
    scale = np.sqrt((rows**2).sum(axis=-1) * (speedups**2).sum(axis=-1))
    products = (rows * speedups).sum(axis=-1)
    ranked: NDArray[np.float64] = np.zeros_like(scale)
    np.divide(products, scale, out=ranked, where=scale > 0)
    return ranked


class HoursClaim(MeanClaim):
    """One training on all data takes so many hours on a device.

    The mean of the final trainings of `model` for exactly `epochs` epochs on a device whose name
    holds `device` must lie within `around`, as a share, of `hours`, whichever selector they
    followed. Hours on another device would say nothing.
    """

    dataset: DatasetName
    model: Annotated[Text, Field(description="How the names of the models begin")]
    epochs: PositiveInt
    device: Text
    hours: PositiveFloat
    around: Around

    @property
    def rule(self) -> str:
        """Say how many hours, of what."""
        low, high = self._limits
        return (
            f"final trainings of {self._wanted} on a {self.device} take between {low:g} and "
            f"{high:g} hours on average"
        )

    @property
    def _limits(self) -> tuple[float, float]:
        return self.hours * (1 - self.around), self.hours * (1 + self.around)

    @property
    def _wanted(self) -> str:
        return f"{self.dataset} with {self.model}* for {self.epochs} epochs"

    def _sample(self, study: Study) -> Sample | str:
        runs = study.runs
        runs = runs[
            (runs["dataset"] == self.dataset)
            & runs["model"].str.startswith(self.model)
            & runs["device"].str.contains(self.device, regex=False)
            & (runs["final_epochs"] == self.epochs)
            & runs["final_failure"].isna()
            & (runs["set_aside"] == "")
        ]
        if not len(runs):
            return f"no training of {self._wanted} on a {self.device}"
        hours = (runs["final_seconds"] / SECONDS_PER_HOUR).to_numpy(dtype=np.float64)
        mean, (low, high) = float(hours.mean()), bounds(hours)
        few = runs["seed"].nunique() < SEEDS_FOR_INTERVAL
        models = ", ".join(sorted(runs["model"].unique()))
        ours = f"{mean:.3g} h ({low:.3g} to {high:.3g}) for {models}, {len(runs)} trainings"
        return Sample(Estimate(mean, low, high, few).between(*self._limits), ours, runs)
