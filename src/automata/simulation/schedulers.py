"""Early stopping in many searches at once, by the decisions of the schedulers themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from automata.config.sections import SchedulerSettings
from automata.registry import SCHEDULERS, load
from automata.simulation.table import Floats, Ints
from automata.training.progress import WORST_SCORE
from automata.tuning.schedulers import Asha, Halving


def stopped_at(
    scheduler: str, scores: Floats, epochs: list[int], settings: SchedulerSettings
) -> Ints:
    """Return where each trial ends: (d, n) places in `epochs`.

    `scores` (d, n, e) are those of d searches of n trials, in the order of their proposal, at each
    of the `epochs`, of which the last is T. One trial trains at a time. Raises KeyError for a
    scheduler that the project does not have, and NotImplementedError for one without a rule here.
    """
    made = _made(scheduler, scores.shape[1], epochs[-1], settings)
    if isinstance(made, Halving):
        return _halved(made, scores, epochs)
    if isinstance(made, Asha):
        return _judged_alone(made, scores, epochs)
    raise NotImplementedError(f"{scheduler}: simulated searches do not know this scheduler")


def ended_before(
    scheduler: str, configurations: int, epochs: int, settings: SchedulerSettings
) -> list[int]:
    """Return for each trial how many trials have ended when it is proposed.

    One trial trains at a time.
    """
    made = _made(scheduler, configurations, epochs, settings)
    counts, ended = [], 0
    for trial in range(configurations):
        while made.proposals(ended, 1) <= trial:
            ended += 1
        counts.append(ended)
    return counts


def _made(scheduler: str, configurations: int, epochs: int, settings: SchedulerSettings) -> Any:
    return load(SCHEDULERS, scheduler)(configurations, epochs, settings)


def _halved(scheduler: Halving, scores: Floats, epochs: list[int]) -> Ints:
    """Halve all brackets at their rungs."""
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


def _judged_alone(scheduler: Asha, scores: Floats, epochs: list[int]) -> Ints:
    """Compare each trial at a rung with the trials that came to this rung before it."""
    ends = np.zeros(scores.shape[:2], dtype=np.int64)
    alive = np.ones(scores.shape[:2], dtype=bool)
    for rung in scheduler.rungs(0):
        place = epochs.index(rung)
        ends[alive] = place
        came = np.argsort(~alive, axis=1, kind="stable")  # trials at the rung first, in order
        here = np.take_along_axis(scores[:, :, place], came, axis=1)
        count = alive.sum(axis=1)
        for earlier in range(count.max()):
            rows = np.flatnonzero(count > earlier)
            stops = rows[scheduler.stops(here[rows, earlier], here[rows, :earlier])]
            alive[stops, came[stops, earlier]] = False
    return ends


def best_of(scheduler: str, scores: Floats, ends: Ints) -> Ints:
    """Return the best trial (d,) as `tuning.search` does; the earlier trial wins a tie."""
    last = np.take_along_axis(scores, ends[:, :, None], axis=2)[:, :, 0]
    if load(SCHEDULERS, scheduler).most_rungs_win:
        came = np.where(last > WORST_SCORE, ends, -1)
        last = np.where(came == came.max(axis=1, keepdims=True), last, -np.inf)
    return np.asarray(np.argmax(last, axis=1))
