"""The times of simulated jobs, against those worked out by hand."""

import pytest

from automata.experiment.sizes import end_of
from automata.search.schedulers import Halving, halving
from automata.search.search import Search

COSTS, SCORES = (1, 2, 4), (0.1, 0.3, 0.2)


@pytest.mark.parametrize(("slots", "end"), [(1, 17), (2, 13), (3, 12)])
def test_trials_wait_for_slots_and_for_each_other(slots, end):
    """Three trials go to epoch 1, the best two to epoch 2, the best one to epoch 4.

    On two slots trial 0 trains until 1, trial 1 until 2, and trial 2, after trial 0, until 5. Then
    trial 1 goes on until 7 and trial 2 until 9. Trial 1, the best, goes on from there until 13.
    """
    scheduler = Halving([halving(3, 4, {1: 2, 2: 1})])
    search = Search(None, scheduler, 3, slots, initial=[{"trial": it} for it in range(3)])
    ended = end_of(
        search,
        lambda trial, begin, rung: (rung - begin) * COSTS[trial.index],
        lambda trial, epoch: SCORES[trial.index],
    )
    assert ended == (end, 17)
    assert [trial.epoch for trial in search.trials] == [1, 4, 2]
