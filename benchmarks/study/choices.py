"""What each way of tuning in docs/study.md chooses and takes: arithmetic on validation curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from automata.config.methods import SchedulerSettings
from automata.registry import load
from automata.simulation.schedulers import best_of, stopped_at
from automata.tuning import SCHEDULERS
from benchmarks.study.result import LARGER

SETTINGS = SchedulerSettings()
"""Hyperband with eta 3; ASHA with eta 4 from epoch 1."""
EXPONENTS = (0.0, 0.5)


class Point(NamedTuple):
    """One training at one rung."""

    right: int
    """Validation rows classified right; 0 after a divergence, the worst that searches know."""
    loss: float | None
    """Mean cross-entropy on the validation rows; None after a divergence."""
    samples: int
    """Samples trained so far."""
    cpu: float
    """CPU seconds of the training so far, without evaluations."""
    evaluation: float
    """CPU seconds of this evaluation."""

    @property
    def likelihood(self) -> float:
        """What a screen maximises."""
        return -math.inf if self.loss is None else -self.loss


Curve = dict[int, Point]
"""One training by epoch."""
Rungs = dict[int, list[int]]
"""The epochs at which each trial is evaluated; it ends at the last one."""
Cost = tuple[int, float]
"""Samples and CPU seconds."""


class Choice(NamedTuple):
    """What a way of tuning ends with."""

    trial: int
    fresh: bool
    """Whether the model is a fresh training, not the one of FULL."""
    samples: int
    cpu_seconds: float


def share(epochs: int, divisor: int) -> int:
    """Return T/divisor, rounded, at least 1."""
    return max(1, math.floor(epochs / divisor + 0.5))


def all_rungs(epochs: int) -> list[int]:
    """Return the epochs at which anything in the study looks at a training."""
    configurations = max(LARGER)  # more configurations open more brackets
    found = {1, epochs, *(share(epochs, divisor) for divisor in (50, 10, 4, 3, 2))}
    for name in ("hyperband", "asha", "one-epoch"):
        scheduler = load(SCHEDULERS, name)(configurations, epochs, SETTINGS)
        found.update(*(scheduler.rungs(trial) for trial in range(configurations)))
    return sorted(found)


def search(name: str, scores: Sequence[Mapping[int, float]]) -> tuple[int, Rungs]:
    """Return the best trial of a search under a scheduler, and where trials were evaluated.

    `scores` are those of the trials by epoch, in the order of their proposal.
    """
    epochs = [*scores[0]]
    values = np.array([[of[epoch] for epoch in epochs] for of in scores])[None]
    places = stopped_at(name, values, epochs, SETTINGS)
    scheduler = load(SCHEDULERS, name)(len(scores), epochs[-1], SETTINGS)
    ends = [epochs[place] for place in places[0]]
    evaluated = {t: [r for r in scheduler.rungs(t) if r <= end] for t, end in enumerate(ends)}
    return int(best_of(name, values, places)[0]), evaluated


def lowest_three(curves: Sequence[Curve], evaluated: Rungs) -> list[int]:
    """Return the trials with the three lowest last losses; the earlier one wins a tie."""
    last = {trial: curves[trial][rungs[-1]].loss for trial, rungs in evaluated.items()}
    losses = {trial: loss for trial, loss in last.items() if loss is not None}
    return sorted(losses, key=losses.__getitem__)[:3]


def halved(
    right: Callable[[int, int], int], trials: Sequence[int], stages: Iterable[tuple[int, int]]
) -> tuple[list[int], Rungs]:
    """Let the best of `trials` go on at each stage (epoch, how many); ties by their order.

    `right` says how many validation rows a trial has right at an epoch.
    """
    evaluated: Rungs = {trial: [] for trial in trials}
    left = list(trials)
    for epoch, most in stages:
        best = sorted(left, key=lambda trial, epoch=epoch: -right(trial, epoch))[:most]
        for trial in left:
            evaluated[trial].append(epoch)
        left = [trial for trial in left if trial in best]
    return left, evaluated


def cost(curve: Curve, evaluated: Iterable[int], end: int) -> Cost:
    """Return what a training takes to the epoch `end` with evaluations at some rungs."""
    return curve[end].samples, curve[end].cpu + sum(curve[e].evaluation for e in {*evaluated})


def choices(
    full: Sequence[Curve],
    screens: Mapping[float, Sequence[Curve]],
    fresh: Callable[[int, int], Curve],
) -> dict[str, Choice]:
    """Return what all ways of tuning choose on the same configurations.

    `screens` are trainings by RS2 with each exponent; `fresh` returns the fresh training of a
    trial, trained to an epoch at least.
    """
    end = max(full[0])
    tenth, third, quarter, half = (share(end, divisor) for divisor in (10, 3, 4, 2))

    def spent(curves: Callable[[int], Curve], evaluated: Rungs) -> list[Cost]:
        return [cost(curves(trial), rungs, rungs[-1]) for trial, rungs in evaluated.items()]

    def chosen(trial: int, is_fresh: bool, costs: Iterable[Cost]) -> Choice:
        samples, seconds = zip(*costs, strict=True)
        return Choice(trial, is_fresh, sum(samples), round(sum(seconds), 3))

    def rights(curves: Sequence[Curve]) -> list[dict[int, float]]:
        return [{epoch: point.right for epoch, point in curve.items()} for curve in curves]

    def right_when_fresh(trial: int, epoch: int) -> int:
        return fresh(trial, epoch)[epoch].right

    found = {"random": chosen(0, False, [cost(full[0], [], end)])}
    for name, scheduler in (("full", "hyperband"), ("asha", "asha"), ("one-epoch", "one-epoch")):
        best, evaluated = search(scheduler, rights(full))
        goes_on = cost(full[best], evaluated.pop(best), end)
        found[name] = chosen(best, False, [*spent(full.__getitem__, evaluated), goes_on])

    best, evaluated = search("hyperband", rights(screens[0.0]))
    subsets = spent(screens[0.0].__getitem__, evaluated)
    found["rs2"] = chosen(best, False, [*subsets, cost(full[best], [], end)])

    finalists: list[int] = []
    screening: list[Cost] = []
    for exponent in EXPONENTS:
        curves = screens[exponent]
        scores = [{epoch: at.likelihood for epoch, at in it.items()} for it in curves]
        evaluated = search("hyperband", scores)[1]
        screening += spent(curves.__getitem__, evaluated)
        finalists += [t for t in lowest_three(curves, evaluated) if t not in finalists]
    hedges = {
        "u6": [(tenth, 3), (third, 2), (end, 1)],
        "u7": [(tenth, 3), (quarter, 2), (half, 1)],
    }
    for name, stages in hedges.items():
        (best,), evaluated = halved(right_when_fresh, finalists, stages)
        model = cost(fresh(best, end), evaluated.pop(best), end)
        lost = spent(lambda trial: fresh(trial, 1), evaluated)
        found[name] = chosen(best, True, [*screening, *lost, model])

    stages = [(share(end, 50), 9), (tenth, 5), (third, 3)]
    three, evaluated = halved(lambda t, epoch: full[t][epoch].right, range(len(full)), stages)
    (best,), _ = halved(right_when_fresh, three, [(end, 1)])
    last = [cost(fresh(trial, end), [*evaluated.pop(trial), end], end) for trial in three]
    found["s3"] = chosen(best, True, [*spent(full.__getitem__, evaluated), *last])
    return found
