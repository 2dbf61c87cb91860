"""Ways of tuning, simulated on recorded curves: what each chooses, and its cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from automata import names
from automata.config.protocol import FINALIST_RUNGS
from automata.loading import load
from automata.records.progress import WORST_SCORE
from automata.registry import SCHEDULERS
from automata.search.schedulers import FINALISTS, Asha, Halving, halving, rungs_below
from studies.curves.curves import FULL, DatasetCurves, Floats, Ints, Strategy

SCREENS = tuple(Strategy("rs2", 0.01, exponent) for exponent in (0.0, 0.5))
"""The searches of the hedge, which compare trials by validation loss."""
HEDGE_RUNGS = {0.1: 3, 0.3333: 2}
PLAIN_HALVING_RUNGS = {0.02: 9, 0.1: 5, 0.3333: 3}
"""Share of T -> how many trials stay there."""


class Method(NamedTuple):
    """A way of tuning, as tables describe it."""

    name: str
    strategy: Strategy = FULL
    """How the trials of its search train."""
    metric: str = "accuracy"
    """The score that compares trials and finalists."""
    finalists: int = 1
    """Trials that train on all data before one is chosen."""


class Sample(NamedTuple):
    """The order (d, p) in which d searches see the pool, and the places of their seeds."""

    order: Ints
    seeds: Ints
    """(d, 2): the seeds of the searches, and those of FULL's repeat."""


class Searched(NamedTuple):
    """d searches with n trials that have ended, before any final training."""

    seeds: Ints
    ranked: Ints
    """(d, n) configurations, the best first."""
    scores: Floats
    """(d, n) their last scores."""
    costs: Floats
    """(2, d); on all data without the best trial, which continues to T."""


class Outcome(NamedTuple):
    """The choices of d searches, and their cost with the final training."""

    chosen: Ints
    test: Floats
    """The test accuracies of the chosen configurations, trained on all data."""
    costs: Floats
    """(2, d)"""


