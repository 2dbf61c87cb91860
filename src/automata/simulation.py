"""A search without Ray, torch and training: propose, train to a rung, judge, all from known scores.

What a job of one trial at a time does with these scores, decision by decision; a proof holds it
against all published searches (`python -m benchmarks.equivalence decisions`). No job imports it, so
that it is in no part of the code that records name.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from automata.config import Job, SchedulerSettings
from automata.registry import load
from automata.training.progress import WORST_SCORE
from automata.tuning import SEARCHES
from automata.tuning.brackets import Bracket, asha_rungs, hyperband_brackets
from automata.tuning.keys import SCORE
from automata.tuning.search import domains


class Result(NamedTuple):
    """A line of the log: a trial has reached a rung."""

    trial: int
    epoch: int
    score: float


class Verdict(NamedTuple):
    """What follows from the latest result; trials in neither list wait."""

    goes_on: Sequence[int] = ()
    """In the order of their turns."""
    ends: Sequence[int] = ()


class Rules(Protocol):
    """The decisions of a scheduler, each a pure function of the log."""

    groups: list[range]
    """Trials that are proposed together, when all trials of the groups before have ended."""

    def rungs(self, trial: int) -> list[int]:
        """Return the epochs at which `trial` reports; at the last one it ends."""
        ...

    def judge(self, log: Sequence[Result]) -> Verdict:
        """Return what follows from the latest result of `log`."""
        ...


class HyperbandRules:
    """Brackets that are proposed as a whole, and halve when all their trials are at a rung.

    The best go on; of equal scores, as Ray has it, those proposed later.
    """

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        eta = settings.hyperband.reduction_factor
        self._brackets = hyperband_brackets(configurations, epochs, eta)
        sizes = [bracket.trials for bracket in self._brackets]
        ends = accumulate(sizes)
        self.groups = [range(end - size, end) for end, size in zip(ends, sizes, strict=True)]

    def rungs(self, trial: int) -> list[int]:
        """Return the rungs of the trial's bracket."""
        return self._of(trial)[0].rungs

    def judge(self, log: Sequence[Result]) -> Verdict:
        """Halve the bracket of the latest result if it was the last one that was missing."""
        latest = log[-1]
        bracket, members = self._of(latest.trial)
        level = bracket.rungs.index(latest.epoch)
        here = {r.trial: r.score for r in log if r.trial in members and r.epoch == latest.epoch}
        places = [bracket.trials, *bracket.survivors, 0]
        if len(here) < min(bracket.trials, places[level]):
            return Verdict()
        in_order = sorted(sorted(here), key=here.__getitem__)
        split = max(0, len(in_order) - places[level + 1])
        # The trial that trained last need not pause.
        goes_on = sorted(in_order[split:], key=lambda trial: (trial != latest.trial, trial))
        return Verdict(goes_on, in_order[:split])

    def _of(self, trial: int) -> tuple[Bracket, range]:
        """Return the bracket that has `trial`, and all that it has."""
        pairs = zip(self._brackets, self.groups, strict=True)
        return next((bracket, members) for bracket, members in pairs if trial in members)


class AshaRules:
    """A trial goes on unless earlier ones at its rung set a higher mark, Ray's percentile."""

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        asha = settings.asha
        self.groups = _one_by_one(configurations)
        self._rungs = asha_rungs(epochs, asha.reduction_factor, asha.grace_period)
        self._percent = (1 - 1 / asha.reduction_factor) * 100

    def rungs(self, trial: int) -> list[int]:
        """Return the same rungs for every trial."""
        return self._rungs

    def judge(self, log: Sequence[Result]) -> Verdict:
        """Compare the latest result with those before it at its rung."""
        latest = log[-1]
        earlier = [result.score for result in log[:-1] if result.epoch == latest.epoch]
        below = bool(earlier) and latest.score < np.percentile(earlier, self._percent)
        if below or latest.epoch == self._rungs[-1]:
            return Verdict(ends=[latest.trial])
        return Verdict(goes_on=[latest.trial])


