"""The tree-structured Parzen estimator on a pool, for many searches at once.

HyperOpt's TPE (Bergstra et al., 2011) proposes what raises l(x)/g(x) the most among 24 draws from
l, the density of the best configurations; g is that of the others. On a pool the candidates are the
configurations that were not proposed yet, all of them. Tests hold the densities against HyperOpt's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from automata.config.spaces import Domain
from automata.errors import UserError
from automata.simulation.methods import Draws
from automata.simulation.table import Floats, Ints

GAMMA = 0.25
AT_ONCE = 200
"""Searches whose densities fit into the cache of a core: three times as fast as all at once."""

FORGETTING = 25
"""HyperOpt's: the latest so many of the observations count in full, at most so many are best."""


class Tpe:
    """A search algorithm on arrays: see `automata.simulation.methods.Proposals`."""

    def __init__(
        self, space: Mapping[str, Domain], pool: Sequence[Mapping[str, Any]], startup: int
    ) -> None:
        """Take the configurations of the `pool`; the first `startup` proposals are random.

        Raises UserError for a hyper-parameter that is drawn in another way than the published.
        """
        self._startup = startup
        self._estimators = [
            (_estimator(name, domain), _values(domain, [one[name] for one in pool]))
            for name, domain in sorted(space.items())
        ]

    def __call__(
        self,
        scores: Floats,
        draws: Draws,
        ended: Sequence[int],
        stopped: Callable[[Floats], Ints],
    ) -> Ints:
        """Return the places (d, n) in `draws.pool` that are proposed, in order."""
        searches, n = len(scores), draws.configurations
        rows = np.arange(searches)
        places = np.tile(np.arange(n), (searches, 1))
        losses = np.full((searches, n), np.inf)
        free = np.ones(draws.pool.shape, dtype=bool)
        known = 0
        for trial in range(self._startup, n):
            if ended[trial] > known:
                known = ended[trial]
                trained = np.take_along_axis(scores, places[:, :, None], axis=1)
                ends = stopped(trained)[:, :known, None]
                losses[:, :known] = -np.take_along_axis(trained[:, :known], ends, axis=2)[:, :, 0]
            if not known:
                continue
            free[:] = True
            np.put_along_axis(free, places[:, :trial], False, axis=1)
            proposals = np.take_along_axis(draws.pool, places[:, :trial], axis=1)
            for some in np.array_split(rows, math.ceil(searches / AT_ONCE)):
                gains = self._gains(draws.pool[some], proposals[some], losses[some, :trial])
                places[some, trial] = np.where(free[some], gains, -np.inf).argmax(axis=1)
        return places

    def _gains(self, candidates: Ints, proposals: Ints, losses: Floats) -> Floats:
        """Return log l(x) - log g(x) of `candidates` (d, c) by the `proposals` (d, t) so far."""
        best = min(math.ceil(GAMMA * math.sqrt(losses.shape[1])), FORGETTING)
        order = np.argsort(losses, axis=1, kind="stable")
        gains = np.zeros(candidates.shape)
        # In their order: the oldest are forgotten.
        parts = [np.sort(part, axis=1) for part in (order[:, :best], order[:, best:])]
        for density, values in self._estimators:
            there = values[candidates]
            below, above = (
                density(there, values[np.take_along_axis(proposals, part, axis=1)])
                for part in parts
            )
            gains += below - above
        return gains


Density = Callable[[Floats, Floats], Floats]
"""Takes x (d, c) and observations (d, m), returns log densities (d, c)."""


def _values(domain: Domain, values: list[Any]) -> Floats:
    """Return values as numbers: places among choices, logarithms where those are uniform."""
    draw, of = domain.draw
    if draw == "choice":
        return np.array([of.index(value) for value in values], dtype=np.float64)
    numbers = np.array(values, dtype=np.float64)
    return np.log(numbers) if draw == "loguniform" else numbers


def _estimator(name: str, domain: Domain) -> Density:
    draw, of = domain.draw
    if draw == "choice":
        return lambda x, observed: log_frequencies(x, observed, len(of))
    if draw not in ("uniform", "loguniform"):
        raise UserError(
            f"search_space.{name}: TPE is not simulated for {draw}; valid: choice, uniform, "
            "loguniform"
        )
    low, high = np.log(of) if draw == "loguniform" else of
    return lambda x, observed: log_density(x, observed, low, high)


def forgetting(count: int) -> Floats:
    """Return the weights of so many observations, the oldest first."""
    ramp = max(0, count - FORGETTING)
    return np.concatenate([np.linspace(1 / max(count, 1), 1, ramp), np.ones(count - ramp)])


def log_frequencies(x: Floats, observed: Floats, choices: int) -> Floats:
    """Return the logarithm of the frequencies of choices, one more of each than observed."""
    weights = forgetting(observed.shape[1])[:, None]
    counts = 1 + (weights * (observed[:, :, None] == np.arange(choices))).sum(axis=1)
    shares = np.log(counts / counts.sum(axis=1, keepdims=True))
    return np.asarray(np.take_along_axis(shares, x.astype(np.int64), axis=1))


def log_density(x: Floats, observed: Floats, low: float, high: float) -> Floats:
    """Return HyperOpt's adaptive Parzen estimate: a truncated mixture of normals.

    One normal is the prior; the others are as wide as the larger gap to a neighbour.
    """
    count = observed.shape[1]
    middle, width = (low + high) / 2, high - low
    means = np.concatenate([np.full((len(observed), 1), middle), observed], axis=1)
    weights = np.broadcast_to(np.concatenate([[1.0], forgetting(count)]), means.shape)
    order = np.argsort(means, axis=1, kind="stable")
    means, weights = (np.take_along_axis(values, order, axis=1) for values in (means, weights))
    gaps = np.diff(means, axis=1)
    widths = np.concatenate(
        [gaps[:, :1], np.maximum(gaps[:, :-1], gaps[:, 1:]), gaps[:, -1:]], axis=1
    )
    if count == 1:
        widths = np.full(means.shape, width / 2)
    widths = np.clip(widths, width / min(100.0, 2.0 + count), width)
    widths = np.where(order == 0, width, widths)
    weights = weights / weights.sum(axis=1, keepdims=True)
    inside = weights * (ndtr((high - means) / widths) - ndtr((low - means) / widths))
    heights = weights / widths / math.sqrt(2 * math.pi) / inside.sum(axis=1, keepdims=True)
    apart = (x[:, :, None] - means[:, None]) / (math.sqrt(2) * widths[:, None])
    np.square(apart, out=apart)
    np.exp(np.negative(apart, out=apart), out=apart)
    # The prior is wide: the sum is never 0.
    return np.asarray(np.log(np.einsum("dcm,dm->dc", apart, heights)))
