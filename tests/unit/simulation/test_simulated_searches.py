"""Thousands of searches at once, against the search itself and against a replay in plain loops."""

import math
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.sections import SchedulerSettings
from automata.registry import SCHEDULERS, load
from automata.simulation.curves import FULL, DatasetCurves, PoolCurves, Strategy
from automata.simulation.methods import Comparison, Sample, best_first, ends_under
from automata.tuning.search import Search
from made_curves import asked
from support.simulated import simulate


class Proposer:
    """Proposes 0, 1, 2, ..."""

    blind = 1000

    def __init__(self):
        self.numbers = count()

    def suggest(self, trial_id):
        return {"place": next(self.numbers)}

    def on_trial_complete(self, trial_id, result):
        """Learn nothing."""


ETAS = st.integers(2, 5)


def rungs_of(configurations, epochs, settings):
    found = {epochs}
    for name in SCHEDULERS:
        scheduler = load(SCHEDULERS, name)(configurations, epochs, settings)
        found.update(rung for trial in range(configurations) for rung in scheduler.rungs(trial))
    return sorted(found)


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
    rungs = rungs_of(configurations, epochs, settings)
    shape = 3, configurations, len(rungs)
    scores = np.random.default_rng(seed).integers(0, levels, shape) / levels
    scheduler = load(SCHEDULERS, name)(configurations, epochs, settings)
    ends = ends_under(scheduler, scores, rungs)
    best = best_first(scheduler, scores, ends)[:, 0]
    for search in range(len(scores)):

        def score(trial, epoch, search=search):
            return scores[search, trial.index, rungs.index(epoch)]

        found = simulate(Search(Proposer(), scheduler, configurations), score)
        assert [rungs[place] for place in ends[search]] == [t.epoch for t in found.trials]
        assert best[search] == found.best


# A replay of one search in plain loops, from docs/learning-curves.md alone. T = 9, eta = 3 in
# Hyperband, 4 in ASHA: rungs 1, 3, 9 and 1, 4, 9; one epoch has 1, 2, 4, 9.
EPOCHS = [1, 2, 3, 4, 9]
TRIALS, POOL, SEEDS, SEARCHES = 8, 10, 2, 40


def hyperband(scores):
    """Return the last epoch of each trial: brackets of 3, 5 and 9 places with rungs 9; 3, 9; ..."""
    ends, first = [0] * len(scores), 0
    for places, rungs in [(3, [9]), (5, [3, 9]), (9, [1, 3, 9])]:
        alive = list(range(first, min(first + places, len(scores))))
        first += places
        for rung in rungs:
            for trial in alive:
                ends[trial] = rung
            places = math.ceil(places / 3)
            alive.sort(key=lambda trial: (scores[trial][rung], trial))
            alive = alive[max(0, len(alive) - places) :]
    return ends


def asha(scores):
    ends, seen = [], {1: [], 4: []}
    for trial in scores:
        end = 9
        for rung in (1, 4):
            earlier = list(seen[rung])
            seen[rung].append(trial[rung])
            if earlier and trial[rung] < np.percentile(earlier, 75):
                end = rung
                break
        ends.append(end)
    return ends


def one_epoch(scores):
    ends, alive = [1] * len(scores), list(range(len(scores)))
    for rung, left, following in [(1, 3, 2), (2, 2, 4), (4, 1, 9)]:
        alive = sorted(alive, key=lambda trial: (-scores[trial][rung], trial))[:left]
        for trial in alive:
            ends[trial] = following
    return ends


def replayed(name, curves, order, seed, other):
    """Return the choice, its test accuracy, and all samples, of one search by a method."""
    full = curves[FULL]
    if name == "untuned":
        return order[0], full.test[seed, order[0]], full.costs[0, seed, order[0], -1]
    seed = other if "repeat" in name else seed
    strategy = next((it for it in curves if name.startswith(f"{it.selector} ")), FULL)
    trained, metric = curves[strategy], "log_loss" if "by loss" in name else "accuracy"

    def scored(curve, trial):
        return dict(zip(EPOCHS, curve.scores[metric][seed, trial], strict=True))

    trials = order[:TRIALS]
    scores = [scored(trained, trial) for trial in trials]
    rule = {"FULL, ASHA": asha, "one epoch": one_epoch}.get(name, hyperband)
    ends = rule(scores)
    places = [EPOCHS.index(end) for end in ends]
    spent = sum(trained.costs[0, seed, t, place] for t, place in zip(trials, places, strict=True))
    last = [score[end] for score, end in zip(scores, ends, strict=True)]
    if rule is one_epoch:
        last = [score if end == 9 else -1 for score, end in zip(last, ends, strict=True)]
    ranked = sorted(range(TRIALS), key=lambda trial: (-last[trial], trial))
    chosen = trials[ranked[0]]
    if strategy == FULL:
        spent -= trained.costs[0, seed, chosen, places[ranked[0]]]
    if "3 finalists" in name:
        left = [trials[place] for place in ranked[:3]]
        for rung, survivors in ((2, 2), (4, 1)):
            best = sorted(left, key=lambda trial: -scored(full, trial)[rung])[:survivors]
            out = [trial for trial in left if trial not in best]
            spent += sum(full.costs[0, seed, trial, EPOCHS.index(rung)] for trial in out)
            left = [trial for trial in left if trial in best]
        (chosen,) = left
    return chosen, full.test[seed, chosen], spent + full.costs[0, seed, chosen, -1]


def test_every_method_chooses_and_costs_what_a_replay_in_plain_loops_does():
    random = np.random.default_rng(3)
    curves = {}
    for strategy, samples in ((FULL, 100.0), (Strategy("rs2", 0.1), 10.0)):
        shape = SEEDS, POOL, len(EPOCHS)
        taken = np.cumsum(random.integers(1, 9, shape), axis=2) * samples
        accuracy, likelihood = random.integers(1, 6, (2, *shape)) / 5  # with ties
        scores = {"accuracy": accuracy, "log_loss": likelihood}
        test = random.random(shape[:2])
        curves[strategy] = PoolCurves(EPOCHS, scores, np.stack([taken] * 2), test)
    order = random.random((SEARCHES, POOL)).argsort(axis=1)
    seeds = random.integers(0, SEEDS, SEARCHES)
    wanted = asked(TRIALS, ["hyperband", "asha"], POOL, epochs=9)
    recorded = DatasetCurves(wanted, list(range(SEEDS)), np.zeros(POOL), curves)
    sample = Sample(order, np.stack([seeds, 1 - seeds], axis=1))
    known = []
    for method, outcome in Comparison(recorded, "hyperband", sample).outcomes():
        expected = [
            replayed(method.name, curves, list(order[d]), seeds[d], 1 - seeds[d])
            for d in range(SEARCHES)
        ]
        found = zip(outcome.chosen, outcome.test, outcome.costs[0], strict=True)
        assert list(found) == expected, method.name
        known.append(method.name)
    assert known == [
        *("FULL", "FULL (repeat)", "FULL, ASHA", "untuned", "one epoch"),
        *("rs2 10 %", "rs2 10 %, 3 finalists"),
        *("rs2 10 %, by loss", "rs2 10 %, by loss, 3 finalists"),
    ]
