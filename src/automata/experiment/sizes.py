"""The sizes of search that `automata new` offers, and what a job takes: a simulation of its events.

Nothing trains: scores are random, and a trial keeps its score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random
from statistics import fmean
from typing import NamedTuple

from automata.config.job import Job
from automata.config.protocol import Protocol
from automata.search.finalists import FinalSearch
from automata.search.search import Search, SearchTrial, search_of

RUN_SECONDS = 15.0
"""Seconds that each run takes for imports and the start of Ray; making the page takes as long."""
EFFICIENCY = 0.8
"""Efficiency of trials that train at once: measured on two cores, each takes 7 to 19 % more CPU
seconds, and a core is idle for 6 % of the time."""
ORDERS = 10
"""Random orders of scores, over which a simulated time is the mean."""


class Size(NamedTuple):
    """The size of an experiment."""

    configurations: int
    epochs: int
    seeds: int


SIZES = (
    Size(81, 81, 3),
    Size(27, 81, 3),
    Size(27, 27, 3),
    Size(27, 27, 1),
    Size(9, 27, 1),
)
"""The largest first; smaller ones would find no good model."""

Cost = Callable[[SearchTrial, int, int], float]
"""(trial, an epoch, a later one) -> the time from one to the other."""
Score = Callable[[SearchTrial, int], float]
"""(trial, epoch) -> its score there."""


class Epoch(NamedTuple):
    """Seconds of an epoch of one configuration, on a core of its own."""

    training: float
    """On all training rows."""
    evaluation: float
    """On all validation rows."""


class Duration(NamedTuple):
    """What a job takes, in seconds."""

    wall: float
    busy: float
    """Of all slots together."""


def end_of(search: Search, cost: Cost, score: Score) -> Duration:
    """Train the trials of `search` on its slots; at one time, the earlier trial reports first."""
    now = busy = 0.0
    results: list[tuple[float, int]] = []

    def start(trial: SearchTrial) -> float:
        search.start(trial.index)
        begin = trial.epoch if trial.reached else 0
        seconds = cost(trial, begin, trial.rungs[trial.reached])
        heappush(results, (now + seconds, trial.index))
        return seconds

    while not search.finished:
        while (upcoming := search.upcoming()) is not None:
            busy += start(upcoming)
        now, index = heappop(results)
        trial = search.trials[index]
        verdict = search.report(index, score(trial, trial.rungs[trial.reached]))
        if index in verdict.goes_on:
            busy += start(trial)
    return Duration(now, busy)


def expected(job: Job, epochs: Sequence[Epoch]) -> Duration:
    """Return the mean time of `job` over random scores; no search learns from these."""
    job = job.model_copy(update={"run": job.run.model_copy(update={"search": "random"})})
    orders = [simulated(job, epochs, Random(order)) for order in range(ORDERS)]
    return Duration(*map(fmean, zip(*orders, strict=True)))


def simulated(job: Job, epochs: Sequence[Epoch], draws: Random) -> Duration:
    """Return the time of `job`, whose configuration i costs `epochs[i]`, cyclically."""
    run, protocol = job.run, job.settings.protocol
    scores = [draws.random() for _ in range(protocol.trials)]

    def cost(trial: SearchTrial, begin: int, end: int) -> float:
        epoch = epochs[trial.index % protocol.configurations % len(epochs)]
        return (end - begin) * (run.fraction * epoch.training + epoch.evaluation)

    found, finalists = Duration(0.0, 0.0), [0]
    if run.searches:
        found = end_of(search_of(job), cost, lambda trial, _: scores[trial.index])
        finalists = finalists_of(scores, protocol)
    if not run.trains_finally:
        return found

    def whole(trial: SearchTrial, begin: int, end: int) -> float:
        return (end - begin) * sum(epochs[finalists[trial.index] % len(epochs)])

    slots = job.settings.compute.concurrent_trials
    final = FinalSearch([{"number": number} for number in finalists], protocol, slots)
    last = end_of(final, whole, lambda trial, _: scores[trial.index])
    return Duration(found.wall + last.wall, found.busy + last.busy)


def finalists_of(scores: Sequence[float], protocol: Protocol) -> list[int]:
    """Return the numbers of the finalists in their screen; all differ, as in the longest case."""
    chosen: list[int] = []
    size = protocol.configurations
    for screen in range(len(protocol.screens)):
        ranked = sorted(range(size), key=lambda number: -scores[screen * size + number])
        chosen += [it for it in ranked if it not in chosen][: protocol.finalists]
    return chosen
