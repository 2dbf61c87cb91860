"""Which scores are paired, and what tau is of them."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.analysis.search_studies import agreements, rank_agreement
from automata.analysis.statistics import bounds, tau
from automata.analysis.study import Study
from automata.training.subsets import SubsetPlan

FULL_SCORES = [0.1, 0.2, 0.3, 0.4, 0.5]
SWAPPED = [0.2, 0.1, 0.3, 0.4, 0.5]
"""One of ten pairs in the other order: tau = 8/10."""


def brute_tau_b(x, y):
    """Kendall (1945): concordant less discordant pairs, over what ties leave of all pairs."""
    score, x_differs, y_differs = 0, 0, 0
    for i, j in combinations(range(len(x)), 2):
        a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
        score += a * b
        x_differs += a != 0
        y_differs += b != 0
    return score / math.sqrt(x_differs * y_differs)


def run(selector, seed=0, **changes):
    values = {
        "dataset": "dna",
        "search": "random",
        "scheduler": "asha",
        "selector": selector,
        "fraction": 1.0 if selector.startswith("full") else 0.1,
        "seed": seed,
        "epochs": 40,
        "training_version": 1,
        "resumed": False,
        "device": "cpu",
        "data_sha256": "d",
        "own_model_sha256": None,
        "protocol_hash": "p",
        **changes,
    }
    return {"record": "/".join(str(value) for value in values.values()), **values}


AXES = ["dataset", "search", "scheduler", "selector", "fraction", "seed", "record"]


def scored(of, scores, epoch=4, names=None, rung=True):
    """Return evaluations of configurations called 0, 1, ... in order, or `names`."""
    return [
        {
            **{axis: of[axis] for axis in AXES},
            "index": index,
            "configuration": json.dumps({"learning_rate": name}),
            "epoch": epoch,
            "rung": rung,
            "accuracy": score,
        }
        for index, (name, score) in enumerate(zip(names or range(len(scores)), scores, strict=True))
    ]


def study(runs, trials, protocols=None):
    made = Study(Path())
    tables = {"runs": pd.DataFrame(runs), "trials": pd.DataFrame(trials)}
    made.__dict__.update(tables, protocols=protocols or {})
    return made


def agree(*tables):
    return agreements(study(*tables))


def pair(scores, **changes):
    full, subset = run("full"), run("rs2", **changes)
    return [full, subset], [*scored(full, FULL_SCORES), *scored(subset, scores)]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=5, max_size=12).filter(
        lambda pairs: len({x for x, _ in pairs}) > 1 and len({y for _, y in pairs}) > 1
    )
)
def test_tau_is_that_of_counted_pairs(pairs):
    x, y = np.array(pairs, dtype=np.float64).T

    assert tau(x, y) == pytest.approx(brute_tau_b(x, y))


def test_scores_in_the_same_order_agree_fully():
    (row,) = agree(*pair([0.01, 0.02, 0.03, 0.04, 0.05])).to_dict("records")

    assert row["tau"] == pytest.approx(1.0)
    assert row["pairs"] == 5


def test_one_swapped_pair_of_ten_is_counted():
    (row,) = agree(*pair(SWAPPED)).to_dict("records")

    assert row["tau"] == pytest.approx(0.8)


def test_configurations_are_paired_by_their_values_not_by_their_order():
    full, subset = run("full"), run("rs2")
    trials = [
        *scored(full, FULL_SCORES),
        *scored(subset, FULL_SCORES[::-1], names=[4, 3, 2, 1, 0]),
    ]

    assert agree([full, subset], trials)["tau"].tolist() == pytest.approx([1.0])


def test_only_configurations_that_both_tried_count():
    full, subset = run("full"), run("rs2")
    trials = [
        *scored(full, [*FULL_SCORES, 0.0]),
        *scored(subset, [*SWAPPED, 0.9], names=[0, 1, 2, 3, 4, 99]),
    ]

    (row,) = agree([full, subset], trials).to_dict("records")

    assert (row["pairs"], row["tau"]) == (5, pytest.approx(0.8))


def test_a_configuration_drawn_twice_is_paired_once_each():
    full, subset = run("full"), run("rs2")
    names = [0, 0, 1, 2, 3]
    trials = [
        *scored(full, FULL_SCORES, names=names),
        *scored(subset, FULL_SCORES, names=names),
    ]

    (row,) = agree([full, subset], trials).to_dict("records")

    assert (row["pairs"], row["tau"]) == (5, pytest.approx(1.0))


@pytest.mark.parametrize(
    "scores",
    [pytest.param([0.5] * 5, id="constant"), pytest.param([0.1, 0.2, 0.3, 0.4], id="four")],
)
def test_tau_is_missing_where_it_would_say_nothing(scores):
    made = study(*pair(scores))

    assert agreements(made)["tau"].isna().tolist() == [True]
    assert rank_agreement(made).empty


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"dataset": "letter"},
        {"search": "tpe"},
        {"scheduler": "hyperband"},
        {"training_version": 2},
        {"data_sha256": "e"},
        {"own_model_sha256": "m"},
        {"protocol_hash": "q"},
        {"epochs": 20},
    ],
)
def test_runs_that_do_not_score_the_same_thing_are_not_paired(changes):
    assert agree(*pair(FULL_SCORES, **changes)).empty


def test_scores_at_other_epochs_are_not_paired():
    full, subset = run("full"), run("rs2")

    assert agree(
        [full, subset], [*scored(full, FULL_SCORES), *scored(subset, FULL_SCORES, epoch=8)]
    ).empty


def test_evaluations_off_the_rungs_do_not_count():
    full, subset = run("full"), run("rs2")
    trials = [*scored(full, FULL_SCORES), *scored(subset, FULL_SCORES, rung=False)]

    assert agree([full, subset], trials).empty


@pytest.mark.parametrize(("epoch", "known"), [(1, False), (2, False), (3, True)])
def test_rungs_within_the_warm_start_have_no_tau(epoch, known):
    # 0.35 x 40 x 0.1 = 1.4: two epochs on all data.
    protocols = {"p": {"scheduler": {"asha": {"warm_start": 0.35}}}}
    full, subset = run("full"), run("rs2")
    trials = [*scored(full, FULL_SCORES, epoch), *scored(subset, SWAPPED, epoch)]

    (row,) = agree([full, subset], trials, protocols).to_dict("records")

    assert row["warm_start_epochs"] == 2
    assert math.isnan(row["tau"]) is not known


@pytest.mark.parametrize("fraction", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("epochs", [20, 40, 200, 300])
def test_the_warm_start_is_as_long_as_in_training(fraction, epochs):
    protocols = {"p": {"scheduler": {"asha": {"warm_start": 0.35}}}}
    full, subset = run("full", epochs=epochs), run("rs2", epochs=epochs, fraction=fraction)
    trials = [*scored(full, FULL_SCORES), *scored(subset, SWAPPED)]

    table = agree([full, subset], trials, protocols)

    plan = SubsetPlan(selector=None, fraction=fraction, warm_start=0.35)  # type: ignore[arg-type]
    assert table["warm_start_epochs"].tolist() == [plan.warm_start_epochs(epochs)]


def test_a_repeat_of_full_has_no_warm_start():
    protocols = {"p": {"scheduler": {"asha": {"warm_start": 0.35}}}}
    full, again = run("full"), run("full-again")
    trials = [*scored(full, FULL_SCORES), *scored(again, SWAPPED)]

    (row,) = agree([full, again], trials, protocols).to_dict("records")

    assert (row["selector"], row["tau"]) == ("full-again", pytest.approx(0.8))


def seeds(count):
    runs, trials = [], []
    for seed in range(count):
        full, subset = run("full", seed), run("rs2", seed)
        runs += [full, subset]
        scores = FULL_SCORES if seed == 0 else SWAPPED
        trials += [*scored(full, FULL_SCORES), *scored(subset, scores)]
    return runs, trials


@pytest.mark.parametrize(("count", "interval"), [(2, "range"), (3, "95 %")])
def test_seeds_are_averaged_with_the_bounds_of_the_tradeoff(count, interval):
    taus = np.array([1.0, 0.8, 0.8][:count])

    (row,) = rank_agreement(study(*seeds(count))).to_dict("records")

    assert row["tau"] == pytest.approx(taus.mean())
    assert (row["tau_low"], row["tau_high"]) == pytest.approx(bounds(taus))
    assert (row["interval"], row["units"], row["pairs"]) == (interval, count, 5 * count)


def test_rows_name_the_records_of_both_sides():
    runs, trials = seeds(2)

    (row,) = rank_agreement(study(runs, trials)).to_dict("records")

    assert row["records"].split() == sorted(run["record"] for run in runs)


@pytest.mark.parametrize(
    ("epoch", "level"), [(40, 0), (39, 0), (13, 1), (12, 1), (16, 1), (4, 2), (1, 3)]
)
def test_rungs_are_grouped_by_the_nearest_third(epoch, level):
    full, subset = run("full"), run("rs2")
    trials = [*scored(full, FULL_SCORES, epoch), *scored(subset, SWAPPED, epoch)]

    (row,) = rank_agreement(study([full, subset], trials)).to_dict("records")

    assert (row["level"], row["percent"]) == (level, pytest.approx(100 * epoch / 40))


def test_groups_of_three_data_sets_vary_over_these():
    runs, trials = [], []
    for dataset, scores in [("dna", FULL_SCORES), ("letter", SWAPPED), ("sst2", SWAPPED)]:
        for seed in range(2):
            full, subset = run("full", seed, dataset=dataset), run("rs2", seed, dataset=dataset)
            runs += [full, subset]
            trials += [*scored(full, FULL_SCORES), *scored(subset, scores)]

    (row,) = rank_agreement(study(runs, trials)).to_dict("records")

    assert (row["over"], row["units"], row["runs"], row["pairs"]) == ("data sets", 3, 6, 30)
    assert row["tau"] == pytest.approx(2.6 / 3)


def test_no_trials_make_an_empty_table():
    runs, trials = pair(SWAPPED)

    table = rank_agreement(study(runs, pd.DataFrame(trials).iloc[:0]))

    assert table.empty
    assert "tau" in table.columns
