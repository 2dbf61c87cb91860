"""The search among finalists, against a loop over rungs."""

import math
from types import SimpleNamespace

import hypothesis.strategies as st
from hypothesis import given

from automata.search.finalists import FinalSearch, best_trials
from support.searching import make_job
from support.simulated import simulate

SCORES = st.sampled_from([0.0, 0.2, 0.5, 0.5, 0.7, math.nan])


@given(data=st.data(), count=st.integers(1, 7), slots=st.integers(1, 3))
def test_the_best_at_each_rung_go_on_and_the_earlier_of_equal_ones(data, count, slots):
    left = data.draw(st.sampled_from([{0.1: 3, 0.3333: 2}, {0.1: 4, 0.25: 2, 0.5: 1}]))
    protocol = make_job(epochs=81, finalist_rungs=left).settings.protocol
    rungs = {**{round(81 * share): stay for share, stay in left.items()}, 81: 1}
    scores = {(it, rung): data.draw(SCORES) for it in range(count) for rung in rungs}

    search = FinalSearch([{"number": it} for it in range(count)], protocol, slots)
    simulate(search, lambda trial, epoch: scores[trial.index, epoch])

    alive, ends, compared = [*range(count)], {}, 0
    lost = set()
    for rung, stay in rungs.items():
        compared += len(alive) > 1
        lost |= {it for it in alive if len(alive) > 1 and math.isnan(scores[it, rung])}
        ends |= dict.fromkeys(alive, rung)
        now = {it: 0.0 if it in lost else scores[it, rung] for it in alive}
        best = sorted(alive, key=lambda it: -now[it])[:stay] if len(alive) > 1 else alive
        alive = [it for it in alive if it in best]
    assert [search.best.index] == alive
    assert {trial.index: trial.epoch for trial in search.trials} == ends
    assert search.compared == compared


def test_each_screen_has_its_best_trials_and_the_earlier_of_equal_ones():
    scores = [0.9, 0.9, 0.9, 0.99, 0.9, 0.7, 0.5, 0.95]  # four of each screen
    tuning = SimpleNamespace(
        best=7,
        trials=[
            SimpleNamespace(
                index=index,
                status="failed" if index == 3 else "completed",
                configuration={"x": index % 4},
                progress=SimpleNamespace(standing=score),
            )
            for index, score in enumerate(scores)
        ],
    )
    found = best_trials(tuning, SimpleNamespace(configurations=4, finalists=2))
    assert [trial.index for trial in found] == [0, 1, 7]  # 4 has the configuration of 0
