"""Searches on given scores, without Ray and training."""

import math
from collections.abc import Callable
from typing import NamedTuple

from automata.records.progress import WORST_SCORE
from automata.search.schedulers import Result
from automata.search.search import Search, SearchTrial


class Simulation(NamedTuple):
    """A finished search."""

    trials: list[SearchTrial]
    best: int
    results: list[Result]
    failed: set[int]

    def status(self, trial: SearchTrial) -> str:
        """Return the status of a trial, as in a record."""
        if trial.index in self.failed:
            return "failed"
        return "completed" if trial.reached == len(trial.rungs) else "stopped"


Score = Callable[[SearchTrial, int], float]
"""(trial, epochs) -> its score after these epochs; not finite if its training diverged."""


def simulate(search: Search, score: Score) -> Simulation:
    """Run `search` to its end: trials train one at a time, and `score` gives their scores."""
    failed: set[int] = set()
    while (trial := search.upcoming()) is not None:
        search.start(trial.index)
        lost = trial.index in failed
        scored = math.nan if lost else score(trial, trial.rungs[trial.reached])
        if not math.isfinite(scored):
            failed.add(trial.index)
            scored = WORST_SCORE
        search.report(trial.index, scored)
    best = search.best
    assert best is not None, "there is at least one trial"
    return Simulation(search.trials, best.index, search.results, failed)
