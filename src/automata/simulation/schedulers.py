"""What early stopping makes of many searches at once; tests hold it against `tuning.search`."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from automata.config.sections import SchedulerSettings
from automata.registry import SCHEDULERS, load
from automata.simulation.table import Floats, Ints
from automata.training.progress import WORST_SCORE
from automata.tuning.schedulers import (
    Bracket,
    asha_rungs,
    hyperband_brackets,
    one_epoch,
    successive_halving,
)


def stopped_at(
    scheduler: str, scores: Floats, epochs: list[int], settings: SchedulerSettings
) -> Ints:
    """Return where each trial ends: (d, n) places in `epochs`.

    `scores` (d, n, e) are those of d searches of n trials, in the order of their proposal, at each
    of the `epochs`, of which the last is T. One trial trains at a time.
    """
    brackets = _brackets(scheduler, scores.shape[1], epochs[-1], settings)
    if brackets is not None:
        return _halving(scores, epochs, brackets, earlier=scheduler == "one-epoch")
    if scheduler == "asha":
        asha = settings.asha
        return _asha(scores, epochs, asha.reduction_factor, asha.grace_period)
    return np.full(scores.shape[:2], len(epochs) - 1)


def ended_before(
    scheduler: str, configurations: int, epochs: int, settings: SchedulerSettings
) -> list[int]:
    """Return for each trial how many of those before it have ended when it is proposed.

    One trial trains at a time. The trials of a bracket are proposed before one of them ends.
    """
    brackets = _brackets(scheduler, configurations, epochs, settings)
    if brackets is None:
        return list(range(configurations))
    firsts = accumulate((bracket.trials for bracket in brackets), initial=0)
    return [first for first, it in zip(firsts, brackets, strict=False) for _ in range(it.trials)]


def _brackets(
    scheduler: str, configurations: int, epochs: int, settings: SchedulerSettings
) -> list[Bracket] | None:
    """Return the brackets of a scheduler that halves them, None of another."""
    if scheduler == "hyperband":
        return hyperband_brackets(configurations, epochs, settings.hyperband.reduction_factor)
    if scheduler == "sha":
        return [successive_halving(configurations, epochs, settings.sha.reduction_factor)]
    return [one_epoch(configurations, epochs)] if scheduler == "one-epoch" else None


def _halving(
    scores: Floats, epochs: list[int], brackets: list[Bracket], earlier: bool = False
) -> Ints:
    """Let of equal scores those go on that were proposed later, or `earlier`."""
    ends = np.zeros(scores.shape[:2], dtype=np.int64)
    first = 0
    for bracket in brackets:
        members = slice(first, first + bracket.trials)
        first += bracket.trials
        alive = np.ones((len(scores), bracket.trials), dtype=bool)
        for rung, survivors in zip(bracket.rungs, [*bracket.survivors, 0], strict=True):
            place = epochs.index(rung)
            ends[:, members][alive] = place
            here = np.where(alive, scores[:, members, place], -np.inf)
            if earlier:
                order = bracket.trials - 1 - np.argsort(here[:, ::-1], axis=1, kind="stable")
            else:
                order = np.argsort(here, axis=1, kind="stable")
            going = order[:, max(0, bracket.trials - survivors) :]
            on = np.zeros_like(alive)
            np.put_along_axis(on, going, True, axis=1)
            alive &= on
    return ends


def _asha(scores: Floats, epochs: list[int], eta: int, grace: int) -> Ints:
    """Let a trial go on unless it is below Ray's percentile of those before it at the rung."""
    searches, trials, _ = scores.shape
    ends = np.zeros((searches, trials), dtype=np.int64)
    percent = (1 - 1 / eta) * 100
    alive = np.ones((searches, trials), dtype=bool)
    for rung in asha_rungs(epochs[-1], eta, grace):
        place = epochs.index(rung)
        ends[alive] = place
        # Trials train one after the other: those before, and still in at this rung, are all there.
        there = np.where(alive, scores[:, :, place], np.inf)
        marks = np.stack([_percentile(there[:, :trial], percent) for trial in range(trials)], 1)
        on = alive & ~(scores[:, :, place] < marks)
        alive &= on
    return ends


def _percentile(values: Floats, percent: float) -> Floats:
    """Return NumPy's percentile of each row (d,), without its infinite values; -inf of none."""
    count = np.isfinite(values).sum(axis=1)
    if not count.any():
        return np.full(len(values), -np.inf)
    place = np.maximum(count - 1, 0) * (percent / 100)  # in the order of NumPy
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    in_order = np.sort(values, axis=1)
    rows = np.arange(len(values))
    low, high = in_order[rows, below], in_order[rows, above]
    share = place - below
    # As NumPy rounds: from the nearer end.
    with np.errstate(invalid="ignore"):
        found = np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share))
    return np.where(count > 0, found, -np.inf)


def best_of(scheduler: str, scores: Floats, ends: Ints) -> Ints:
    """Return the best trial (d,), as `tuning.search` does; the earlier one wins a tie."""
    last = np.take_along_axis(scores, ends[:, :, None], axis=2)[:, :, 0]
    if load(SCHEDULERS, scheduler).furthest:
        came = np.where(last > WORST_SCORE, ends, -1)
        last = np.where(came == came.max(axis=1, keepdims=True), last, -np.inf)
    return np.asarray(np.argmax(last, axis=1))
