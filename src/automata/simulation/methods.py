"""Ways of tuning, simulated on recorded curves: what each chooses, and its cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from automata import names
from automata.config.protocol import FINALIST_RUNGS
from automata.registry import SCHEDULERS, load
from automata.simulation.curves import FULL, DatasetCurves, Floats, Ints, Strategy
from automata.training.progress import WORST_SCORE
from automata.tuning.schedulers import FINALISTS, Asha, Bracket, Halving, rungs_below


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

    method: Method
    seeds: Ints
    ranked: Ints
    """(d, n) configurations, the best first."""
    reached: Ints
    """(d,) places of the last epochs of the best trials."""
    costs: Floats
    """(2, d)"""


class Outcome(NamedTuple):
    """What d searches chose, and what they cost with the final training."""

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
        """Yield each method whose curves are recorded, with its outcome; the first is FULL.

        RS2 also compares its trials by validation loss.
        """
        full, repeat, one_epoch = map(Method, (names.FULL, names.REPEAT, names.ONE_EPOCH))
        yield full, self.best(self.search(full))
        if len(self.recorded.seeds) > 1:
            yield repeat, self.best(self.search(repeat, repeat=True))
        for name in self.recorded.searches.schedulers:
            if name != self.scheduler:
                other = Method(f"{names.FULL}, {names.scheduler(name)}")
                yield other, self.best(self.search(other, name))
        seeds, first = self.sample.seeds[:, 0], self.sample.order[:, 0]
        yield Method(names.UNTUNED), self._finished(seeds, first, np.zeros((2, len(seeds))))
        yield one_epoch, self.best(self.search(one_epoch, "one-epoch"))
        for strategy, metric in product(self.recorded.curves, self.recorded.curves[FULL].scores):
            by_loss = metric == "log_loss"
            if strategy != FULL and (not by_loss or strategy.selector == "rs2"):
                name = f"{strategy.selector} {100 * strategy.fraction:g} %"
                if strategy.horizon_exponent:
                    name += f", beta {strategy.horizon_exponent:g}"
                method = Method(name + ", by loss" * by_loss, strategy, metric)
                searched = self.search(method)
                yield method, self.best(searched)
                name = f"{method.name}, {FINALISTS} finalists"
                yield method._replace(name=name, finalists=FINALISTS), self.best_finalist(searched)

    def search(self, method: Method, scheduler: str = "", *, repeat: bool = False) -> Searched:
        """Search as `method` does, by default under the scheduler of the comparison."""
        asked, curves = self.recorded.searches, self.recorded.curves[method.strategy]
        judge = load(SCHEDULERS, scheduler or self.scheduler)(
            asked.configurations, asked.epochs, asked.scheduler
        )
        seeds = self.sample.seeds[:, int(repeat)]
        proposals = self.sample.order[:, : asked.configurations]
        scores = curves.scores[method.metric][seeds[:, None], proposals]
        ends = ends_under(judge, scores, curves.epochs)
        costs = curves.costs[:, seeds[:, None], proposals, ends].sum(axis=2)
        order = best_first(judge, scores, ends)
        ranked, reached = (np.take_along_axis(it, order, axis=1) for it in (proposals, ends))
        return Searched(method, seeds, ranked, reached[:, 0], costs)

    def best(self, searched: Searched) -> Outcome:
        """Choose the best trial. On all data it continues to T, on subsets it trains anew."""
        seeds, chosen, costs = searched.seeds, searched.ranked[:, 0], searched.costs
        if searched.method.strategy == FULL:
            costs = costs - self.recorded.curves[FULL].costs[:, seeds, chosen, searched.reached]
        return self._finished(seeds, chosen, costs)

    def best_finalist(self, searched: Searched) -> Outcome:
        """Train the best trials on all data, and halve them: two continue at T/4, one at T/2.

        The better one in the search wins a tie.
        """
        full, seeds = self.recorded.curves[FULL], searched.seeds[:, None]
        finalists = searched.ranked[:, :FINALISTS]
        rungs = rungs_below(full.epochs[-1], FINALIST_RUNGS)
        judge = halving(finalists.shape[1], rungs, full.epochs[-1])
        ends = ends_under(judge, full.scores[searched.method.metric][seeds, finalists], full.epochs)
        lost = np.where(ends < ends.max(), full.costs[:, seeds, finalists, ends], 0).sum(axis=2)
        chosen = np.take_along_axis(finalists, ends.argmax(axis=1)[:, None], axis=1)[:, 0]
        return self._finished(searched.seeds, chosen, searched.costs + lost)

    def _finished(self, seeds: Ints, chosen: Ints, costs: Floats) -> Outcome:
        """Return the outcome of a final training; `costs` are those before it."""
        full = self.recorded.curves[FULL]
        return Outcome(chosen, full.test[seeds, chosen], costs + full.costs[:, seeds, chosen, -1])


def halving(trials: int, survivors: Mapping[int, int], epochs: int) -> Halving:
    """Return a scheduler that halves all `trials` at given rungs; earlier trials win ties.

    `survivors` maps each rung below T = `epochs` to the number of trials that go on.
    """
    scheduler = Halving([Bracket(trials, [*survivors, epochs], [*survivors.values()])])
    scheduler.most_rungs_win = True
    return scheduler


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
