"""Schedulers: Ray Tune's own, each with the rungs at which its trials report."""

from __future__ import annotations

from typing import Any, Protocol

from ray.tune.experiment import Trial
from ray.tune.schedulers import (
    ASHAScheduler,
    FIFOScheduler,
    HyperBandScheduler,
    TrialScheduler,
)

from automata.config import SchedulerSettings
from automata.tuning.brackets import Bracket, asha_rungs, hyperband_brackets
from automata.tuning.keys import EPOCH


class TuningScheduler(Protocol):
    """A Ray scheduler and what the search must know of it."""

    ray: TrialScheduler
    pauses: bool
    """Whether trials pause: they keep their state themselves, Ray makes no checkpoint."""

    def rungs(self, index: int) -> list[int]:
        """Return the epochs at which the trial proposed as number `index` reports."""
        ...

    def generations(self) -> list[int] | None:
        """Return the sizes of the groups that are judged as a whole, None if there are none."""
        ...

    def waiting(self) -> int:
        """Return how many trials have paused and cannot go on yet."""
        ...


class Hyperband:
    """Hyperband, whose brackets fill before they halve."""

    pauses = True

    def __init__(
        self, configurations: int, epochs: int, slots: int, settings: SchedulerSettings
    ) -> None:
        eta = settings.hyperband.reduction_factor
        self.brackets = hyperband_brackets(configurations, epochs, eta)
        self.ray: TrialScheduler = FilledHyperBandScheduler(configurations, epochs, slots, eta)

    def rungs(self, index: int) -> list[int]:
        """Return the rungs of the bracket that trial `index` falls into."""
        return self._bracket(index).rungs

    def generations(self) -> list[int] | None:
        """Return the sizes of the brackets."""
        return [bracket.trials for bracket in self.brackets]

    def waiting(self) -> int:
        """Return how many trials wait for the rest of their bracket."""
        return int(self.ray.waiting())

    def _bracket(self, index: int) -> Bracket:
        for bracket in self.brackets:
            if index < bracket.trials:
                return bracket
            index -= bracket.trials
        raise IndexError(index)


class Asha:
    """Asynchronous successive halving."""

    pauses = False

    def __init__(
        self, configurations: int, epochs: int, slots: int, settings: SchedulerSettings
    ) -> None:
        asha = settings.asha
        self._rungs = asha_rungs(epochs, asha.reduction_factor, asha.grace_period)
        self.ray: TrialScheduler = ASHAScheduler(
            time_attr=EPOCH,
            max_t=epochs,
            grace_period=min(asha.grace_period, epochs),
            reduction_factor=asha.reduction_factor,
        )

    def rungs(self, index: int) -> list[int]:
        """Return the same rungs for every trial."""
        return self._rungs

    def generations(self) -> list[int] | None:
        """Return None: each trial is judged on its own."""
        return None

    def waiting(self) -> int:
        """Return 0: trials do not pause."""
        return 0


class NoScheduler:
    """Every trial trains all epochs."""

    pauses = False

    def __init__(
        self, configurations: int, epochs: int, slots: int, settings: SchedulerSettings
    ) -> None:
        self._epochs = epochs
        self.ray: TrialScheduler = OneRungScheduler()

    def rungs(self, index: int) -> list[int]:
        """Return the end as the only rung."""
        return [self._epochs]

    def generations(self) -> list[int] | None:
        """Return None: each trial is judged on its own."""
        return None

    def waiting(self) -> int:
        """Return 0: trials do not pause."""
        return 0


class OneRungScheduler(FIFOScheduler):
    """Stops every trial at its first result, which is its end."""

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Stop `trial`."""
        return str(TrialScheduler.STOP)


class FilledHyperBandScheduler(HyperBandScheduler):
    """Ray's Hyperband, except that a bracket halves only once all its trials are there.

    Ray halves among the trials that a bracket has so far. A searcher hands out one trial at
    a time, so that each is alone in its bracket when it reaches its first rung, and the best
    of one always goes on: nothing is ever stopped. Here a trial that is early pauses until
    its bracket is full, or holds the last of all trials.

    Trials pause without a checkpoint, and go on when one of `slots` is free: for a trial that
    cannot start at once Ray asks for a placement group, and takes that back later.
    """

    def __init__(self, configurations: int, epochs: int, slots: int, reduction_factor: int) -> None:
        super().__init__(time_attr=EPOCH, max_t=epochs, reduction_factor=reduction_factor)
        self._expected = configurations
        self._slots = slots
        self._added = 0
        self._full: set[int] = set()

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """Add `trial` to the bracket that is filling up."""
        if id(self._state["bracket"]) in self._full:
            # Ray counts the live trials of a bracket, and would refill one that has halved.
            self._state["bracket"] = None
        super().on_trial_add(tune_controller, trial)
        self._added += 1
        bracket = self._state["bracket"]
        if bracket.filled() or self._added == self._expected:
            self._full.add(id(bracket))

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Pause `trial` at its rung while its bracket still fills, else leave it to Ray."""
        bracket, _ = self._trial_info[trial]
        if id(bracket) in self._full:
            decision = str(super().on_trial_result(tune_controller, trial, result))
        else:
            bracket.update_trial_stats(trial, result)
            waits = not bracket.continue_trial(trial)
            decision = TrialScheduler.PAUSE if waits else TrialScheduler.CONTINUE
        if decision == TrialScheduler.PAUSE:
            tune_controller.pause_trial(trial, should_checkpoint=False)
            decision = TrialScheduler.NOOP
        return str(decision)

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        """Return the trial that goes on next, None while no slot is free."""
        busy = sum(trial.status in (Trial.PENDING, Trial.RUNNING) for trial in self._trial_info)
        return super().choose_trial_to_run(tune_controller) if busy < self._slots else None

    def waiting(self) -> int:
        """Return how many trials have paused and may not go on yet."""
        return sum(
            trial.status == Trial.PAUSED and trial not in bracket.trials_to_unpause
            for trial, (bracket, _) in self._trial_info.items()
        )
