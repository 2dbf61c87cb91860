"""What searches chose, by hand and by another way."""

from __future__ import annotations

import json
from statistics import quantiles

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.analysis.best import best
from automata.analysis.choices import COLUMNS, MOST_COUNTED, choices
from benchmarks.synthetic import synthetic_runs

AXES = ["dataset", "scheduler", "hyper-parameter", "fraction"]
MANY = [0.01, 0.02, 0.03, 0.05, 0.08, 0.13, 0.21, 0.34, 0.55]


def row(selector="rs2", fraction=0.1, dataset="dna", scheduler="asha", seed=0, **configuration):
    record = f"results/runs/{dataset}/tpe-{scheduler}/{selector}-{fraction:g}/seed-{seed}.json"
    values = {f"configuration.{name}": value for name, value in configuration.items()}
    where = {"dataset": dataset, "scheduler": scheduler, "selector": selector}
    return {**where, "fraction": fraction, "record": record, **values}


def of(rows, **axes):
    """Return the only row of these axes."""
    table = choices(pd.DataFrame(rows))
    (found,) = table[(table[list(axes)] == pd.Series(axes)).all(axis=1)].to_dict("records")
    return found


def test_words_are_counted_the_commonest_first():
    rows = [row(seed=seed, optimizer=name) for seed, name in enumerate(["sgd", "adam", "adam"])]
    found = of(rows)
    assert (found["hyper-parameter"], found["counts"]) == ("optimizer", "adam 2, sgd 1")
    assert (found["searches"], len(found["records"].split())) == (3, 3)


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([16, 64, 16], "16 2, 64 1"),
        ([16.0, None, 32.0], "16 1, 32 1"),  # an integer beside a missing one
        ([0.1, 0.1, 0.001], "0.1 2, 0.001 1"),
        ([True, False, True], "True 2, False 1"),
        (["b", "a", "b", "a"], "a 2, b 2"),
        ([1234567, 1234568, 1234568], "1234568 2, 1234567 1"),
        (MANY[:MOST_COUNTED], ", ".join(f"{value} 1" for value in MANY[:MOST_COUNTED])),
    ],
)
def test_few_values_are_counted_and_missing_ones_are_not(values, counts):
    found = of([row(seed=seed, some=value) for seed, value in enumerate(values)])
    assert found["counts"] == counts
    assert found["searches"] == sum(value is not None for value in values)
    assert pd.isna(found["median"])


def test_many_numbers_have_the_quartiles_of_their_subset_size():
    """Also where one size chose few of them: sizes are compared with each other."""
    rows = [row(seed=seed, rate=value) for seed, value in enumerate(MANY)]
    rows += [row("full", 1.0, seed=seed, rate=value) for seed, value in enumerate([0.1, 0.3])]

    subsets, full = of(rows, fraction=0.1), of(rows, fraction=1.0)

    assert (subsets["lower_quartile"], subsets["median"]) == (0.03, 0.08)
    assert subsets["upper_quartile"] == 0.21
    assert full["median"] == pytest.approx(0.2)
    assert pd.isna(full["counts"])
    assert full["searches"] == 2


@given(st.lists(st.floats(1e-4, 1), min_size=MOST_COUNTED + 1, unique=True))
def test_quartiles_are_those_of_the_standard_library(values):
    found = of([row(seed=seed, rate=value) for seed, value in enumerate(values)])
    expected = quantiles(values, n=4, method="inclusive")
    got = [found["lower_quartile"], found["median"], found["upper_quartile"]]
    assert got == pytest.approx(expected)


def test_data_sets_are_summed_up_each_in_its_way():
    rows = [row(seed=seed, rate=value) for seed, value in enumerate(MANY)]
    rows += [row(dataset="sst2", seed=seed, rate=0.5) for seed in range(3)]

    assert of(rows, dataset="dna")["median"] == 0.08
    assert of(rows, dataset="sst2")["counts"] == "0.5 3"


def test_schedulers_are_summed_up_in_one_way():
    rows = [row(seed=seed, rate=value) for seed, value in enumerate(MANY)]
    rows += [row(scheduler="hyperband", seed=seed, rate=0.5) for seed in range(3)]
    assert of(rows, scheduler="hyperband")["median"] == 0.5


def test_what_untuned_drew_does_not_say_how():
    rows = [row("untuned", 0.0, seed=seed, rate=value) for seed, value in enumerate(MANY)]
    assert of([*rows, row(rate=0.5)])["counts"] == "0.5 1"


def test_all_selectors_count_but_untuned():
    rows = [row("rs2", layers=1), row("craig", layers=2), row("untuned", 0.0, layers=2)]
    table = choices(pd.DataFrame(rows))
    assert table[["fraction", "counts"]].to_numpy().tolist() == [[0.1, "1 1, 2 1"]]


def test_rows_come_in_order_and_none_without_searches():
    axes = [(size, scheduler) for scheduler in "ba" for size in (0.3, 0.1)]
    rows = [row(fraction=size, scheduler=scheduler, a=1, b="x") for size, scheduler in axes]
    table = choices(pd.DataFrame(rows))
    assert list(table.columns) == COLUMNS
    assert table[AXES].to_numpy().tolist() == sorted(table[AXES].to_numpy().tolist())
    assert len(table) == 8
    assert choices(pd.DataFrame([row("untuned", 0.0, a=1)])).empty


def test_a_search_of_each_run_counts_once_in_the_table_of_best():
    runs = synthetic_runs(datasets=("dna",), selectors=("full", "rs2", "untuned"), repeats=2)
    trials = pd.DataFrame(
        [
            {"record": record, "index": 3, "configuration": json.dumps({"optimizer": "sgd"})}
            for record in runs["record"]
        ]
    )
    table = choices(best(runs, trials))
    tuned = runs[runs["selector"] != "untuned"]
    optimizer = table[table["hyper-parameter"] == "optimizer"]
    assert optimizer["searches"].sum() == len(tuned)
    assert (optimizer["counts"] == "sgd " + optimizer["searches"].astype(str)).all()
