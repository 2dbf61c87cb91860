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

    def rungs(self, index: int) -> list[int]:
        """Return the epochs at which the trial proposed as number `index` reports."""
        ...

    def generations(self) -> list[int] | None:
        """Return the sizes of the groups that are judged as a whole, None if there are none."""
        ...


class Hyperband:
    """Hyperband, whose brackets fill before they halve."""

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        eta = settings.hyperband.reduction_factor
        self.brackets = hyperband_brackets(configurations, epochs, eta)
        self.ray: TrialScheduler = FilledHyperBandScheduler(configurations, epochs, eta)

    def rungs(self, index: int) -> list[int]:
        """Return the rungs of the bracket that trial `index` falls into."""
        return self._bracket(index).rungs

    def generations(self) -> list[int] | None:
        """Return the sizes of the brackets."""
        return [bracket.trials for bracket in self.brackets]

    def _bracket(self, index: int) -> Bracket:
        for bracket in self.brackets:
            if index < bracket.trials:
                return bracket
            index -= bracket.trials
        raise IndexError(index)


class Asha:
    """Asynchronous successive halving."""

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
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


class NoScheduler:
    """Every trial trains all epochs."""

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        self._epochs = epochs
        self.ray: TrialScheduler = OneRungScheduler()

    def rungs(self, index: int) -> list[int]:
        """Return the end as the only rung."""
        return [self._epochs]

    def generations(self) -> list[int] | None:
        """Return None: each trial is judged on its own."""
        return None


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
    """

    def __init__(self, configurations: int, epochs: int, reduction_factor: int) -> None:
        super().__init__(time_attr=EPOCH, max_t=epochs, reduction_factor=reduction_factor)
        self._expected = configurations
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
            decision: str = super().on_trial_result(tune_controller, trial, result)
            return decision
        bracket.update_trial_stats(trial, result)
        waiting = not bracket.continue_trial(trial)
        return str(TrialScheduler.PAUSE if waiting else TrialScheduler.CONTINUE)
