"""Ways of tuning, simulated on recorded curves: what each chooses, and its cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from automata import names
from automata.config.protocol import FINALIST_RUNGS
from automata.registry import SCHEDULERS, load
from automata.simulation.curves import FULL, Floats, Ints, PoolCurves, Strategy
from automata.simulation.grid import Simulated
from automata.training.progress import WORST_SCORE
from automata.tuning.schedulers import FINALISTS, Asha, Halving, rungs_below

BY_LOSS = ("rs2",)
"""Selectors whose trials are compared by validation loss as well."""


class Method(NamedTuple):
    """A way of tuning: how trials train and are compared, and how one is chosen."""

    name: str
    strategy: Strategy = FULL
    metric: str = "accuracy"
    finalists: int = 1
    """Trials that train on all data before one is chosen."""
    scheduler: str = ""
    """If empty, the scheduler of the comparison."""
    repeat: bool = False
    """Whether the search and the final training have the seeds of FULL's repeat."""

    @property
    def search(self) -> Method:
        """The method without its choice: methods that agree in it have the same searches."""
        return self._replace(name="", finalists=1)


def methods(
    strategies: Iterable[Strategy], schedulers: Iterable[str], *, repeated: bool
) -> Iterator[Method]:
    """Yield the methods that can be simulated with these `strategies`; the first is FULL.

    FULL also searches under each of the other `schedulers`. It is `repeated` if there are several
    seeds.
    """
    yield Method(names.FULL)
    if repeated:
        yield Method(names.REPEAT, repeat=True)
    for name in schedulers:
        yield Method(f"{names.FULL}, {names.scheduler(name)}", scheduler=name)
    yield Method(names.UNTUNED)
    yield Method(names.ONE_EPOCH, scheduler="one-epoch")
    for strategy, metric in product(strategies, ("accuracy", "log_loss")):
        by_loss = metric == "log_loss"
        if strategy != FULL and (not by_loss or strategy.selector in BY_LOSS):
            name = f"{strategy.selector} {100 * strategy.fraction:g} %"
            if strategy.horizon_exponent:
                name += f", beta {strategy.horizon_exponent:g}"
            name += ", by loss" * by_loss
            yield Method(name, strategy, metric)
            yield Method(f"{name}, {FINALISTS} finalists", strategy, metric, FINALISTS)


class Sample(NamedTuple):
    """d searches: the order (d, p) in which they see the pool, and places of their seeds (d,)."""

    order: Ints
    seeds: Ints
    repeat_seeds: Ints
    """The seeds of FULL's repeat."""


class Searched(NamedTuple):
    """d searches with n trials that have ended, before any final training."""

    seeds: Ints
    ranked: Ints
    """(d, n) configurations, the best first."""
    reached: Ints
    """(d,) places of the last epochs of the best trials."""
    costs: Floats
    """(2, d)"""


Outcome = tuple[Floats, Floats]
"""Test accuracies (d,) of chosen configurations, trained on all data, and total costs (2, d)."""


