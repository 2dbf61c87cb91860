"""Search algorithms: what proposes configurations, and when."""

from __future__ import annotations

import sys
from functools import cache
from itertools import accumulate
from typing import Any

import hyperopt.tpe
import numpy as np
from ray import tune
from ray.tune.search import Searcher
from ray.tune.search.hyperopt import HyperOptSearch
from ray.tune.search.sample import Domain

from automata import config
from automata.config import SearchSettings
from automata.seeds import derive
from automata.tuning.history import History
from automata.tuning.keys import SCORE
from automata.tuning.schedulers import TuningScheduler


def domains(space: dict[str, config.Domain]) -> dict[str, Domain]:
    """Return a configured search space in Ray Tune's terms."""
    return {name: _domain(*domain.draw) for name, domain in space.items()}


def _domain(draw: str, values: list[Any]) -> Domain:
    domain: Domain = tune.choice(values) if draw == "choice" else getattr(tune, draw)(*values)
    return domain


class RandomSearch(Searcher):
    """Configurations drawn independently; number i depends on the seed and i alone."""

    blind = sys.maxsize
    """How many proposals need no result of another."""

    def __init__(self, space: dict[str, Domain], seed: int) -> None:
        super().__init__(metric=SCORE, mode="max")
        self._space = space
        self._random = np.random.RandomState(derive(seed, "search"))

    def suggest(self, trial_id: str) -> dict[str, Any]:
        """Return the next configuration."""
        return {
            name: domain.sample(random_state=self._random) for name, domain in self._space.items()
        }

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Learn nothing."""

    def save(self, checkpoint_path: str) -> None:
        """Keep no state: a restart draws the same configurations."""

    def restore(self, checkpoint_path: str) -> None:
        """Restore no state."""


def random_search(space: dict[str, Domain], settings: SearchSettings, seed: int) -> Searcher:
    """Return a seeded random search (Bergstra and Bengio, 2012)."""
    return RandomSearch(space, seed)


# HyperOpt builds the graph that it samples from anew for each proposal: a third of the time
# that a free slot waits for one. It depends on the space and TPE's settings alone.
hyperopt.tpe.build_posterior_wrapper = cache(hyperopt.tpe.build_posterior_wrapper)


class TpeSearch(HyperOptSearch):
    """The tree-structured Parzen estimator (Bergstra et al., 2011) of HyperOpt."""

    def __init__(self, space: dict[str, Domain], startup: int, seed: int) -> None:
        super().__init__(
            HyperOptSearch.convert_search_space(space),
            metric=SCORE,
            mode="max",
            n_initial_points=startup,
            random_state_seed=derive(seed, "search"),
        )
        self.blind = startup
        """How many proposals need no result: HyperOpt draws the first at random."""


def tpe_search(space: dict[str, Domain], settings: SearchSettings, seed: int) -> Searcher:
    """Return a seeded tree-structured Parzen estimator."""
    return TpeSearch(space, settings.tpe.startup_configurations, seed)


class PatientSearch(Searcher):
    """Hands out the proposals of another search, not before it has seen what it can.

    Where the scheduler judges trials in groups, the next group is proposed when all of the
    last one has ended; otherwise a trial is proposed when a slot is free. The first `blind`
    proposals of a search need no result and wait for nothing. Proposals carry their index, their
    rungs, and the results that are known from an earlier process.

    Ray tells a searcher nothing of a trial that is stopped while it is paused, which is how
    Hyperband stops most of them: the last result is kept here and passed on at the end.
    """

    def __init__(
        self,
        search: Searcher,
        scheduler: TuningScheduler,
        configurations: int,
        slots: int,
        history: History,
    ) -> None:
        super().__init__(metric=SCORE, mode="max")
        self.searcher = search
        self._history = history
        self._scheduler = scheduler
        self._configurations = configurations
        self._slots = slots
        self._proposed = 0
        self._ended = 0
        self._results: dict[str, dict[str, Any]] = {}

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any
    ) -> bool:
        """Accept Tune's metric: it is the one that the inner search was made with."""
        return True

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """Return the next proposal, None while it has to wait, FINISHED after the last.

        The search counts as finished only when all trials have ended: Ray ends the process of
        a trial that pauses after that, and every one that goes on would pay for a new one.
        """
        if self._ended == self._configurations:
            return str(Searcher.FINISHED)
        if self._proposed == self._limit():
            return None
        configuration = self.searcher.suggest(trial_id)
        index = self._proposed
        self._proposed += 1
        return {
            "index": index,
            "rungs": self._scheduler.rungs(index),
            "configuration": configuration,
            "known": self._history.known(index, configuration),
        }

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Keep the latest result of a trial."""
        self._results[trial_id] = result
        self.searcher.on_trial_result(trial_id, result)

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Tell the inner search how a trial ended."""
        self._ended += 1
        last = self._results.pop(trial_id, None)
        self.searcher.on_trial_complete(trial_id, result or last, error)

    def get_state(self) -> dict[str, Any]:
        """Return what Tune saves with an experiment."""
        return {"proposed": self._proposed, "ended": self._ended, "results": self._results}

    def save(self, checkpoint_path: str) -> None:
        """Save the inner search."""
        self.searcher.save(checkpoint_path)

    def restore(self, checkpoint_path: str) -> None:
        """Restore the inner search."""
        self.searcher.restore(checkpoint_path)

    def _limit(self) -> int:
        """Return how many proposals there may be by now."""
        generations = self._scheduler.generations()
        if generations is None:
            limit = self._ended + self._slots
        else:
            limit = next(end for end in accumulate(generations) if self._ended < end)
        blind: int = self.searcher.blind
        return min(max(limit, blind), self._configurations)
