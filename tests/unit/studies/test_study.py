"""Methods compared on the same simulated searches, and the checks of simulated searches."""

import numpy as np
import pandas as pd
import pytest

from automata.errors import UserError
from automata.names import REPEAT
from studies.curves.curves import complete
from studies.curves.methods import Outcome
from studies.curves.tables import (
    RESAMPLES,
    SEARCHES,
    SEARCHES_EACH,
    Simulation,
    _numbers,
    against_real,
    compared,
    contrasts,
    simulated,
)

from .made_curves import EPOCHS, POOL, asked, made_curves, made_study

ASKED = {"made": asked()}


def test_the_interval_of_a_regret_is_around_its_mean_whatever_the_bias_of_the_resamples():
    """Searches lose 0 to 1.999 points; the resamples 0 to 1.99, on average 0.995."""
    lost = np.concatenate([np.arange(2000) / 1000, np.arange(200).repeat(50) / 100])
    full = Outcome(np.zeros(12_000), np.ones(12_000), np.ones((2, 12_000)))
    found = _numbers(full._replace(test=1 - lost / 100), full)
    # 2.5 % of the resamples lose less than 0.04975.
    expected = [0.9995, 0.9995 - 0.995 + 0.04975, 0.9995 - 0.995 + 1.94025]
    assert [found[f"regret{end}"] for end in ("", "_low", "_high")] == pytest.approx(expected)


def test_a_loss_of_exactly_two_points_is_not_above_two():
    searches = SEARCHES + RESAMPLES * SEARCHES_EACH
    right = np.resize(np.arange(11, 501), searches)  # of 500: in binary some lose more than two
    full, two, more = (
        Outcome(right, (right - lost) / 500, np.ones((2, searches))) for lost in (0, 10, 11)
    )
    assert [_numbers(other, full)["lost_2"] for other in (two, more)] == [0, 1]


def test_a_strategy_without_the_whole_pool_under_each_seed_takes_no_part():
    made = made_curves()
    of_rs2 = made["selector"] == "rs2"
    lacks = made[~(of_rs2 & (made["seed"] == 1) & (made["configuration"] == 5))]
    other = of_rs2 & (made["configuration"] == 0)
    another_part = made.assign(configuration=made["configuration"].mask(other, POOL))
    for curves in (lacks, another_part):
        assert not made_study(curves)["method"].str.startswith("rs2").any()


def test_the_seeds_are_those_under_which_full_has_the_whole_pool():
    made = made_curves()
    of_full = made["selector"] == "full"
    lacks = of_full & (made["seed"] == 1) & (made["configuration"] == 5)
    found = made_study(made[~lacks])
    assert (found["seeds"] == 1).all()
    assert REPEAT not in set(found["method"])  # there is no other seed
    with pytest.raises(UserError, match=r"^no data set has all curves of FULL"):
        made_study(made[~(of_full & (made["configuration"] == 7))])


def test_one_line_names_the_schedulers_that_can_be_simulated():
    recorded = complete(made_curves(), {"made": asked(schedulers=())})
    message = r"^experiment\.schedulers: no scheduler .*; valid: hyperband, asha, sha, none$"
    with pytest.raises(UserError, match=message):
        compared(recorded)


def test_contrasts_are_means_over_data_sets_and_fractions_of_both_methods():
    columns = ["dataset", "selector", "fraction", "regret", "horizon_exponent"]
    rows = [
        ("dna", "gradmatch", 0.01, 1.0, 0.0),
        ("dna", "rs2", 0.01, 0.5, 0.0),
        ("letter", "gradmatch", 0.1, 3.0, 0.0),
        ("letter", "rs2", 0.1, 1.0, 0.0),
        ("letter", "rs2", 0.1, 0.25, 0.5),
        ("letter", "gradmatch", 0.05, 9.0, 0.0),  # RS2 lacks it
    ]
    table = pd.DataFrame(rows, columns=columns)
    table = table.assign(scheduler="hyperband", metric="accuracy", finalists=1)
    table["resampled"] = [row[3] + np.array([-1.0, 0.0, 1.0]) * row[2] for row in rows]
    found = contrasts(table, {"dna": "tabular", "letter": "tabular"})
    assert found.drop(columns=["scheduler", "kind"]).to_numpy().tolist() == [
        ["gradmatch", 0.0, "rs2", 2, 1.25, 1.25, 1.25],
        ["rs2", 0.5, "rs2", 1, -0.75, -0.75, -0.75],
    ]


def test_a_single_seed_has_no_tables_about_noise():
    curves = made_curves()
    simulation = Simulation(trainings=[], searches=ASKED, real=[])
    tables = dict(simulated(curves[curves["seed"] == 0], simulation))
    assert tables["noise"].empty
    assert tables["ranks"].empty


def test_real_searches_are_compared_with_simulated_ones_of_the_same_training():
    made = made_study(made_curves())
    best = (POOL - 1) / POOL
    columns = ["selector", "fraction", "scheduler", "search", "seed", "test_accuracy"]
    rows = [
        ("rs2", 0.1, "none", "random", 3, best),
        ("rs2", 0.1, "none", "random", 3, 0.1),
        ("full-again", 1.0, "none", "random", 3, best),
        ("full", 1.0, "one-epoch", "random", 3, best),
        ("rs2", 0.1, "none", "tpe", 3, best),
        ("craig", 0.1, "none", "random", 3, best),
    ]
    runs = pd.DataFrame(rows, columns=columns).assign(dataset="made", protocol_hash="p")
    space = {"x": {"uniform": [0.0, 1.0]}}
    protocol = {"search_space": space, "configurations": 6, "epochs": EPOCHS[-1]}

    def found(warm_start=0.0, **changes):
        settings = {"none": {"warm_start": warm_start}}
        protocols = {"p": {"scheduler": settings, "protocol": protocol | changes}}
        table = against_real(made, ASKED, runs, protocols)
        return table[["method", "test_accuracy", "inside"]].to_numpy().tolist()

    of_full = [["FULL", best, True], ["one epoch", best, True]]
    of_rs2 = [["rs2 10 %", best, True], ["rs2 10 %", 0.1, False]]
    assert found() == [of_full[0], *of_rs2, of_full[1]]
    assert found(warm_start=0.5) == found(horizon_exponent=0.5) == of_full
    assert found(configurations=7) == []
    assert found(epochs=4) == []
    assert found(search_space={"x": {"uniform": [0.0, 2.0]}}) == []
    assert found(metric="macro_f1") == []
    assert found(finalists=3) == []
    assert found(break_ties=True) == []
