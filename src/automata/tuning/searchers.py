"""Search algorithms, which propose configurations."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from ray import tune
from ray.tune.search.sample import Domain

from automata.config import spaces
from automata.config.sections import SearchSettings
from automata.search.search import SCORE
from automata.seeds import derive

Space = dict[str, spaces.Domain]


def domains(space: Space) -> dict[str, Domain]:
    """Return a configured search space as Ray Tune's, sorted by name.

    The order in a configuration file then does not change the draws.
    """
    draws = {name: domain.draw for name, domain in sorted(space.items())}
    return {
        name: tune.choice(values) if draw == "choice" else getattr(tune, draw)(*values)
        for name, (draw, values) in draws.items()
    }


class RandomSearch:
    """Configurations drawn independently, one after the other (Bergstra and Bengio, 2012).

    They differ, from one another and from the `initial` ones, until the space has no other.
    """

    uninformed = sys.maxsize

    def __init__(self, space: Space, settings: SearchSettings, seed: int) -> None:
        self._space = domains(space)
        self._random = np.random.RandomState(derive(seed, "search"))
        self._size = spaces.size(space)
        self._initial = settings.initial
        self._drawn: list[dict[str, Any]] = []

    def suggest(self, trial_id: str) -> dict[str, Any]:
        """Return the next configuration."""
        while True:
            draws = self._random
            drawn = {key: domain.sample(random_state=draws) for key, domain in self._space.items()}
            if drawn in self._drawn:
                if len(self._drawn) == self._size:
                    return drawn
                continue
            self._drawn.append(drawn)
            if drawn not in self._initial:
                return drawn

    def on_trial_complete(self, trial_id: str, result: dict[str, Any]) -> None:
        """Learn nothing."""


def tpe_search(space: Space, settings: SearchSettings, seed: int) -> Any:
    """Return the tree-structured Parzen estimator (Bergstra et al., 2011) of HyperOpt."""
    from ray.tune.search.hyperopt import HyperOptSearch  # it imports most of SciPy

    startup = settings.tpe.startup_configurations
    search = HyperOptSearch(
        HyperOptSearch.convert_search_space(domains(space)),
        metric=SCORE,
        mode="max",
        n_initial_points=startup,
        random_state_seed=derive(seed, "search"),
    )
    search.uninformed = startup  # HyperOpt draws the first ones at random
    return search
