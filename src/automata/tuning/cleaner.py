"""Removes the files of trials that have ended."""

from __future__ import annotations

from ray.tune import Callback
from ray.tune.experiment import Trial

from automata.tuning.keys import SCORE
from automata.tuning.work import WorkFolder


class Cleaner(Callback):
    """Keeps of the trials that have ended no state, and of FULL only the best model."""

    def __init__(self, work: WorkFolder) -> None:
        self._work = work
        self._best: tuple[float, int] | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave all out of the state that Tune saves."""
        return {}

    def on_trial_complete(self, trial: Trial, **_: object) -> None:
        """Remove what nobody needs any more: the earlier of two equal trials is the better."""
        index = trial.config["index"]
        for state in self._work.states(index):
            state.path.unlink(missing_ok=True)
        this = (float(trial.last_result[SCORE]), -index)
        loser = None if self._best is None else min(self._best, this)
        self._best = this if self._best is None else max(self._best, this)
        if loser is not None:
            self._work.weights(-loser[1]).unlink(missing_ok=True)