class NoRules:
    """Every trial trains all epochs."""

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        self.groups = _one_by_one(configurations)
        self._epochs = epochs

    def rungs(self, trial: int) -> list[int]:
        """Return the end as the only rung."""
        return [self._epochs]

    def judge(self, log: Sequence[Result]) -> Verdict:
        """End the trial of the latest result."""
        return Verdict(ends=[log[-1].trial])


def _one_by_one(configurations: int) -> list[range]:
    return [range(trial, trial + 1) for trial in range(configurations)]


RULES: dict[str, Callable[[int, int, SchedulerSettings], Rules]] = {
    "hyperband": HyperbandRules,
    "asha": AshaRules,
    "none": NoRules,
}
"""Scheduler name -> its rules."""


@dataclass
class SimulatedTrial:
    """A proposed configuration, and how far it came."""

    index: int
    configuration: dict[str, Any]
    rungs: list[int]
    reached: int = 0
    """How many rungs it reported at."""
    score: float = WORST_SCORE
    """The latest."""
    failed: bool = False

    @property
    def epoch(self) -> int:
        """The rung at which it stopped."""
        return self.rungs[self.reached - 1]

    @property
    def status(self) -> Literal["completed", "stopped", "failed"]:
        """As a record names it."""
        if self.failed:
            return "failed"
        return "completed" if self.reached == len(self.rungs) else "stopped"


class Simulation(NamedTuple):
    """A finished search."""

    trials: list[SimulatedTrial]
    """In the order in which they were proposed."""
    best: int
    """Index of the trial with the best score; the earlier one wins a tie."""
    log: list[Result]
    """In the order in which they arrived."""


Score = Callable[[SimulatedTrial, int], float]
"""What a trial scores after so many epochs; not a finite number: its training has diverged."""


class Search(Protocol):
    """What is needed of a search algorithm of Ray Tune."""

    def suggest(self, trial_id: str) -> Any:
        """Return the next configuration."""
        ...

    def on_trial_complete(self, trial_id: str, result: dict[str, Any]) -> None:
        """Learn the last result of a trial that has ended."""
        ...


def simulate(job: Job, score: Score) -> Simulation:
    """Return what the search of `job` does, one trial at a time, where trials score `score`."""
    run, settings = job.run, job.settings
    protocol = settings.protocol
    search = load(SEARCHES, run.search)(domains(protocol.search_space), settings.search, run.seed)
    rules = RULES[run.scheduler](protocol.configurations, protocol.epochs, settings.scheduler)
    return simulated(search, rules, score)


def simulated(search: Search, rules: Rules, score: Score) -> Simulation:
    """Return what `search` does under `rules`, one trial at a time, where trials score `score`."""
    trials: list[SimulatedTrial] = []
    log: list[Result] = []
    for group in rules.groups:
        trials += _proposed(search, rules, group)
        turns = deque(group)
        while turns:
            trial = trials[turns.popleft()]
            log.append(_trained(trial, score))
            verdict = rules.judge(log)
            turns += verdict.goes_on
            for ended in verdict.ends:
                search.on_trial_complete(str(ended), {SCORE: trials[ended].score})
    best = max(trials, key=lambda trial: (trial.score, -trial.index))
    return Simulation(trials, best.index, log)


def _proposed(search: Search, rules: Rules, group: range) -> Iterator[SimulatedTrial]:
    for index in group:
        yield SimulatedTrial(index, search.suggest(str(index)), rules.rungs(index))


def _trained(trial: SimulatedTrial, score: Score) -> Result:
    """Bring `trial` to its next rung; one that has diverged reports the worst score from then."""
    trial.reached += 1
    if not trial.failed:
        trial.score = score(trial, trial.epoch)
        trial.failed = not math.isfinite(trial.score)
    if trial.failed:
        trial.score = WORST_SCORE
    return Result(trial.index, trial.epoch, trial.score)
