"""TPE on a pool against HyperOpt's own functions, in the search as it really runs."""

import numpy as np
import pytest
from hyperopt import tpe
from hypothesis import given
from hypothesis import strategies as st

from automata.config.sections import SchedulerSettings
from automata.config.spaces import Domain
from automata.errors import UserError
from automata.registry import ALL_DATA_SCHEDULERS, SCHEDULERS, load
from automata.simulation.methods import Draws
from automata.simulation.schedulers import ended_before, stopped_at
from automata.simulation.tpe import Tpe, log_density, log_frequencies
from automata.tuning.search import SCORE, Search
from support.simulated import simulate

SPACE = {
    "learning_rate": Domain(loguniform=(0.001, 0.1)),
    "momentum": Domain(uniform=(0.0, 0.9)),
    "batch_size": Domain(choice=[16, 32, 64]),
}
SETTINGS = SchedulerSettings()


def drawn_pool(random, size):
    return [
        {
            "learning_rate": float(np.exp(random.uniform(np.log(0.001), np.log(0.1)))),
            "momentum": float(random.uniform(0, 0.9)),
            "batch_size": int(random.choice([16, 32, 64])),
        }
        for _ in range(size)
    ]


def hyperopt_log_density(x, observed, low, high):
    """Return the log density of x (c,) by observations (m,)."""
    parts = tpe.adaptive_parzen_normal(np.asarray(observed), 1.0, (low + high) / 2, high - low)
    return tpe.GMM1_lpdf(np.asarray(x), *parts, low=low, high=high)


def hyperopt_log_frequencies(x, observed, choices):
    weights = tpe.linear_forgetting_weights(len(observed), 25)
    counts = np.bincount(observed, weights=weights, minlength=choices) + 1
    return np.log(counts / counts.sum())[x]


@given(st.integers(0, 2**16), st.integers(1, 60))
def test_densities_are_those_of_hyperopt(seed, count):
    random = np.random.default_rng(seed)
    observed, x = random.uniform(-1, 3, (2, count)), random.uniform(-1, 3, (2, 7))
    found = log_density(x, observed, -1.0, 3.0)
    places, chosen = random.integers(0, 4, (2, count)), random.integers(0, 4, (2, 7))
    frequent = log_frequencies(chosen.astype(float), places.astype(float), 4)
    for row in range(2):
        expected = hyperopt_log_density(x[row], observed[row], -1.0, 3.0)
        assert found[row] == pytest.approx(expected, rel=1e-9)
        expected = hyperopt_log_frequencies(chosen[row], places[row], 4)
        assert frequent[row] == pytest.approx(expected, rel=1e-9)


class PoolOfHyperopt:
    """TPE that takes its candidates from a pool, with the functions of HyperOpt."""

    def __init__(self, pool, startup):
        self.blind = startup
        self.pool = pool
        self.losses = {}
        self.proposed = []

    def suggest(self, trial_id):
        trial = len(self.proposed)
        place = trial
        if trial >= self.blind and self.losses:
            losses = [self.losses.get(t, np.inf) for t in range(trial)]
            gains = [self.gain(one, losses) for one in self.pool]
            free = [p for p in range(len(self.pool)) if p not in self.proposed]
            place = max(free, key=lambda p: (gains[p], -p))
        self.proposed.append(place)
        return {"place": place}

    def gain(self, candidate, losses):
        total = 0.0
        trials = list(range(len(losses)))
        for name, domain in SPACE.items():
            draw, of = domain.draw
            values = [self.pool[place][name] for place in self.proposed]
            x = candidate[name]
            if draw == "choice":
                values, x = [of.index(value) for value in values], of.index(x)
            elif draw == "loguniform":
                values, x, of = np.log(values), np.log(x), np.log(of)
            below, above = tpe.ap_split_trials(trials, values, trials, losses, 0.25)
            density = hyperopt_log_frequencies if draw == "choice" else hyperopt_log_density
            of = [len(of)] if draw == "choice" else of
            total += density([x], below, *of)[0] - density([x], above, *of)[0]
        return total

    def on_trial_complete(self, trial_id, result):
        self.losses[int(trial_id)] = -result[SCORE]


@pytest.mark.parametrize("name", [name for name in SCHEDULERS if name not in ALL_DATA_SCHEDULERS])
@pytest.mark.parametrize(("n", "startup"), [(12, 5), (27, 20)])
def test_proposals_are_those_of_the_search_itself(name, n, startup):
    random = np.random.default_rng(n)
    pool = drawn_pool(random, 40)
    scheduler = load(SCHEDULERS, name)(n, 27, SETTINGS)
    rungs = sorted({rung for trial in range(n) for rung in scheduler.rungs(trial)})
    scores = random.random((3, len(pool), len(rungs)))
    draws = Draws(np.tile(np.arange(len(pool)), (3, 1)), n, *[np.zeros(3, dtype=int)] * 2)

    def stopped(some):
        return stopped_at(name, some, rungs, SETTINGS)

    found = Tpe(SPACE, pool, startup)(scores, draws, ended_before(name, n, 27, SETTINGS), stopped)
    for row, own in zip(found, scores, strict=True):
        proposer = PoolOfHyperopt(pool, startup)
        search = Search(proposer, load(SCHEDULERS, name)(n, 27, SETTINGS), n)

        def score(trial, epoch, own=own):
            return own[trial.configuration["place"], rungs.index(epoch)]

        simulate(search, score)
        assert row.tolist() == proposer.proposed


def test_a_draw_that_is_not_estimated_is_refused():
    with pytest.raises(UserError, match=r"search_space\.hidden: TPE is not simulated for randint"):
        Tpe({"hidden": Domain(randint=(1, 9))}, [{"hidden": 1}], 3)
