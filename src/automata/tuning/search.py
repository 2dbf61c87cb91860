"""A search as a function of its results: propose, train to a rung, judge. No Ray, no training.

A job in Ray Tune, a job that starts again from its log, and a simulation all run this one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from automata.config.job import Job
from automata.registry import SCHEDULERS, SEARCHES, make
from automata.training.progress import WORST_SCORE
from automata.tuning.schedulers import Result, Scheduler, Verdict

SCORE = "score"
"""Name of the validation score, which searches and schedulers maximise, in Ray's results."""


class Proposer(Protocol):
    """What is needed of a search algorithm of Ray Tune."""

    blind: int
    """How many proposals need no result of another."""

    def suggest(self, trial_id: str) -> Any:
        """Return the next configuration."""
        ...

    def on_trial_complete(self, trial_id: str, result: dict[str, Any]) -> None:
        """Learn the last result of a trial that has ended."""
        ...


@dataclass
class SearchTrial:
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


class Search:
    """The state of a search, which follows from the results so far and their order.

    A trial is proposed when a slot is free for it, or ahead of that where its proposal needs no
    result that is still missing; it trains from rung to rung, and every result is judged.
    """

    def __init__(
        self, proposer: Proposer, scheduler: Scheduler, configurations: int, slots: int = 1
    ) -> None:
        self.trials: list[SearchTrial] = []
        """In the order in which they were proposed."""
        self.results: list[Result] = []
        """In the order in which they arrived."""
        self._proposer = proposer
        self._scheduler = scheduler
        self._configurations = configurations
        self.slots = slots
        """How many trials train at once."""
        self._turns: deque[int] = deque()
        """Trials that shall train, in this order."""
        self._at_work: set[int] = set()
        self._ended: set[int] = set()
        self._stopped = False
        self._fill_slots()

    @property
    def finished(self) -> bool:
        """Whether all trials have ended."""
        return len(self._ended) == self._configurations

    @property
    def best(self) -> SearchTrial | None:
        """The best of the trials that have ended.

        By score, or by how far it came where the scheduler says so; the earlier one wins a tie.
        """

        def worth(trial: SearchTrial) -> tuple[float, ...]:
            came = trial.reached if trial.score > WORST_SCORE and self._scheduler.furthest else 0
            return came, trial.score, -trial.index

        return max((self.trials[index] for index in self._ended), key=worth, default=None)

    def prepare(self) -> None:
        """Propose a trial ahead, if none waits for its turn: that takes milliseconds."""
        if not self._turns:
            self._propose()

    def upcoming(self) -> SearchTrial | None:
        """Return the trial that shall train next, None while it has no slot or all have to wait."""
        if not self._turns or len(self._at_work) >= self.slots:
            return None
        return self.trials[self._turns[0]]

    def start(self, index: int) -> None:
        """Note that trial `index` trains."""
        self._turns.remove(index)
        self._at_work.add(index)

    def may_report(self, index: int) -> bool:
        """Say whether a result of trial `index` can come next."""
        return index in self._at_work or index in self._turns

    def report(self, index: int, score: float) -> Verdict:
        """Judge the result of trial `index` at its next rung.

        A score that is no finite number is a training that has diverged: it counts as the worst
        from then on. A trial that goes on has to be started anew.
        """
        self._at_work.discard(index)
        if index in self._turns:
            self._turns.remove(index)
        trial = self.trials[index]
        trial.reached += 1
        trial.failed = trial.failed or not math.isfinite(score)
        trial.score = WORST_SCORE if trial.failed else score
        self.results.append(Result(index, trial.epoch, trial.score))
        verdict = Verdict(ends=[index]) if self._stopped else self._scheduler.judge(self.results)
        self._turns.extendleft(reversed(verdict.goes_on))
        for ended in verdict.ends:
            self._ended.add(ended)
            self._proposer.on_trial_complete(str(ended), {SCORE: self.trials[ended].score})
        self._fill_slots()
        return verdict

    def stop(self) -> list[int]:
        """Let no trial start or go on; return those that end now.

        A trial at work ends at its next result. Trials that have not started are dropped: they
        are the latest, as trials start in their order.
        """
        self._stopped = True
        self._turns.clear()
        self.trials = [it for it in self.trials if it.reached or it.index in self._at_work]
        ends = [it.index for it in self.trials if it.index not in self._at_work | self._ended]
        self._ended.update(ends)
        self._configurations = len(self.trials)
        return ends

    def _fill_slots(self) -> None:
        """Propose trials for free slots at once: what a proposal knows depends on nothing else."""
        while len(self._turns) + len(self._at_work) < self.slots and self._propose():
            pass

    def _propose(self) -> bool:
        """Propose a trial if there may be one more by now."""
        allowed = self._scheduler.proposals(len(self._ended), self.slots)
        index = len(self.trials)
        if index >= min(max(allowed, self._proposer.blind), self._configurations):
            return False
        configuration = self._proposer.suggest(str(index))
        self.trials.append(SearchTrial(index, configuration, self._scheduler.rungs(index)))
        self._turns.append(index)
        return True


def search_of(job: Job) -> Search:
    """Return the search of `job` before its first result."""
    run, settings = job.run, job.settings
    protocol = settings.protocol
    own, space = settings.own, protocol.search_space
    proposer = make("search", run.search, SEARCHES, own, space, settings.search, run.seed)
    scheduler = scheduler_of(job)
    return Search(proposer, scheduler, protocol.configurations, settings.compute.concurrent_trials)


def scheduler_of(job: Job) -> Scheduler:
    """Return the scheduler of `job`."""
    run, settings = job.run, job.settings
    protocol = settings.protocol
    size = protocol.configurations, protocol.epochs
    found: Scheduler = make(
        "scheduler", run.scheduler, SCHEDULERS, settings.own, *size, settings.scheduler
    )
    return found


class Simulation(NamedTuple):
    """A finished search."""

    trials: list[SearchTrial]
    best: int
    results: list[Result]


Score = Callable[[SearchTrial, int], float]
"""What a trial scores after so many epochs; not a finite number: its training has diverged."""


def simulate(search: Search, score: Score) -> Simulation:
    """Return how `search` ends, one trial at a time, where trials score `score`."""
    while (trial := search.upcoming()) is not None:
        search.start(trial.index)
        scored = WORST_SCORE if trial.failed else score(trial, trial.rungs[trial.reached])
        search.report(trial.index, scored)
    best = search.best
    assert best is not None, "there is at least one trial"
    return Simulation(search.trials, best.index, search.results)