@dataclass(frozen=True)
class Comparison:
    """One sample of searches, under one scheduler, on which all methods are compared."""

    recorded: DatasetCurves
    scheduler: str
    sample: Sample

    def outcomes(self) -> Iterator[tuple[Method, Outcome]]:
        """Yield each method whose curves are recorded, with its outcome; the first is FULL."""
        curves, judge = self.recorded.curves, self.judge(self.scheduler)
        yield Method(names.FULL), self.best(self.search(judge))
        if len(self.recorded.seeds) > 1:
            yield Method(names.REPEAT), self.best(self.search(judge, repeat=True))
        for name in self.recorded.searches.schedulers:
            if name != self.scheduler:
                other = Method(f"{names.FULL}, {names.scheduler(name)}")
                yield other, self.best(self.search(self.judge(name)))
        seeds, first = self.sample.seeds[:, 0], self.sample.order[:, 0]
        yield Method(names.UNTUNED), self._finished(seeds, first, np.zeros((2, len(seeds))))
        yield Method(names.ONE_EPOCH), self.best(self.search(self.judge("one-epoch")))
        trials = self.recorded.searches.configurations
        halves = halving_at(trials, curves[FULL].epochs, PLAIN_HALVING_RUNGS)
        yield Method(names.PLAIN_HALVING), self.best(self.search(halves))
        if curves.keys() >= {*SCREENS}:
            several = SCREENS[0]._replace(horizon_exponent=math.nan)
            screens = [self.search(judge, it, "log_loss") for it in SCREENS]
            outcome = self.best_finalist(screens, "accuracy", HEDGE_RUNGS)
            yield Method(names.HEDGE, several, "log_loss", FINALISTS), outcome
        for strategy, metric in product(curves, curves[FULL].scores):
            by_loss = metric == "log_loss"  # RS2 also compares its trials by validation loss
            if strategy != FULL and (not by_loss or strategy.selector == "rs2"):
                name = f"{strategy.selector} {100 * strategy.fraction:g} %"
                if strategy.horizon_exponent:
                    name += f", beta {strategy.horizon_exponent:g}"
                name += ", by loss" * by_loss
                searched = self.search(judge, strategy, metric)
                yield Method(name, strategy, metric), self.best(searched)
                outcome = self.best_finalist([searched], metric, FINALIST_RUNGS)
                name += f", {FINALISTS} finalists"
                yield Method(name, strategy, metric, FINALISTS), outcome

    def judge(self, scheduler: str) -> Halving | Asha:
        """Return a scheduler of one search."""
        asked = self.recorded.searches
        made: Halving | Asha = load(SCHEDULERS, scheduler)(
            asked.configurations, asked.epochs, asked.scheduler
        )
        return made

    def search(
        self,
        judge: Halving | Asha,
        strategy: Strategy = FULL,
        metric: str = "accuracy",
        *,
        repeat: bool = False,
    ) -> Searched:
        """Search under the scheduler `judge`, with trials that train by `strategy`."""
        curves, seeds = self.recorded.curves[strategy], self.sample.seeds[:, int(repeat)]
        proposals = self.sample.order[:, : self.recorded.searches.configurations]
        scores = curves.scores[metric][seeds[:, None], proposals]
        ends = ends_under(judge, scores, curves.epochs)
        last = np.take_along_axis(scores, ends[:, :, None], axis=2)[:, :, 0]
        order = best_first(judge, last, ends)
        each = curves.costs[:, seeds[:, None], proposals, ends]
        costs = each.sum(axis=2)
        if strategy == FULL:
            costs -= np.take_along_axis(each, order[None, :, :1], axis=2)[:, :, 0]
        ranked = np.take_along_axis(proposals, order, axis=1)
        return Searched(seeds, ranked, np.take_along_axis(last, order, axis=1), costs)

    def best(self, searched: Searched) -> Outcome:
        """Choose the best trial. On all data it continues to T, on subsets it trains anew."""
        return self._finished(searched.seeds, searched.ranked[:, 0], searched.costs)

    def best_finalist(
        self, screens: Sequence[Searched], metric: str, shares: Mapping[float, int]
    ) -> Outcome:
        """Train the best trials of each search on all data, and halve them at `shares` of T.

        Diverged trials and repeated ones are no finalists; the earlier finalist wins a tie.
        """
        full, seeds = self.recorded.curves[FULL], screens[0].seeds
        finalists = np.concatenate([it.ranked[:, :FINALISTS] for it in screens], axis=1)
        last = np.concatenate([it.scores[:, :FINALISTS] for it in screens], axis=1)
        train, first = last > WORST_SCORE, finalists.shape[1] // len(screens)
        repeated = finalists[:, first:, None] == finalists[:, None, :first]
        train[:, first:] &= ~(repeated & train[:, None, :first]).any(axis=2)
        scores = full.scores[metric][seeds[:, None], finalists]
        scores = np.where(train[:, :, None], scores, -1)  # scores are at least 0
        judge = halving_at(finalists.shape[1], full.epochs, shares)
        ends = ends_under(judge, scores, full.epochs)
        best = np.where(ends == ends.max(), scores[:, :, -1], -2).argmax(axis=1)[:, None]
        np.put_along_axis(train, best, False, axis=1)
        lost = np.where(train, full.costs[:, seeds[:, None], finalists, ends], 0).sum(axis=2)
        chosen = np.take_along_axis(finalists, best, axis=1)[:, 0]
        return self._finished(seeds, chosen, sum((it.costs for it in screens), lost))

    def _finished(self, seeds: Ints, chosen: Ints, costs: Floats) -> Outcome:
        """Return the outcome of a final training; `costs` are those before it."""
        full = self.recorded.curves[FULL]
        return Outcome(chosen, full.test[seeds, chosen], costs + full.costs[:, seeds, chosen, -1])


def halving_at(trials: int, epochs: Sequence[int], shares: Mapping[float, int]) -> Halving:
    """Return a scheduler that halves `trials` at the recorded `epochs` nearest to `shares` of T."""
    left = {
        min(epochs[:-1], key=lambda epoch: abs(epoch - rung)): stay
        for rung, stay in rungs_below(epochs[-1], shares).items()
    }
    scheduler = Halving([halving(trials, epochs[-1], left)])
    scheduler.most_rungs_win = True
    return scheduler


def ends_under(scheduler: Halving | Asha, scores: Floats, epochs: Sequence[int]) -> Ints:
    """Return the place in `epochs` at which each of n trials of d searches ends: (d, n).

    `scores` (d, n, e) are in the order of proposal, and one trial trains at a time. This is about
    100 times faster than the searches themselves.
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


def best_first(scheduler: Halving | Asha, last: Floats, ends: Ints) -> Ints:
    """Return the places of trials (d, n) by their `last` scores; earlier trials win ties."""
    if scheduler.most_rungs_win:
        reached = np.where(last > WORST_SCORE, ends, -1)
        last = np.where(reached == reached.max(axis=1, keepdims=True), last, -np.inf)
    return np.argsort(-last, axis=1, kind="stable")
