"""Ways of tuning as functions of recorded learning curves: what each chooses, and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from automata.config.methods import SchedulerSettings
from automata.simulation.schedulers import best_of, stopped_at
from automata.simulation.table import FULL, Curved, Way
from automata.tuning.schedulers import finalist_rungs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Method:
    """One way of tuning."""

    name: str
    way: Way = FULL
    """How trials train."""
    metric: str = "accuracy"
    """What trials are compared by."""
    finalists: int = 1
    """Configurations that go on to all data after the search."""
    repeat: bool = False
    """FULL once more, under another training seed."""
    scheduler: str | None = None
    """What stops trials early, where that is the method; else what it is compared under."""

    @classmethod
    def of(cls, way: Way) -> Method:
        """Return the search whose trials train in that way, with its name."""
        if way == FULL:
            return cls("FULL")
        name = f"{way.selector} {100 * way.fraction:g} %"
        if way.warm_start:
            name += f", warm start {way.warm_start:g}"
        if way.horizon_exponent:
            name += f", beta {way.horizon_exponent:g}"
        return cls(name, way)


class Draws(NamedTuple):
    """Searches: which configurations they propose, in which order, under which training seed."""

    proposals: Ints
    """(d, n) places in the pool."""
    seeds: Ints
    """(d,) places among the seeds."""


class Outcome(NamedTuple):
    """What d searches chose and took."""

    chosen: Ints
    """(d,) places in the pool."""
    test: Floats
    """(d,) test accuracy of the chosen configuration trained on all data."""
    samples: Floats
    """(d,) of search and final training."""
    seconds: Floats
    """(d,) of CPU."""


def outcome(
    method: Method,
    curves: Curved,
    full: Curved,
    draws: Draws,
    scheduler: str,
    settings: SchedulerSettings,
) -> Outcome:
    """Return what `method` does in each of the `draws`; `full` are the curves on all data."""
    if method.repeat:
        draws = draws._replace(seeds=(draws.seeds + 1) % len(full.accuracy))
    if method.scheduler == "untuned":
        return _finished(full, draws, draws.proposals[:, 0], np.zeros((2, len(draws.seeds))))
    scheduler = method.scheduler or scheduler
    scores = _drawn(curves.scores(method.metric), draws)
    ends = stopped_at(scheduler, scores, curves.epochs, settings)
    spent = np.stack([_spent(of, draws, ends) for of in (curves.samples, curves.seconds)])
    if method.finalists > 1:
        return _finalists(method, full, draws, scores, ends, spent)
    place = best_of(scheduler, scores, ends)
    chosen = np.take_along_axis(draws.proposals, place[:, None], axis=1)[:, 0]
    if method.way == FULL:  # its best trial goes on, where it was stopped
        reached = np.take_along_axis(ends, place[:, None], axis=1)[:, 0]
        for row, of in enumerate((full.samples, full.seconds)):
            spent[row] -= of[draws.seeds, chosen, reached]
    return _finished(full, draws, chosen, spent)


def _drawn(values: Floats, draws: Draws) -> Floats:
    """Return (d, n, e) of the drawn configurations of (s, p, e) values."""
    return values[draws.seeds[:, None], draws.proposals]


def _spent(values: Floats, draws: Draws, ends: Ints) -> Floats:
    """Return what trials took until they ended, in all: (d,)."""
    every = np.take_along_axis(_drawn(values, draws), ends[:, :, None], axis=2)
    return np.asarray(every.sum(axis=(1, 2)))


def _finished(full: Curved, draws: Draws, chosen: Ints, spent: Floats) -> Outcome:
    """Return the outcome with the final training, or the rest of it, added to what is `spent`."""
    return Outcome(
        chosen=chosen,
        test=full.test[draws.seeds, chosen],
        samples=spent[0] + full.samples[draws.seeds, chosen, -1],
        seconds=spent[1] + full.seconds[draws.seeds, chosen, -1],
    )


def _halved(full: Curved, draws: Draws, finalists: Ints, metric: str) -> tuple[Ints, Floats]:
    """Return the best of the `finalists` (d, m), and samples and seconds of those that lose.

    All train on all data to T/4, the best two to T/2, the best to T; the earlier wins a tie.
    """
    spent = np.zeros((2, len(draws.seeds)))
    scores = full.scores(metric)
    for epoch, left in finalist_rungs(full.epochs[-1]).items():
        place = full.place(epoch)
        here = scores[draws.seeds[:, None], finalists, place]
        order = np.argsort(-here, axis=1, kind="stable")
        out = np.take_along_axis(finalists, order[:, left:], axis=1)
        for row, of in enumerate((full.samples, full.seconds)):
            spent[row] += of[draws.seeds[:, None], out, place].sum(axis=1)
        finalists = np.take_along_axis(finalists, np.sort(order[:, :left], axis=1), axis=1)
    return finalists[:, 0], spent


def _finalists(
    method: Method, full: Curved, draws: Draws, scores: Floats, ends: Ints, spent: Floats
) -> Outcome:
    """Train the best configurations of a search on all data, and halve them."""
    last = np.take_along_axis(scores, ends[:, :, None], axis=2)[:, :, 0]
    order = np.argsort(-last, axis=1, kind="stable")
    best = np.take_along_axis(draws.proposals, order[:, : method.finalists], axis=1)
    chosen, lost = _halved(full, draws, best, method.metric)
    return _finished(full, draws, chosen, spent + lost)
