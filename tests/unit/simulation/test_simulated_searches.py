"""Thousands of searches at once, against the search itself and against a replay in plain loops."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.sections import SchedulerSettings
from automata.registry import SCHEDULERS, load
from automata.simulation.curves import FULL, DatasetCurves, PoolCurves, Strategy
from automata.simulation.grid import rungs
from automata.simulation.methods import Comparison, Sample, best_first, ends_under, halving_at
from automata.tuning.search import Search
from support.simulated import simulate

from .made_curves import asked

ETAS = st.integers(2, 5)
PROPOSER = SimpleNamespace(
    blind=1000, suggest=lambda trial_id: {}, on_trial_complete=lambda trial_id, result: None
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


# A replay of one search in plain loops, from docs/learning-curves.md alone. Hyperband and ASHA end
# trials as above; one epoch has the rungs 1, 2, 4, 9. T/50 and T/10 are 1.
EPOCHS = [1, 2, 3, 4, 9]
TRIALS, POOL, SEEDS, SEARCHES = 8, 10, 2, 40


def ends_of(name, scores):
    scheduler = load(SCHEDULERS, name)(TRIALS, 9, SchedulerSettings())
    numbers = [[score[epoch] for epoch in EPOCHS] for score in scores]
    return [EPOCHS[place] for place in ends_under(scheduler, np.array([numbers]), EPOCHS)[0]]


def hyperband(scores):
    return ends_of("hyperband", scores)


def asha(scores):
    return ends_of("asha", scores)


def halved(scores, stages):
    """Return the last epoch of each trial when `left` of all go on from `rung` to `following`."""
    ends, alive = [stages[0][0]] * len(scores), list(range(len(scores)))
    for rung, left, following in stages:
        alive = sorted(alive, key=lambda trial: (-scores[trial][rung], trial))[:left]
        for trial in alive:
            ends[trial] = following
    return ends


def one_epoch(scores):
    return halved(scores, [(1, 3, 2), (2, 2, 4), (4, 1, 9)])


def plain_halving(scores):
    return halved(scores, [(1, 5, 3), (3, 3, 9)])


RULES = {"FULL, ASHA": asha, "one epoch": one_epoch, "plain halving": plain_halving}


def scored(curve, metric, seed, trial):
    return dict(zip(EPOCHS, curve.scores[metric][seed, trial], strict=True))


def searched(curve, metric, seed, trials, rule):
    """Return the epochs where trials end, and (last score, trial) from the best to the worst.

    Under a rule other than ASHA and Hyperband the best trial is at T.
    """
    scores = [scored(curve, metric, seed, trial) for trial in trials]
    ends = rule(scores)
    ranked = []
    for place, (score, end) in enumerate(zip(scores, ends, strict=True)):
        rungs = end if rule not in (asha, hyperband) and score[end] > 0 else 0
        ranked.append((-rungs, -score[end], place))
    found = [(-last, trials[place]) for _, last, place in sorted(ranked)]
    return dict(zip(trials, ends, strict=True)), found


def taken(curve, seed, ends):
    return sum(curve.costs[0, seed, trial, EPOCHS.index(end)] for trial, end in ends.items())


def finalist(full, metric, seed, finalists, stages):
    """Return the best of the `finalists`, and the samples of the others."""
    left, spent = list(finalists), 0
    for rung, survivors in stages:
        best = sorted(left, key=lambda it: -scored(full, metric, seed, it)[rung])[:survivors]
        spent += taken(full, seed, {trial: rung for trial in left if trial not in best})
        left = [trial for trial in left if trial in best]
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
            trained = curves[Strategy("rs2", 0.01, beta)]
            ends, ranked = searched(trained, "log_loss", seed, trials, hyperband)
            spent += taken(trained, seed, ends)
            finalists += [it for last, it in ranked[:3] if last > 0 and it not in finalists]
        chosen, lost = finalist(full, "accuracy", seed, finalists, [(1, 3), (3, 2), (9, 1)])
        spent += lost
    else:
        trained = curves[strategy]
        ends, ranked = searched(trained, metric, seed, trials, RULES.get(name, hyperband))
        chosen = ranked[0][1]
        if trained is full:
            del ends[chosen]
        spent = taken(trained, seed, ends)
        if "3 finalists" in name:
            finalists = [it for last, it in ranked[:3] if last > 0]
            chosen, lost = finalist(full, metric, seed, finalists, [(2, 2), (4, 1), (9, 1)])
            spent += lost
    return chosen, full.test[seed, chosen], spent + full.costs[0, seed, chosen, -1]


def test_every_method_chooses_and_costs_what_a_replay_in_plain_loops_does():
    random = np.random.default_rng(3)
    curves = {}
    one_percent = Strategy("rs2", 0.01), Strategy("rs2", 0.01, 0.5)
    for strategy in (FULL, Strategy("rs2", 0.1), *one_percent):
        shape = SEEDS, POOL, len(EPOCHS)
        costs = np.cumsum(random.integers(1, 9, shape), axis=2) * (1000 * strategy.fraction)
        diverges_at = random.integers(0, 12, (*shape[:2], 1))
        finite = np.arange(len(EPOCHS)) < diverges_at
        accuracy, likelihood = random.integers(1, 6, (2, *shape)) / 5 * finite  # with ties
        scores = {"accuracy": accuracy, "log_loss": likelihood}
        test = random.random(shape[:2])
        curves[strategy] = PoolCurves(EPOCHS, scores, np.stack([costs] * 2), test)
    order = random.random((SEARCHES, POOL)).argsort(axis=1)
    seeds = random.integers(0, SEEDS, SEARCHES)
    wanted = asked(TRIALS, ["hyperband", "asha"], POOL, epochs=9)
    recorded = DatasetCurves(wanted, list(range(SEEDS)), np.zeros(POOL), curves)
    sample = Sample(order, np.stack([seeds, 1 - seeds], axis=1))
    known = []
    for method, outcome in Comparison(recorded, "hyperband", sample).outcomes():
        expected = [
            replayed(method.name, method.strategy, curves, list(order[d]), seed)
            for d, seed in enumerate(1 - seeds if method.name == "FULL (repeat)" else seeds)
        ]
        found = zip(outcome.chosen, outcome.test, outcome.costs[0], strict=True)
        assert list(found) == expected, method.name
        known.append(method.name)
    subsets = ("rs2 10 %", "rs2 1 %", "rs2 1 %, beta 0.5")
    ways = ("", ", 3 finalists", ", by loss", ", by loss, 3 finalists")
    assert known == [
        *("FULL", "FULL (repeat)", "FULL, ASHA", "untuned", "one epoch", "plain halving", "hedge"),
        *(name + way for name in subsets for way in ways),
    ]


@pytest.mark.parametrize(
    ("epochs", "expected"),
    [([1, 2, 7, 22, 50, 64, 66, 100, 200], [22, 66, 200]), ([1, 2, 4, 5, 6, 10, 20], [2, 6, 20])],
)
def test_a_rung_is_the_nearest_recorded_epoch(epochs, expected):
    (bracket,) = halving_at(6, epochs, {0.1: 3, 0.3333: 2}).brackets
    assert (bracket.rungs, bracket.survivors) == (expected, [3, 2])
