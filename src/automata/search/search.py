"""The state of a search, as a function of its results. It uses no Ray and trains nothing.

`phases` replays a log in it, and `ray_search` trains the trials that it asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from automata.config.job import Job
from automata.loading import make
from automata.records.progress import WORST_SCORE
from automata.search.schedulers import Result, Scheduler, Screens, Verdict

SCORE = "score"
"""Key of the validation score in the results that a proposer learns from and maximises."""


class Proposer(Protocol):
    """A search algorithm: it proposes configurations."""

    uninformed: int
    """How many of the first proposals depend on no result."""

    def suggest(self, trial_id: str) -> Any:
        """Return the next configuration."""

    def on_trial_complete(self, trial_id: str, result: dict[str, Any]) -> None:
        """Receive the final score of a trial."""


@dataclass
class SearchTrial:
    """A proposed configuration and the state of its training."""

    index: int
    configuration: dict[str, Any]
    rungs: list[int]
    reached: int = 0
    """How many rungs it has reached."""
    score: float = WORST_SCORE
    """Its `Progress.standing` at the latest rung."""

    @property
    def epoch(self) -> int:
        """The epoch of the latest rung that it has reached."""
        return self.rungs[self.reached - 1]


class Search:
    """The state of a search, which follows from its results and their order.

    The search proposes a trial when a slot is free, or earlier if the proposal cannot depend on a
    missing result. The proposer does not learn from the `initial` configurations, which come first.
    It does not learn from later screens either: they repeat the configurations of the first.
    """

    def __init__(
        self,
        proposer: Proposer | None,
        scheduler: Scheduler,
        configurations: int,
        slots: int = 1,
        screens: int = 1,
        initial: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Without a `proposer` there are only the `initial` configurations."""
        self.trials: list[SearchTrial] = []
        """In the order in which they were proposed."""
        self.results: list[Result] = []
        """In the order in which they arrived."""
        self._proposer = proposer
        self._scheduler = scheduler
        self._configurations = configurations
        self._trials = configurations * screens
        self.slots = slots
        """How many trials train at once."""
        self._initial = initial
        self._waiting: deque[int] = deque()
        """Trials that wait for a slot, in their order."""
        self._training: set[int] = set()
        self._ended: set[int] = set()
        self._stopped = False
        self._fill_slots()

    @property
    def pauses(self) -> bool:
        """Whether trials may pause to wait for others."""
        return self._scheduler.pauses

    @property
    def finished(self) -> bool:
        """Whether all trials have ended."""
        return len(self._ended) == self._trials

    @property
    def best(self) -> SearchTrial | None:
        """The best trial that has ended, by `rank`."""
        return max((self.trials[index] for index in self._ended), key=self.rank, default=None)

    def rank(self, trial: SearchTrial) -> tuple[float, ...]:
        """Return the key of the best trial: score or most rungs; the earlier one wins a tie."""
        by_rungs = self._scheduler.most_rungs_win and trial.score > WORST_SCORE
        return trial.reached if by_rungs else 0, trial.score, -trial.index

    def prepare(self) -> None:
        """Propose a trial ahead if none waits: no free slot then waits for it for milliseconds."""
        if not self._waiting:
            self._propose()

    def upcoming(self) -> SearchTrial | None:
        """Return the trial that trains next; None if no slot is free or no trial waits."""
        if not self._waiting or len(self._training) >= self.slots:
            return None
        return self.trials[self._waiting[0]]

    def start(self, index: int) -> None:
        """Move a waiting trial to those that train."""
        self._waiting.remove(index)
        self._training.add(index)

    def expects(self, index: int, configuration: dict[str, Any], rung: int) -> bool:
        """Return whether trial `index` may report next, at its rung number `rung`, from 1."""
        if index not in self._training and index not in self._waiting:  # a replay starts no trial
            return False
        trial = self.trials[index]
        return (trial.configuration, trial.reached + 1) == (configuration, rung)

    def report(self, index: int, score: float) -> Verdict:
        """Judge the result of a trial at its next rung.

        Trials that go on wait for a slot, until the caller calls `start`.
        """
        self._training.discard(index)
        if index in self._waiting:
            self._waiting.remove(index)
        trial = self.trials[index]
        trial.reached += 1
        trial.score = score
        self.results.append(Result(index, trial.epoch, score))
        verdict = Verdict(ends=[index]) if self._stopped else self._scheduler.judge(self.results)
        self._waiting.extendleft(reversed(verdict.goes_on))
        self._ended.update(verdict.ends)
        for ended in verdict.ends:
            if self._proposer is not None and len(self._initial) <= ended < self._configurations:
                self._proposer.on_trial_complete(str(ended), {SCORE: self.trials[ended].score})
        self._fill_slots()
        return verdict

    def stop(self) -> list[int]:
        """Start and continue no more trials; return those that end now.

        A trial that trains ends at its next result; those that never started are dropped.
        """
        self._stopped = True
        self._waiting.clear()
        # The dropped trials are the last ones, because trials start in the order of proposals.
        self.trials = [it for it in self.trials if it.reached or it.index in self._training]
        ends = [it.index for it in self.trials if it.index not in self._training | self._ended]
        self._ended.update(ends)
        self._trials = len(self.trials)
        return ends

    def _fill_slots(self) -> None:
        """Propose trials for all free slots at once: what a proposal knows is then repeatable."""
        while len(self._waiting) + len(self._training) < self.slots and self._propose():
            pass

    def _propose(self) -> bool:
        """Propose a trial if the scheduler allows one more; return whether it does."""
        index, initial = len(self.trials), len(self._initial)
        allowed = self._scheduler.proposals(len(self._ended), self.slots)
        free = initial + (0 if self._proposer is None else self._proposer.uninformed)
        if index >= min(max(allowed, free), self._trials):
            return False
        if index < min(initial, self._configurations):
            configuration = self._initial[index]
        elif self._proposer is not None and index < self._configurations:
            configuration = self._proposer.suggest(str(index))
        else:
            configuration = self.trials[index % self._configurations].configuration
        self.trials.append(SearchTrial(index, configuration, self._scheduler.rungs(index)))
        self._waiting.append(index)
        return True


def search_of(job: Job) -> Search:
    """Return the search of `job` before its first result."""
    run, settings = job.run, job.settings
    protocol, search = settings.protocol, settings.search
    space = protocol.search_space
    size = protocol.configurations, protocol.epochs
    schedulers: list[Scheduler] = [
        make("scheduler", run.scheduler, settings.own, *size, settings.scheduler)
        for _ in protocol.screens
    ]
    return Search(
        make("search", run.search, settings.own, space, search, run.seed),
        Screens(schedulers, protocol.configurations) if len(schedulers) > 1 else schedulers[0],
        protocol.configurations,
        settings.compute.concurrent_trials,
        len(protocol.screens),
        search.initial,
    )
