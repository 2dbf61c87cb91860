"""Which scores count for a hyper-parameter, and what tau is of them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from automata.analysis.search_studies import influence
from automata.analysis.statistics import bounds

RATES = [0.1, 0.2, 0.3, 0.4, 0.5]
UP = [0.5, 0.6, 0.7, 0.8, 0.9]
SWAPPED = [0.6, 0.5, 0.7, 0.8, 0.9]
"""One of ten pairs in the other order: tau = 8/10."""


def run(selector="rs2", fraction=0.1, seed=0, search="random", scheduler="hyperband"):
    if selector.startswith("full"):
        fraction = 1.0
    values = {"search": search, "scheduler": scheduler, "selector": selector}
    values |= {"dataset": "dna", "fraction": fraction, "seed": seed}
    record = "/".join(str(value) for value in values.values())
    # Runs have columns of their own names for other things.
    other = {"epochs": 40, "protocol_hash": "p", "configurations": 27, "accuracy": 0.0}
    return {**values, **other, "record": record}


def scored(of, scores, epoch=4, configurations=None, start=0, rung=True):
    """Return a row per evaluation; configurations have the rates of RATES unless given."""
    found = configurations or [{"rate": rate} for rate in RATES[: len(scores)]]
    shared = {name: of[name] for name in ("dataset", "search", "scheduler", "selector")}
    shared |= {name: of[name] for name in ("fraction", "seed", "record")}
    return [
        {
            **shared,
            "index": start + index,
            "configuration": json.dumps(configuration),
            "epoch": epoch,
            "rung": rung,
            "accuracy": score,
        }
        for index, (configuration, score) in enumerate(zip(found, scores, strict=True))
    ]


def table(runs, trials, protocols=None):
    return influence(pd.DataFrame(runs), pd.DataFrame(trials), protocols or {})


def only(runs, trials, **axes):
    found = table(runs, trials)
    (row,) = found[(found[list(axes)] == pd.Series(axes)).all(axis=1)].to_dict("records")
    return row


def test_higher_values_that_score_better_are_positive():
    rs2 = run()
    row = only([rs2], scored(rs2, UP))
    assert (row["hyper-parameter"], row["epoch"], row["epochs"]) == ("rate", 4, 40)
    assert row["tau"] == pytest.approx(1)
    assert (row["seeds"], row["runs"], row["configurations"]) == (1, 1, 5)
    assert row["records"] == rs2["record"]
    assert only([rs2], scored(rs2, UP[::-1]))["tau"] == pytest.approx(-1)
    assert only([rs2], scored(rs2, SWAPPED))["tau"] == pytest.approx(0.8)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=5, max_size=12).filter(
        lambda pairs: len({x for x, _ in pairs}) > 1 and len({y for _, y in pairs}) > 1
    )
)
def test_tau_is_that_of_scipy_over_the_configurations(pairs):
    rs2 = run()
    values, scores = zip(*pairs, strict=True)
    row = only([rs2], scored(rs2, scores, configurations=[{"size": value} for value in values]))
    assert row["tau"] == pytest.approx(kendalltau(values, scores).statistic)


def test_each_number_has_a_row_and_what_is_no_number_none():
    rs2 = run()
    configurations = [
        {"rate": rate, "size": 2 * index, "nesterov": index > 2, "optimizer": "sgd"}
        for index, rate in enumerate(RATES)
    ]
    found = table([rs2], scored(rs2, UP, configurations=configurations))
    assert found["hyper-parameter"].tolist() == ["rate", "size"]


def test_a_hyper_parameter_that_few_configurations_have_is_left_out():
    rs2 = run()
    configurations = [{"rate": rate} | ({"momentum": rate} if rate > 0.1 else {}) for rate in RATES]
    found = table([rs2], scored(rs2, UP, configurations=configurations))
    assert found["hyper-parameter"].tolist() == ["rate"]


def test_a_trial_counts_at_its_first_rung_alone():
    """Later rungs have the survivors, and evaluations between rungs no scheduler."""
    rs2 = run()
    trials = [
        *scored(rs2, UP[::-1], epoch=12),  # came later in the table's order, not in epochs
        *scored(rs2, SWAPPED, epoch=4),
        *scored(rs2, UP, epoch=2, rung=False),
        *scored(rs2, UP[::-1], epoch=12, start=5),  # another bracket starts here
    ]
    found = table([rs2], trials)
    assert found[["epoch", "tau"]].to_numpy().tolist() == [
        [4, pytest.approx(0.8)],
        [12, pytest.approx(-1)],
    ]


def test_a_seed_counts_with_the_mean_of_its_runs():
    runs = [run(selector, seed=seed) for seed in range(3) for selector in ("rs2", "craig")]
    of_seed = {0: (UP, UP), 1: (UP, UP[::-1]), 2: (SWAPPED, UP[::-1])}
    trials = [
        line
        for each in runs
        for line in scored(each, of_seed[each["seed"]][each["selector"] == "craig"])
    ]
    row = only(runs, trials)

    assert row["tau"] == pytest.approx((1 + 0 - 0.1) / 3)
    assert (row["seeds"], row["runs"], row["configurations"]) == (3, 6, 30)
    assert row["interval"] == "95 %"
    assert (row["tau_low"], row["tau_high"]) == pytest.approx(bounds(np.array([1, 0, -0.1])))
    assert len(row["records"].split()) == 6


def test_full_and_its_repeat_are_one_row():
    runs = [run("full"), run("full-again")]
    row = only(runs, [*scored(runs[0], UP), *scored(runs[1], UP[::-1])])
    assert (row["fraction"], row["runs"], row["tau"]) == (1, 2, pytest.approx(0))


@pytest.mark.parametrize("axis", ["search", "scheduler", "fraction"])
def test_panels_and_sizes_stay_apart(axis):
    runs = [run(), run(**{axis: {"search": "tpe", "scheduler": "asha", "fraction": 0.3}[axis]})]
    found = table(runs, [*scored(runs[0], UP), *scored(runs[1], UP[::-1])])
    assert sorted(found["tau"]) == pytest.approx([-1, 1])
    assert found[axis].nunique() == 2


def test_rungs_within_the_warm_start_are_those_of_all_data():
    """A warm start of 0.5 trains on all data for 0.5 x 40 x 0.1 = 2 epochs."""
    protocols = {"p": {"scheduler": {"hyperband": {"warm_start": 0.5}}}}
    runs = [run(), run("full")]
    trials = [line for each in runs for line in scored(each, UP, epoch=2)]
    trials += [line for each in runs for line in scored(each, UP, epoch=3, start=5)]
    found = table(runs, trials, protocols)
    assert found[["fraction", "epoch"]].to_numpy().tolist() == [[0.1, 3], [1, 2], [1, 3]]


@pytest.mark.parametrize(
    "scores", [UP[:4], [0.5] * 5], ids=["four configurations", "one score for all"]
)
def test_a_run_without_a_tau_is_left_out(scores):
    runs = [run(), run("craig")]
    row = only(runs, [*scored(runs[0], scores), *scored(runs[1], UP)])
    assert (row["runs"], row["records"]) == (1, runs[1]["record"])

    nothing = table(runs[:1], scored(runs[0], scores))
    assert nothing.empty
    assert list(nothing.columns) == list(row)
