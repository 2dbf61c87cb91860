"""The tables for people, recomputed run by run."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
import pytest

from automata.analysis.overview import (
    SECTIONS,
    chosen,
    contrasts,
    early,
    epochs,
    first_selection,
    glance,
    overview,
    ran,
    ranks,
    speedups,
    times,
    untuned,
)
from automata.analysis.quotes import KEYS
from automata.analysis.statistics import bounds
from automata.analysis.study import Study
from automata.analysis.tables import markdown
from benchmarks.synthetic import CONTROLS, PAPER, synthetic_runs
from tabulated import write_tables

SEARCHES, SEEDS = ("random", "tpe"), range(3)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Study:
    runs = synthetic_runs(
        datasets=("dna", "letter"),
        selectors=PAPER + CONTROLS,
        fractions=(0.05, 0.3),
        repeats=len(SEEDS),
    )
    # One seed has one search only, so that means over seeds are not those over runs; epochs and
    # flags differ, and one data set has a run without energy.
    gone = _is(runs, selector="craig", search="tpe", seed=2, dataset="dna", scheduler="asha")
    runs = runs[~gone].reset_index(drop=True)
    fewer = _is(runs, dataset="dna", scheduler="asha", search="tpe", selector="random", seed=0)
    runs["trained_epochs"] -= 100 * fewer
    runs.loc[_is(runs, dataset="dna", selector="rs2", seed=1), "flags"] = (
        "contaminated short_window"
    )
    unknown = _is(runs, dataset="letter", selector="rs2", seed=1)
    runs.loc[unknown, ["energy_method", "energy_source", "energy_joules"]] = None
    return write_tables(runs, tmp_path_factory.mktemp("tables"))


def _is(runs: pd.DataFrame, **axes: object) -> pd.Series[bool]:
    """Say of each run whether it is of these axes."""
    return pd.concat([runs[axis] == of for axis, of in axes.items()], axis=1).all(axis=1)


def value(tables: Study, column: str, **run: object) -> float:
    """Return what the table of ratios has of one run."""
    rows = tables.ratios
    for axis, of in run.items():
        rows = rows[rows[axis] == of]
    (found,) = rows[column]
    return float(found)


def row(table: pd.DataFrame, **axes: object) -> dict[str, object]:
    for axis, of in axes.items():
        table = table[table[axis] == of]
    (found,) = table.to_dict("records")
    return {str(key): cell for key, cell in found.items()}


def numbers(cell: object) -> list[float]:
    """Return the mean and the bounds of a cell."""
    return [float(word.strip("()")) for word in str(cell).split(" ") if word != "to"]


@pytest.mark.parametrize(
    ("column", "shown"),
    [("speedup", "speedup"), ("ceiling", "ceiling"), ("relative_test_error", "error (pp)")],
)
def test_a_seed_counts_with_the_mean_of_its_searches(
    tables: Study, column: str, shown: str
) -> None:
    of = {"dataset": "dna", "scheduler": "asha", "selector": "craig", "fraction": 0.3}
    seeds = [
        fmean(value(tables, column, search=search, seed=seed, **of) for search in searches)
        for seed, searches in [(0, SEARCHES), (1, SEARCHES), (2, ["random"])]
    ]

    found = row(speedups(tables), **of)

    assert (found["runs"], found["seeds"]) == (5, 3)
    expected = [fmean(seeds), *bounds(np.array(seeds))]
    assert numbers(found[shown]) == pytest.approx(expected, rel=0.006, abs=0.006)


def test_a_glance_has_the_means_over_seeds(tables: Study) -> None:
    of = {"dataset": "dna", "scheduler": "asha", "selector": "craig", "fraction": 0.3}

    def mean(column: str) -> float:
        return fmean(
            fmean(value(tables, column, search=search, seed=seed, **of) for search in searches)
            for seed, searches in [(0, SEARCHES), (1, SEARCHES), (2, ["random"])]
        )

    found = row(glance(tables), dataset="dna", selector="craig")

    assert list(found) == [
        *("dataset", "selector", "asha 0.05", "asha 0.3", "hyperband 0.05", "hyperband 0.3")
    ]
    speedup, ceiling, error = (
        float(word.strip("(),")) for word in str(found["asha 0.3"]).split(" ")
    )
    assert speedup == pytest.approx(mean("speedup"), abs=0.0501)
    assert ceiling == pytest.approx(mean("ceiling"), abs=0.0501)
    assert error == pytest.approx(mean("relative_test_error"), abs=0.0501)
    assert str(found["asha 0.3"]).split(" ")[2][0] in "+-"


def test_a_glance_has_the_selectors_of_subsets(tables: Study) -> None:
    table = glance(tables)
    names = {"random", "craig", "gradmatch", "adaptive-random", "rs2", "glister"}
    assert set(table["selector"]) == names & set(tables.runs["selector"])
    assert len(table) == 2 * table["selector"].nunique()


def test_a_glance_has_the_sizes_in_order_where_data_sets_have_their_own(tmp_path: Path) -> None:
    sizes = {"dna": (0.05, 0.3), "letter": (0.01, 0.1)}
    runs = [
        synthetic_runs(datasets=(name,), schedulers=("asha",), fractions=fractions, repeats=1)
        for name, fractions in sizes.items()
    ]

    table = glance(write_tables(pd.concat(runs, ignore_index=True), tmp_path))

    assert list(table.columns[2:]) == ["asha 0.01", "asha 0.05", "asha 0.1", "asha 0.3"]
    for name, of in [("dna", ["asha 0.01", "asha 0.1"]), ("letter", ["asha 0.05", "asha 0.3"])]:
        assert (table.loc[table["dataset"] == name, of] == "").all(axis=None)


@pytest.mark.parametrize("fraction", ["0.05", "all"])
def test_contrasts_are_of_pairs_of_one_seed(tables: Study, fraction: str) -> None:
    of = {"dataset": "letter", "scheduler": "hyperband"}
    fractions = [0.05, 0.3] if fraction == "all" else [float(fraction)]

    def differing(column: str, seed: int) -> float:
        return fmean(
            value(tables, column, search=search, seed=seed, fraction=f, selector="gradmatch", **of)
            - value(tables, column, search=search, seed=seed, fraction=f, selector="rs2", **of)
            for search in SEARCHES
            for f in fractions
        )

    found = row(contrasts(tables), selector="gradmatch", baseline="rs2", fraction=fraction, **of)

    errors = [differing("relative_test_error", seed) for seed in SEEDS]
    expected = [fmean(errors), *bounds(np.array(errors))]
    assert numbers(found["error difference (pp)"]) == pytest.approx(expected, rel=0.006, abs=0.006)
    assert found["pairs"] == 6 * len(fractions)


def test_ratios_of_speedups_are_geometric_means(tables: Study) -> None:
    of = {"dataset": "letter", "scheduler": "asha", "fraction": 0.3}
    logs = [
        log(value(tables, "speedup", search=search, seed=seed, selector="gradmatch", **of))
        - log(value(tables, "speedup", search=search, seed=seed, selector="craig", **of))
        for search in SEARCHES
        for seed in SEEDS
    ]

    found = row(
        contrasts(tables), **{**of, "fraction": "0.3"}, selector="gradmatch", baseline="craig"
    )

    mean, low, high = numbers(found["speedup ratio"])
    assert mean == pytest.approx(exp(fmean(logs)), rel=0.006)
    assert low <= mean <= high


def test_ranks_are_means_of_the_runs_agreements(tables: Study) -> None:
    known = tables.agreements
    of = {"dataset": "dna", "scheduler": "hyperband", "epoch": 22, "selector": "random"}
    for axis, wanted in {**of, "fraction": 0.3}.items():
        known = known[known[axis] == wanted]

    found = row(ranks(tables), **of, fraction=0.3)

    assert numbers(found["tau"])[0] == pytest.approx(known["tau"].mean(), rel=0.006)
    for shown, column in {"accuracy (%)": "accuracy", "FULL's (%)": "full_accuracy"}.items():
        assert numbers(found[shown])[0] == pytest.approx(100 * known[column].mean(), rel=0.006)


def test_trials_that_end_before_the_first_selection_are_counted(tables: Study) -> None:
    """Of 27 trials 18 end at the first rung, 7 epochs, and 6 at the second, 22."""
    hyperband = row(early(tables), dataset="dna", scheduler="hyperband", fraction=0.3)
    asha = row(early(tables), dataset="dna", scheduler="asha", fraction=0.3)

    assert hyperband["runs"] == 6
    share = "trials stopped before a selection (%)"
    assert hyperband[share] == pytest.approx(100 * 18 / 27)
    assert asha[share] == pytest.approx(100 * 24 / 27)  # a warm start of 21 epochs: first at 30


@pytest.mark.parametrize(
    ("fraction", "every", "first"), [(0.01, 10, 10), (0.3, 10, 30), (0.3, 7, 21), (0.3, 1, 21)]
)
def test_selection_waits_for_the_end_of_the_warm_start(
    fraction: float, every: int, first: int
) -> None:
    run = {
        "protocol_hash": "a",
        "scheduler": "asha",
        "selector": "gradmatch",
        "fraction": fraction,
        "epochs": 200,
    }
    settings = {
        "protocol": {"reselect_every": every},
        "scheduler": {"asha": {"warm_start": 0.35}},
    }
    assert first_selection(run, {"a": settings}) == first


def test_shares_of_time_sum_to_all_of_it(tables: Study) -> None:
    table = times(tables)
    shares = table[[column for column in table if column.endswith("(%)")]]
    assert shares.sum(axis=1).to_numpy() == pytest.approx(100.0)
    of = {"dataset": "dna", "scheduler": "asha", "selector": "craig", "fraction": 0.05}
    runs = tables.runs[_is(tables.runs, **of)].groupby("search").mean(numeric_only=True).mean()
    found = row(table, **of)
    assert found["seconds"] == pytest.approx(runs["total_seconds"])
    expected = 100 * runs["tuning_selection_seconds"] / runs["total_seconds"]
    assert found["selection (%)"] == pytest.approx(expected)


def test_draws_without_tuning_are_those_of_their_table(tables: Study) -> None:
    found = row(untuned(tables), dataset="dna", search="tpe", scheduler="asha")
    theirs = row(tables.untuned, dataset="dna", search="tpe", scheduler="asha")
    assert found["draws"] == 3
    assert [found[name] for name in ("mean error (pp)", "median", "best", "worst")] == [
        theirs[f"relative_test_error{of}"] for of in ("", "_median", "_low", "_high")
    ]


def test_runs_of_a_data_set_are_summed(tables: Study) -> None:
    runs = [run for run in tables.runs.to_dict("records") if run["dataset"] == "dna"]

    found = row(ran(tables), dataset="dna")

    assert (found["runs"], found["contaminated runs"]) == (len(runs), 2 * 2 * 2)
    hours = sum(run["total_seconds"] for run in runs) / 3600
    assert found["measured hours"] == pytest.approx(hours)
    assert found["hours with set-up"] == pytest.approx(hours + 6 * len(runs) / 3600)
    assert found["energy (Wh)"] == pytest.approx(4.08 * hours)
    assert found["energy was"] == "estimated from CPU time"


def test_energy_that_some_runs_do_not_have_is_no_sum(tables: Study) -> None:
    found = row(ran(tables), dataset="letter")
    assert np.isnan(found["energy (Wh)"])
    assert found["energy was"] == "estimated from CPU time, not measured"


def test_epochs_of_a_panel_are_the_fewest_and_the_most(tables: Study) -> None:
    found = row(epochs(tables), dataset="dna", search="tpe", scheduler="hyperband")
    assert (found["fewest epochs"], found["most epochs"]) == (3000, 3000)
    found = row(epochs(tables), dataset="dna", search="tpe", scheduler="asha")
    assert (found["fewest epochs"], found["most epochs"]) == (600, 700)


def test_choices_are_quartiles_or_counts(tmp_path: Path) -> None:
    runs = synthetic_runs(
        datasets=("dna",), schedulers=("asha",), selectors=("full", "rs2"), repeats=9
    )
    runs["best_index"] = -1  # of no trial: what the row says counts
    runs["best_configuration"] = [
        f"learning_rate=0.{seed + 1} optimizer={'adam' if search == 'tpe' else 'sgd'}"
        for seed, search in zip(runs["seed"], runs["search"], strict=True)
    ]

    table = chosen(write_tables(runs, tmp_path)).set_index(["hyper-parameter", "fraction"])

    assert table.loc[("learning_rate", 1.0), "chosen"] == "0.5 (0.3 to 0.7)"
    assert table.loc[("optimizer", 1.0), "chosen"] == "adam 9, sgd 9"
    assert (table["searches"] == 18).all()


@pytest.mark.parametrize("make", [make for _, _, make in SECTIONS])
def test_no_two_rows_have_the_keys_by_which_they_are_quoted(
    tables: Study, make: Callable[[Study], pd.DataFrame]
) -> None:
    table = make(tables)
    assert not table.duplicated([column for column in table.columns if column in KEYS]).any()


def test_page_has_every_table(tables: Study) -> None:
    page = overview(tables)
    assert page.startswith("# ")
    for title, _, make in SECTIONS:
        assert f"## {title}\n" in page
        assert markdown(make(tables)) in page


def test_sections_without_rows_are_left_out(tmp_path: Path) -> None:
    runs = synthetic_runs(datasets=("dna",), selectors=("full",), searches=("tpe",), repeats=1)

    page = overview(write_tables(runs, tmp_path))

    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## What was run",
        "## What searches chose",
        "## Where the time goes",
        "## Epochs that searches trained",
    ]
