"""Searches by the thousand against the search itself, and methods by hand."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.sections import SchedulerSettings
from automata.registry import SCHEDULERS, load
from automata.simulation.methods import Draws, Method, outcome, searched, untuned
from automata.simulation.schedulers import best_of, stopped_at
from automata.simulation.table import FULL, Curved, Way
from automata.tuning.schedulers import finalist_rungs
from automata.tuning.search import Search
from support.simulated import simulate

SETTINGS = SchedulerSettings()


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
    said = {scheduler: {"reduction_factor": eta} for scheduler, eta in etas.items()}
    said["asha"]["grace_period"] = grace
    settings = SchedulerSettings.model_validate(said)
    rungs = rungs_of(configurations, epochs, settings)
    shape = 3, configurations, len(rungs)
    scores = np.random.default_rng(seed).integers(0, levels, shape) / levels
    ends = stopped_at(name, scores, rungs, settings)
    best = best_of(name, scores, ends)
    for search in range(len(scores)):

        def score(trial, epoch, search=search):
            return scores[search, trial.index, rungs.index(epoch)]

        scheduler = load(SCHEDULERS, name)(configurations, epochs, settings)
        found = simulate(Search(Proposer(), scheduler, configurations), score)
        assert [rungs[place] for place in ends[search]] == [t.epoch for t in found.trials]
        assert best[search] == found.best


def test_unknown_scheduler_is_refused():
    with pytest.raises(KeyError, match="mine"):
        stopped_at("mine", np.zeros((1, 2, 1)), [1], SETTINGS)


EPOCHS = [1, 2, 4, 8]


def curved(accuracy, test=None, samples=10.0):
    """Return curves under one seed, an epoch takes so many samples, half the seconds."""
    accuracy = np.array([accuracy], dtype=float)
    taken = np.broadcast_to(np.array(EPOCHS) * samples, accuracy.shape)
    tested = np.full(accuracy.shape[:2], np.nan) if test is None else np.array([test])
    return Curved(EPOCHS, accuracy, accuracy, np.stack([taken, taken / 2, 3 * taken]), tested)


# Four configurations at epochs 1, 2, 4 and 8, on all data and on a tenth.
FULL_CURVES = curved(
    [[0.1, 0.2, 0.3, 0.9], [0.4, 0.5, 0.8, 0.8], [0.3, 0.6, 0.7, 0.7], [0.2, 0.1, 0.1, 0.1]],
    test=[0.9, 0.8, 0.7, 0.1],
)
SUBSET_CURVES = curved(
    [[0.1, 0.1, 0.1, 0.1], [0.2, 0.2, 0.2, 0.2], [0.3, 0.3, 0.3, 0.3], [0.4, 0.4, 0.4, 0.4]],
    samples=1.0,
)
ALL = Draws(np.array([[0, 1, 2, 3]]), 4, np.array([0]), np.array([0]))
SUBSETS = Way("rs2", 0.1)


def result(method, curves=FULL_CURVES, scheduler="none"):
    if not method.searches:
        found = untuned(FULL_CURVES, ALL)
    else:
        searches = searched(method, curves, ALL, scheduler, SETTINGS)
        found = outcome(method, searches, curves, FULL_CURVES)
    samples, seconds, joules = found.costs[:, 0]
    assert joules == 3 * samples
    return int(found.chosen[0]), float(samples), float(seconds)


def test_full_takes_all_trainings_and_no_other():
    assert result(Method()) == (0, 320.0, 160.0)


def test_subsets_take_their_samples_and_one_training_on_all_data():
    assert result(Method(SUBSETS), SUBSET_CURVES) == (3, 4 * 8 + 80.0, 56.0)


def test_untuned_trains_the_first_proposal():
    assert result(Method(searches=False)) == (0, 80.0, 40.0)


def test_one_epoch_halves_the_best_three():
    # Of 1, 2, 3 after one epoch; at T/4 = 2 the best are 2 and 1, at T/2 = 4 the best is 1.
    assert finalist_rungs(8) == {2: 2, 4: 1}
    assert result(Method(scheduler="one-epoch"))[:2] == (1, 10 + 20 + 40 + 80.0)


def test_finalists_of_a_search_are_halved_on_all_data():
    # 3, 2 and 1 have the best scores on subsets; on all data 3 ends at T/4, 2 at T/2.
    method = Method(SUBSETS, finalists=3)
    assert result(method, SUBSET_CURVES)[:2] == (1, 4 * 8 + 20 + 40 + 80.0)


def test_full_goes_on_from_where_its_best_trial_stopped():
    # Under ASHA (rungs 1, 4, 8): trial 1 goes on to 8, trials 2 and 3 end at 1.
    assert Method().way == FULL
    chosen, samples, _ = result(Method(), scheduler="asha")
    assert chosen == 0
    assert samples == 80 + 80 + 10 + 10
