"""How far simulated searches can be trusted."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from automata.simulation.study import _simultaneous
from automata.simulation.table import complete
from automata.simulation.validation import against_real, noise, rank_correlation
from made_curves import EPOCHS, POOL, asked, made_curves, made_study

ASKED = {"made": asked()}


def test_noise_is_the_mean_difference_of_two_seeds():
    """Of two normal scores that is 2 sigma / sqrt(pi)."""
    found = noise(complete(made_curves(0.01), ASKED)).set_index("dataset").loc["made"]
    assert (found["seeds"], found["test"], found["best"]) == (2, 0, 0)
    assert found["validation"] == pytest.approx(100 * 0.01 * 2 / np.sqrt(np.pi), rel=0.5)


def test_rank_correlation_by_hand():
    curves = made_curves(0.0)
    backwards = (curves["selector"] == "rs2") & (curves["epoch"] == 1)
    curves.loc[backwards, "accuracy"] *= -1
    found = rank_correlation(complete(curves, ASKED))
    assert found["ceiling"].to_numpy() == pytest.approx(1)
    of_rs2 = found[(found["selector"] == "rs2") & (found["metric"] == "accuracy")]
    assert of_rs2.set_index("epoch")["tau"].to_dict() == pytest.approx(
        {1: -1, 2: 1, 3: 1, 4: 1, 8: 1}
    )


def test_scores_that_are_all_equal_have_no_rank():
    curves = made_curves(0.0)
    curves.loc[curves["selector"] == "rs2", "accuracy"] = 0.5
    found = rank_correlation(complete(curves, ASKED))
    assert (found[(found["selector"] == "rs2") & (found["metric"] == "accuracy")]["tau"] == 0).all()


def test_a_data_set_without_curves_of_two_seeds_has_neither_noise_nor_ceiling():
    curves = made_curves(0.0)
    recorded = complete(curves[curves["seed"] == 0], ASKED | {"other": asked()})
    assert [*recorded] == ["made"]
    assert noise(recorded).empty
    assert rank_correlation(recorded).empty


def run(selector="rs2", scheduler="none", accuracy=0.5, fraction=0.1, search="random"):
    return {
        "dataset": "made",
        "search": search,
        "scheduler": scheduler,
        "selector": selector,
        "fraction": fraction,
        "seed": 3,
        "test_accuracy": accuracy,
        "protocol_hash": "p",
    }


def test_real_searches_are_held_against_simulated_ones_of_their_way():
    simulated = made_study(made_curves(0.0)).methods
    simulated.insert(0, "dataset", "made")
    best = (POOL - 1) / POOL
    runs = pd.DataFrame(
        [
            run(accuracy=best),
            run(accuracy=0.1),
            run("full-again", accuracy=best, fraction=1.0),
            run(search="tpe"),
            run("craig"),
            run("untuned", fraction=0.0),
            run(scheduler="asha"),
        ]
    )
    protocol = {
        "search_space": {"x": {"uniform": [0.0, 1.0]}},
        "configurations": 6,
        "epochs": EPOCHS[-1],
    }

    def inside(warm_start, **changes):
        settings = {"none": {"warm_start": warm_start}}
        protocols = {"p": {"scheduler": settings, "protocol": protocol | changes}}
        return against_real(simulated, ASKED, runs, protocols)

    found = inside(0.0)
    assert list(zip(found["selector"], found["test_accuracy"], found["inside"], strict=True)) == [
        ("full", best, True),
        ("rs2", best, True),
        ("rs2", 0.1, False),
    ]
    assert not found["from_pool"].any()
    assert inside(0.5)["selector"].tolist() == ["full"]
    assert inside(0.0, configurations=7).empty
    assert inside(0.0, epochs=4).empty
    assert inside(0.0, search_space={"x": {"uniform": [0.0, 2.0]}}).empty
    assert inside(0.0, metric="macro_f1").empty


def test_one_epoch_is_held_against_its_own_and_the_search_of_the_pool_is_told():
    simulated = made_study(made_curves(0.0)).methods
    simulated.insert(0, "dataset", "made")
    runs = pd.DataFrame([run("full", "one-epoch", fraction=1.0), run() | {"seed": 0}])
    protocol = {
        "search_space": {"x": {"uniform": [0.0, 1.0]}},
        "configurations": 6,
        "epochs": EPOCHS[-1],
    }
    found = against_real(
        simulated, ASKED, runs, {"p": {"scheduler": {}, "protocol": protocol}}
    ).set_index("method")
    assert found["from_pool"].to_dict() == {"one epoch": False, "rs2 10 %": True}


def test_simultaneous_intervals_of_independent_methods_are_those_of_sidak():
    """Of m independent normal means the largest deviation has a known distribution."""
    methods, resamples = 20, 20000
    excesses = np.random.default_rng(0).normal(scale=2.0, size=(methods, resamples))
    expected = 2 * norm.ppf((1 + 0.95 ** (1 / methods)) / 2)
    assert _simultaneous(excesses) == pytest.approx(np.full(methods, expected), rel=0.03)


def test_a_method_that_never_differs_has_an_interval_of_one_point():
    assert (_simultaneous(np.zeros((3, 200))) == 0).all()