@dataclass(frozen=True)
class Comparison:
    """One sample of searches, under one scheduler, on which all methods are compared."""

    searches: Simulated
    curves: dict[Strategy, PoolCurves]
    scheduler: str
    sample: Sample

    def outcomes(self, compared: Iterable[Method]) -> Iterator[Outcome]:
        """Yield the outcome of each method; neighbours with the same searches share them."""
        for search, group in groupby(compared, attrgetter("search")):
            searched = self._search(search)
            for method in group:
                if method.name == names.UNTUNED:
                    yield self._finish(searched.seeds, self.sample.order[:, 0], 0 * searched.costs)
                elif method.finalists == 1:
                    yield self._best(method, searched)
                else:
                    yield self._best_finalist(method, searched)

    def _search(self, method: Method) -> Searched:
        searches, curves = self.searches, self.curves[method.strategy]
        scheduler = load(SCHEDULERS, method.scheduler or self.scheduler)(
            searches.configurations, searches.epochs, searches.scheduler
        )
        seeds = self.sample.repeat_seeds if method.repeat else self.sample.seeds
        proposals = self.sample.order[:, : searches.configurations]
        scores = curves.scores(method.metric)[seeds[:, None], proposals]
        ends = ends_under(scheduler, scores, curves.epochs)
        costs = curves.costs[:, seeds[:, None], proposals, ends].sum(axis=2)
        order = best_first(scheduler, scores, ends)
        ranked, reached = (np.take_along_axis(it, order, axis=1) for it in (proposals, ends))
        return Searched(seeds, ranked, reached[:, 0], costs)

    def _best(self, method: Method, searched: Searched) -> Outcome:
        """Choose the best trial. On all data it continues to T, on subsets it trains anew."""
        seeds, chosen, costs = searched.seeds, searched.ranked[:, 0], searched.costs
        if method.strategy == FULL:
            costs = costs - self.curves[FULL].costs[:, seeds, chosen, searched.reached]
        return self._finish(seeds, chosen, costs)

    def _best_finalist(self, method: Method, searched: Searched) -> Outcome:
        """Train the best trials on all data, and halve them: two continue at T/4, one at T/2.

        Trials are compared by the metric of the search; the better one in the search wins a tie.
        """
        full = self.curves[FULL]
        scores, seeds = full.scores(method.metric), searched.seeds[:, None]
        left, lost = searched.ranked[:, : method.finalists], np.zeros_like(searched.costs)
        for epoch, count in rungs_below(full.epochs[-1], FINALIST_RUNGS).items():
            place = full.epochs.index(epoch)
            order = np.argsort(-scores[seeds, left, place], axis=1, kind="stable")
            ended = np.take_along_axis(left, order[:, count:], axis=1)
            lost += full.costs[:, seeds, ended, place].sum(axis=2)
            left = np.take_along_axis(left, np.sort(order[:, :count], axis=1), axis=1)
        return self._finish(searched.seeds, left[:, 0], searched.costs + lost)

    def _finish(self, seeds: Ints, chosen: Ints, costs: Floats) -> Outcome:
        """Return the outcome of a final training; `costs` are those before it."""
        full = self.curves[FULL]
        return full.test[seeds, chosen], costs + full.costs[:, seeds, chosen, -1]


def ends_under(scheduler: Halving | Asha, scores: Floats, epochs: Sequence[int]) -> Ints:
    """Return the place in `epochs` at which each trial ends: (d, n).

    `scores` (d, n, e) are those of d searches of n trials, in the order of their proposal. One
    trial trains at a time. This is about 100 times faster than to run the searches themselves, with
    which tests compare it.
    """
    if isinstance(scheduler, Halving):
        return _halved(scheduler, scores, epochs)
    return _judged_alone(scheduler, scores, epochs)


def _halved(scheduler: Halving, scores: Floats, epochs: Sequence[int]) -> Ints:
    """Halve each bracket at its rungs."""
    ends = np.zeros(scores.shape[:2], dtype=np.int64)
    first = 0
    for bracket in scheduler.brackets:
        members = slice(first, first + bracket.trials)
        first += bracket.trials
        alive = np.ones((len(scores), bracket.trials), dtype=bool)
        for rung, survivors in zip(bracket.rungs, [*bracket.survivors, 0], strict=True):
            place = epochs.index(rung)
            ends[:, members][alive] = place
            order = scheduler.worst_first(np.where(alive, scores[:, members, place], -np.inf))
            stopped = order[:, : max(0, bracket.trials - survivors)]
            np.put_along_axis(alive, stopped, False, axis=1)
    return ends


def _judged_alone(scheduler: Asha, scores: Floats, epochs: Sequence[int]) -> Ints:
    """Compare each trial at a rung with the trials that reached this rung before it."""
    ends = np.zeros(scores.shape[:2], dtype=np.int64)
    alive = np.ones(scores.shape[:2], dtype=bool)
    for rung in scheduler.rungs(0):
        place = epochs.index(rung)
        ends[alive] = place
        here_first = np.argsort(~alive, axis=1, kind="stable")  # trials at the rung, in order
        here = np.take_along_axis(scores[:, :, place], here_first, axis=1)
        count = alive.sum(axis=1)
        for earlier in range(count.max()):
            rows = np.flatnonzero(count > earlier)
            stops = rows[scheduler.stops(here[rows, earlier], here[rows, :earlier])]
            alive[stops, here_first[stops, earlier]] = False
    return ends


def best_first(scheduler: Halving | Asha, scores: Floats, ends: Ints) -> Ints:
    """Return the places of the trials (d, n), the best first; earlier trials win ties."""
    last = np.take_along_axis(scores, ends[:, :, None], axis=2)[:, :, 0]
    if scheduler.most_rungs_win:
        reached = np.where(last > WORST_SCORE, ends, -1)
        last = np.where(reached == reached.max(axis=1, keepdims=True), last, -np.inf)
    return np.argsort(-last, axis=1, kind="stable")
