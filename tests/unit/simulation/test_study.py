"""Methods compared on the same simulated searches, and the checks of simulated searches."""

import numpy as np
import pandas as pd
import pytest

from automata.errors import UserError
from automata.names import REPEAT
from automata.simulation.curves import PoolCurves, complete
from automata.simulation.methods import Outcome
from automata.simulation.tables import (
    RESAMPLES,
    SEARCHES,
    SEARCHES_EACH,
    Simulation,
    _numbers,
    against_real,
    compared,
    contrasts,
    noise,
    ranks,
    sample_of,
    simulated,
)

from .made_curves import EPOCHS, POOL, asked, made_curves, made_study

ASKED = {"made": asked()}


def test_without_noise_no_search_loses_and_costs_are_those_by_hand():
    found = made_study(made_curves(0.0)).set_index("method")
    tuned = found.drop("untuned")
    assert (tuned[["regret", "lost_2", "regret_high"]] == 0).all(axis=None)
    # FULL takes the best of 6 of 12: 11 in one of two searches. Untuned takes any.
    assert 10 <= tuned.loc["FULL", "learning_rate"] <= 11
    # 6 trials of 8 epochs; on a tenth of the data, and 8 epochs on all.
    speedups = found.loc["rs2 10 %", ["speedup_samples", "speedup_cpu"]]
    assert speedups.tolist() == pytest.approx([48 / (4.8 + 8)] * 2)
    # The mean of the largest of 6 of 12 is 6 / 7 * 13 - 1.
    expected = 100 / POOL * (6 / 7 * 13 - 1 - 5.5)
    assert found.loc["untuned", "regret"] == pytest.approx(expected, rel=0.05)


def test_numbers_of_a_method_are_those_of_its_searches_by_hand():
    """Searches lose 0 to 1.999 points, and those of the resamples 0 to 1.99 points."""
    points = np.concatenate([np.arange(2000) / 1000, np.arange(200).repeat(50) / 100])
    costs = np.ones((2, 12_000))
    full = Outcome(np.zeros(12_000), np.ones(12_000), costs)
    numbers = _numbers(Outcome(full.chosen, 1 - points / 100, costs / 4), full)
    assert numbers["regret"] == pytest.approx(0.9995)
    # The mean of the resamples is 0.995; 2.5 % of them lose less than 0.04975.
    ends = [0.9995 - 0.995 + end for end in (0.04975, 1.94025)]
    assert [numbers["regret_low"], numbers["regret_high"]] == pytest.approx(ends)
    assert [numbers["regret_5th"], numbers["regret_95th"]] == pytest.approx([0.09995, 1.89905])
    assert [numbers["test_low"], numbers["test_high"]] == pytest.approx([0.9805975, 0.9995025])
    assert [numbers[it] for it in ("speedup_samples", "speedup_cpu")] == [4, 4]


def test_a_loss_of_exactly_two_points_is_not_above_two():
    searches = SEARCHES + RESAMPLES * SEARCHES_EACH
    right = np.resize(np.arange(11, 501), searches)  # of 500: in binary some lose more than two
    full, two, more = (
        Outcome(right, (right - lost) / 500, np.ones((2, searches))) for lost in (0, 10, 11)
    )
    assert [_numbers(other, full)["lost_2"] for other in (two, more)] == [0, 1]


def test_a_strategy_without_the_whole_pool_under_each_seed_takes_no_part():
    made = made_curves(0.3)
    of_rs2 = made["selector"] == "rs2"
    lacks = made[~(of_rs2 & (made["seed"] == 1) & (made["configuration"] == 5))]
    other = of_rs2 & (made["configuration"] == 0)
    another_part = made.assign(configuration=made["configuration"].mask(other, POOL))
    for curves in (lacks, another_part):
        assert not made_study(curves)["method"].str.startswith("rs2").any()


def test_the_seeds_are_those_under_which_full_has_the_whole_pool():
    made = made_curves(0.3)
    of_full = made["selector"] == "full"
    lacks = of_full & (made["seed"] == 1) & (made["configuration"] == 5)
    found = made_study(made[~lacks])
    assert (found["seeds"] == 1).all()
    assert REPEAT not in set(found["method"])  # there is no other seed
    with pytest.raises(UserError, match="learning_curves: no data set has all curves of FULL"):
        made_study(made[~(of_full & (made["configuration"] == 7))])


def test_one_line_names_the_schedulers_that_can_be_simulated():
    recorded = complete(made_curves(0.0), {"made": asked(schedulers=())})
    message = r"^learning_curves: no scheduler .*; valid: hyperband, asha, sha, none$"
    with pytest.raises(UserError, match=message):
        compared(recorded)


def test_a_repeat_has_a_seed_of_its_resample():
    """Half of the resamples of two seeds have one seed only, and FULL's repeat has it, too."""
    resampled = sample_of(POOL, 2).seeds[SEARCHES:].reshape(RESAMPLES, SEARCHES_EACH, 2)
    seeds, others = resampled[:, :, 0], resampled[:, :, 1]
    alone = seeds.min(axis=1) == seeds.max(axis=1)
    assert 0.3 < alone.mean() < 0.7
    assert (seeds[alone] == others[alone]).all()
    assert (seeds[~alone] != others[~alone]).all()


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


def full_curves(test, accuracy):
    """Return curves with these test accuracies (s, p) and validation accuracies (s, p, e)."""
    accuracy = np.array(accuracy)
    epochs = list(range(1, accuracy.shape[-1] + 1))
    return {"dna": PoolCurves(epochs, {"accuracy": accuracy}, accuracy[None], np.array(test))}


def test_noise_is_the_mean_difference_over_pairs_of_seeds_by_hand():
    # The pairs differ by 1, 3 and 2 points in the first configuration, the best by validation.
    test = [[0.50, 0.1, 0.1, 0.1], [0.51, 0.1, 0.1, 0.1], [0.53, 0.1, 0.1, 0.1]]
    accuracy = [[[0.9], [0.1], [0.2], [0.3]]] * 3
    (row,) = noise(full_curves(test, accuracy)).to_dict("records")
    assert (row["dataset"], row["seeds"]) == ("dna", 3)
    assert row["best"] == pytest.approx(2)
    assert row["test"] == pytest.approx(2 / 4)


def test_ranks_are_of_the_end_under_another_seed_by_hand():
    # Seed 0 ends in the order 1 2 3 4 5, seed 1 in the order 1 2 3 5 4: tau (9 - 1) / 10.
    first = np.array([[5, 1], [4, 2], [3, 3], [2, 4], [1, 5]])
    second = np.array([[1, 1], [2, 2], [3, 3], [4, 5], [5, 4]])
    found = ranks(full_curves(np.zeros((2, 5)), [first, second]))
    assert found["epoch"].tolist() == [1, 2]
    # At epoch 1, seed 0 is the reverse of its own end, and seed 1 equals the end of seed 0.
    assert found["tau"].tolist() == pytest.approx([(-0.8 + 1) / 2, 0.8])


def test_a_single_seed_has_no_tables_about_noise():
    curves = made_curves(0.0)
    simulation = Simulation(published=[], trainings=[], searches=ASKED, real=[])
    tables = dict(simulated(curves[curves["seed"] == 0], simulation))
    assert tables["noise"].empty
    assert tables["ranks"].empty


def test_real_searches_are_compared_with_simulated_ones_of_the_same_training():
    made = made_study(made_curves(0.0))
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
