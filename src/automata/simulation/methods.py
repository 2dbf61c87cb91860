"""Ways of tuning as functions of recorded learning curves: what each chooses, and its cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from automata import names
from automata.config.sections import SchedulerSettings
from automata.simulation.schedulers import best_of, ended_before, stopped_at
from automata.simulation.table import COSTS, FULL, Curved, Floats, Ints, Way
from automata.tuning.schedulers import finalist_rungs


@dataclass(frozen=True)
class Method:
    """One way of tuning."""

    way: Way = FULL
    """How trials train."""
    metric: str = "accuracy"
    """What trials are compared by."""
    finalists: int = 1
    """Configurations that go on to all data after the search."""
    repeat: bool = False
    """FULL once more: its search and its final training are under another seed."""
    scheduler: str | None = None
    """Its own scheduler; None: that of the comparison."""
    searches: bool = True
    """Whether it searches at all; else it trains the first proposal."""

    @property
    def name(self) -> str:
        """What tables call it."""
        if not self.searches:
            return names.UNTUNED
        parts = [self._trained]
        if self.way.warm_start:
            parts.append(f"warm start {self.way.warm_start:g}")
        if self.way.horizon_exponent:
            parts.append(f"beta {self.way.horizon_exponent:g}")
        if self.metric == "log_loss":
            parts.append("by loss")
        if self.finalists > 1:
            parts.append(f"{self.finalists} finalists")
        return ", ".join(parts)

    @property
    def _trained(self) -> str:
        if self.repeat:
            return names.REPEAT
        if self.scheduler == "one-epoch":
            return names.ONE_EPOCH
        if self.scheduler:
            return f"{names.FULL}, {names.scheduler(self.scheduler)}"
        if self.way == FULL:
            return names.FULL
        return f"{self.way.selector} {100 * self.way.fraction:g} %"


class Draws(NamedTuple):
    """Searches: in which order they see the pool, how far, and under which training seed."""

    pool: Ints
    """(d, p) configurations; random search proposes the first."""
    configurations: int
    """Of a search."""
    seeds: Ints
    """(d,) places among the seeds."""
    others: Ints
    """(d,) the same of FULL's repeat."""


class Proposals(Protocol):
    """A search algorithm on arrays."""

    def __call__(
        self,
        scores: Floats,
        draws: Draws,
        ended: Sequence[int],
        stopped: Callable[[Floats], Ints],
    ) -> Ints:
        """Return the places (d, n) in `draws.pool` that are proposed, in order.

        `scores` (d, p, e) are those of the pool, in its order. When trial i is proposed, the first
        `ended[i]` have ended. `stopped` returns where trials (d, n) with such scores end.
        """
        ...


def drawn(
    scores: Floats, draws: Draws, ended: Sequence[int], stopped: Callable[[Floats], Ints]
) -> Ints:
    """Return what random search proposes."""
    return np.tile(np.arange(draws.configurations), (len(scores), 1))


class Outcome(NamedTuple):
    """What d searches chose and took."""

    chosen: Ints
    """(d,) places in the pool."""
    test: Floats
    """(d,) test accuracy of the chosen configuration trained on all data."""
    costs: Floats
    """(3, d) of search and final training, by `COSTS`."""


class Searched(NamedTuple):
    """Searches that have ended, before any final training."""

    scheduler: str
    seeds: Ints
    """(d,) places among the seeds."""
    proposals: Ints
    """(d, n) configurations."""
    scores: Floats
    """(d, n, e)"""
    ends: Ints
    """(d, n) places among the epochs."""


def searched(
    method: Method,
    curves: Curved,
    draws: Draws,
    scheduler: str,
    settings: SchedulerSettings,
    propose: Proposals = drawn,
) -> Searched:
    """Return the searches of `method`, whose trials have these `curves`."""
    scheduler = method.scheduler or scheduler
    seeds = draws.others if method.repeat else draws.seeds
    of_pool = curves.scores(method.metric)[seeds[:, None], draws.pool]

    def stopped(scores: Floats) -> Ints:
        return stopped_at(scheduler, scores, curves.epochs, settings)

    ended = ended_before(scheduler, draws.configurations, curves.epochs[-1], settings)
    places = propose(of_pool, draws, ended, stopped)
    proposals = np.take_along_axis(draws.pool, places, axis=1)
    scores = np.take_along_axis(of_pool, places[:, :, None], axis=1)
    return Searched(scheduler, seeds, proposals, scores, stopped(scores))


def untuned(full: Curved, draws: Draws) -> Outcome:
    """Return what comes of the first proposal without a search."""
    return _finished(full, draws.seeds, draws.pool[:, 0], np.zeros((len(COSTS), 1)))


def outcome(method: Method, found: Searched, curves: Curved, full: Curved) -> Outcome:
    """Return what `method` chooses after such searches; `full` are the curves on all data."""
    _, seeds, proposals, scores, ends = found
    spent = curves.costs[:, seeds[:, None], proposals, ends].sum(axis=2)
    if method.finalists > 1:
        last = np.take_along_axis(scores, ends[:, :, None], axis=2)[:, :, 0]
        order = np.argsort(-last, axis=1, kind="stable")
        best = np.take_along_axis(proposals, order[:, : method.finalists], axis=1)
        chosen, lost = _halved(full, seeds, best, method.metric)
        return _finished(full, seeds, chosen, spent + lost)
    place = best_of(found.scheduler, scores, ends)[:, None]
    chosen = np.take_along_axis(proposals, place, axis=1)[:, 0]
    if method.way == FULL:  # its best trial goes on, where it was stopped
        reached = np.take_along_axis(ends, place, axis=1)[:, 0]
        spent = spent - full.costs[:, seeds, chosen, reached]
    return _finished(full, seeds, chosen, spent)


def _finished(full: Curved, seeds: Ints, chosen: Ints, spent: Floats) -> Outcome:
    """Return the outcome with the final training, or the rest of it, added to what is `spent`."""
    costs = spent + full.costs[:, seeds, chosen, -1]
    return Outcome(chosen, full.test[seeds, chosen], costs)


def _halved(full: Curved, seeds: Ints, finalists: Ints, metric: str) -> tuple[Ints, Floats]:
    """Return the best of the `finalists` (d, m), and what those that lose took: (3, d).

    All train on all data to T/4, the best two to T/2, the best to T; the earlier wins a tie.
    """
    spent = np.zeros((len(COSTS), len(seeds)))
    scores = full.scores(metric)
    for epoch, left in finalist_rungs(full.epochs[-1]).items():
        place = full.epochs.index(epoch)
        here = scores[seeds[:, None], finalists, place]
        order = np.argsort(-here, axis=1, kind="stable")
        out = np.take_along_axis(finalists, order[:, left:], axis=1)
        spent += full.costs[:, seeds[:, None], out, place].sum(axis=2)
        finalists = np.take_along_axis(finalists, np.sort(order[:, :left], axis=1), axis=1)
    return finalists[:, 0], spent
