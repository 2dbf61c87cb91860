"""Thousands of searches at once, against the search itself and a replay of each."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.sections import SchedulerSettings
from automata.loading import load
from automata.registry import SCHEDULERS
from automata.search.search import Search
from studies.curves.curves import FULL, DatasetCurves, PoolCurves, Strategy
from studies.curves.methods import Comparison, Sample, best_first, ends_under, halving_at
from studies.curves.plan import rungs
from support.simulated import simulate

from .made_curves import asked

ETAS = st.integers(2, 5)
PROPOSER = SimpleNamespace(
    uninformed=1000, suggest=lambda trial_id: {}, on_trial_complete=lambda trial_id, result: None
)


@pytest.mark.parametrize("name", SCHEDULERS)
@given(
    configurations=st.integers(1, 40),
    epochs=st.sampled_from([1, 3, 9, 20, 27, 40, 81, 200]),
    levels=st.sampled_from([2, 5, 1000]),
    etas=st.fixed_dictionaries({"hyperband": ETAS, "sha": ETAS, "asha": ETAS}),
    grace=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
def test_trials_end_where_those_of_the_search_itself_do(
    name, configurations, epochs, levels, etas, grace, seed
):
    """Fewer `levels` of the score make ties."""
    content = {scheduler: {"reduction_factor": eta} for scheduler, eta in etas.items()}
    content["asha"]["grace_period"] = grace
    settings = SchedulerSettings.model_validate(content)
    epoch_of = rungs(SimpleNamespace(configurations=configurations, epochs=epochs), settings)
    shape = 3, configurations, len(epoch_of)
    scores = np.random.default_rng(seed).integers(0, levels, shape) / levels
    scheduler = load(SCHEDULERS, name)(configurations, epochs, settings)
    ends = ends_under(scheduler, scores, epoch_of)
    last = np.take_along_axis(scores, ends[:, :, None], axis=2)[:, :, 0]
    best = best_first(scheduler, last, ends)[:, 0]
    for search in range(len(scores)):

        def score(trial, epoch, search=search):
            return scores[search, trial.index, epoch_of.index(epoch)]

        found = simulate(Search(PROPOSER, scheduler, configurations), score)
        assert [epoch_of[place] for place in ends[search]] == [t.epoch for t in found.trials]
        assert best[search] == found.best


# A replay of one search at a time, from docs/learning-curves.md. T/50 and T/10 are epoch 1.
EPOCHS = [1, 2, 3, 4, 9]
TRIALS, POOL, SEEDS, SEARCHES = 8, 10, 2, 40
SCHEDULERS_OF = {"FULL, ASHA": "asha", "one epoch": "one-epoch"}


def searched(curve, metric, seed, trials, name):
    """Return the samples of each trial, and (trial, last score) from the best to the worst."""
    scheduler = halving_at(TRIALS, EPOCHS, {0.02: 9, 0.1: 5, 0.3333: 3})
    if name != "plain halving":
        kind = load(SCHEDULERS, SCHEDULERS_OF.get(name, "hyperband"))
        scheduler = kind(TRIALS, EPOCHS[-1], SchedulerSettings())
    scores = curve.scores[metric][None, seed, trials]
    (ends,) = ends_under(scheduler, scores, EPOCHS)
    last = scores[0, range(TRIALS), ends]
    ranked = best_first(scheduler, last[None], ends[None])[0]
    spent = {
        trial: curve.costs[0, seed, trial, end] for trial, end in zip(trials, ends, strict=True)
    }
    return spent, [(trials[place], last[place]) for place in ranked]


def finalist(full, metric, seed, finalists, stages):
    """Return the best of the `finalists`, and the samples of the others."""
    left, spent = list(finalists), 0
    for rung, survivors in stages:
        place = EPOCHS.index(rung)
        order = sorted(left, key=lambda it: -full.scores[metric][seed, it, place])
        spent += sum(full.costs[0, seed, it, place] for it in order[survivors:])
        left = [trial for trial in left if trial in order[:survivors]]
    return left[0], spent


def replayed(name, strategy, curves, order, seed):
    """Return the choice, its test accuracy, and all samples, of one search by a method."""
    full, trials = curves[FULL], order[:TRIALS]
    metric = "log_loss" if "by loss" in name else "accuracy"
    if name == "untuned":
        chosen, spent = order[0], 0
    elif name == "hedge":
        finalists, spent = [], 0
        for beta in (0.0, 0.5):
            screen = curves[Strategy("rs2", 0.01, beta)]
            costs, ranked = searched(screen, "log_loss", seed, trials, name)
            spent += sum(costs.values())
            finalists += [it for it, last in ranked[:3] if last > 0 and it not in finalists]
        chosen, lost = finalist(full, "accuracy", seed, finalists, [(1, 3), (3, 2), (9, 1)])
        spent += lost
    else:
        costs, ranked = searched(curves[strategy], metric, seed, trials, name)
        chosen = ranked[0][0]
        if strategy == FULL:
            del costs[chosen]
        spent = sum(costs.values())
        if "3 finalists" in name:
            finalists = [it for it, last in ranked[:3] if last > 0]
            chosen, lost = finalist(full, metric, seed, finalists, [(2, 2), (4, 1), (9, 1)])
            spent += lost
    return chosen, full.test[seed, chosen], spent + full.costs[0, seed, chosen, -1]


def test_every_method_chooses_and_costs_what_a_replay_of_each_search_does():
    random = np.random.default_rng(3)
    curves, shape = {}, (SEEDS, POOL, len(EPOCHS))
    one_percent = Strategy("rs2", 0.01), Strategy("rs2", 0.01, 0.5)
    for strategy in (FULL, Strategy("rs2", 0.1), *one_percent):
        costs = np.cumsum(random.integers(1, 9, shape), axis=2) * (1000 * strategy.fraction)
        finite = np.arange(len(EPOCHS)) < random.integers(0, 12, (*shape[:2], 1))
        accuracy, likelihood = random.integers(1, 6, (2, *shape)) / 5 * finite  # with ties
        scores = {"accuracy": accuracy, "log_loss": likelihood}
        test = random.random(shape[:2])
        curves[strategy] = PoolCurves(EPOCHS, scores, np.stack([costs] * 2), test)
    order = random.random((SEARCHES, POOL)).argsort(axis=1)
    seeds = random.integers(0, SEEDS, SEARCHES)
    wanted = asked(TRIALS, ["hyperband", "asha"], POOL, epochs=EPOCHS[-1])
    recorded = DatasetCurves(wanted, list(range(SEEDS)), np.zeros(POOL), curves)
    sample = Sample(order, np.stack([seeds, 1 - seeds], axis=1))
    outcomes = [*Comparison(recorded, "hyperband", sample).outcomes()]
    assert len({method for method, _ in outcomes}) == len(outcomes) > 10
    for method, outcome in outcomes:
        own = 1 - seeds if method.name == "FULL (repeat)" else seeds
        expected = [
            replayed(method.name, method.strategy, curves, list(each), seed)
            for each, seed in zip(order, own, strict=True)
        ]
        found = zip(outcome.chosen, outcome.test, outcome.costs[0], strict=True)
        assert list(found) == expected, method.name
