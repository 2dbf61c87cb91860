"""The tables for people, recomputed run by run."""

import re
from statistics import fmean

import numpy as np
import pandas as pd
import pytest

from automata.analysis.overview import SECTIONS, contrasts, early, glance, overview, ran, ranks
from automata.analysis.search_studies import agreements
from automata.analysis.statistics import bounds
from support.synthetic import CONTROLS, PAPER, synthetic_runs
from support.tabulated import write_tables

from .conftest import of, only


def numbers(cell):
    """Return the mean and the bounds of a cell."""
    return [float(word.strip("(),")) for word in str(cell).split(" ") if word != "to"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    axes = {"datasets": ("dna", "letter"), "fractions": (0.05, 0.3)}
    runs = synthetic_runs(selectors=PAPER + CONTROLS, repeats=3, **axes)
    # One seed has one search only, so that means over seeds are not those over runs; flags
    # differ, and one data set has a run without energy.
    gone = of(runs, selector="full-again", search="tpe", seed=2, dataset="dna", scheduler="asha")
    runs = runs.drop(gone.index).reset_index(drop=True)
    disturbed = of(runs, dataset="dna", selector="rs2", seed=1).index
    runs.loc[disturbed, "flags"] = "contaminated short_window"
    unknown = of(runs, dataset="letter", selector="rs2", seed=1).index
    runs.loc[unknown, ["energy_method", "energy_source", "energy_joules"]] = None
    return write_tables(runs, tmp_path_factory.mktemp("tables"))


def test_a_seed_counts_with_the_mean_of_its_searches(tables):
    axes = {"dataset": "dna", "scheduler": "asha", "selector": "full-again"}
    found = only(glance(tables), **axes)
    assert list(found) == ["dataset", "scheduler", "selector", "5 %", "30 %", "100 %"]
    columns = ["speedup", "ceiling", "relative_test_error"]
    expected = of(tables.ratios, **axes).groupby("seed")[columns].mean().mean()
    assert numbers(found["100 %"]) == pytest.approx(expected.tolist(), abs=0.0501)
    assert found["100 %"].split(" ")[2][0] in "+-"
    assert found["30 %"] == ""


def test_a_glance_without_the_method_has_all_selectors_by_size(tmp_path):
    options = {"selectors": ("full", "craig", "random"), "schedulers": ("asha",), "repeats": 1}
    sizes = {"dna": (0.05, 0.3), "letter": (0.01, 0.1)}
    runs = [synthetic_runs(datasets=(it,), fractions=sizes[it], **options) for it in sizes]
    table = glance(write_tables(pd.concat(runs, ignore_index=True), tmp_path))
    assert set(table["selector"]) == {"craig", "random"}
    assert list(table.columns[3:7]) == ["1 %", "5 %", "10 %", "30 %"]
    assert (of(table, dataset="dna")[["1 %", "10 %"]] == "").all(axis=None)


def test_contrasts_are_of_pairs_of_one_seed(tables):
    """Two data sets: the units of both are seeds."""
    place = ["dataset", "search", "scheduler", "fraction", "seed"]
    errors = tables.ratios.set_index(place).groupby("selector")["relative_test_error"]
    differing = errors.get_group("gradmatch") - errors.get_group("rs2")
    found = only(contrasts(tables), difference="AUTOMATA - RS2")
    for column, part in (("LETTER", differing.loc[["letter"]]), ("all", differing)):
        of_seeds = part.groupby("seed").mean().to_numpy()
        expected = [of_seeds.mean(), *bounds(of_seeds)]
        assert numbers(found[column]) == pytest.approx(expected, rel=0.006, abs=0.006)


@pytest.mark.parametrize("own", ["DNA", "all"])
def test_a_data_set_keeps_its_column_whatever_its_name(own, tmp_path):
    selectors = ("full", "gradmatch", "rs2")
    runs = synthetic_runs(datasets=("dna",), selectors=selectors, fractions=(0.1,), repeats=1)
    mine = runs.assign(dataset=own, record=runs["record"].str.replace("dna", own))
    mine.loc[mine["selector"] == "rs2", "test_accuracy"] -= 0.25
    table = contrasts(write_tables(pd.concat([runs, mine], ignore_index=True), tmp_path))
    assert list(table) == ["difference", "DNA", own, "all", "speedups"]
    line = table.set_index("difference").loc["AUTOMATA - RS2"].tolist()
    assert numbers(line[1])[0] - numbers(line[0])[0] == pytest.approx(-25, abs=0.1)


def test_ranks_are_of_the_rungs_with_the_most_configurations(tables):
    """All 27 are at the first rung, 7 epochs, and 9 at the next."""
    at = {"scheduler": "hyperband", "epoch": 7, "selector": "rs2", "fraction": 0.3}
    first = of(agreements(tables), **at)
    found = only(ranks(tables), scheduler="hyperband", selector="rs2")
    assert set(first["pairs"]) == {27}
    assert numbers(found["30 %"])[0] == pytest.approx(first["tau"].mean(), rel=0.006)


def test_trials_that_end_before_the_first_selection_are_counted(tables):
    """Of 27 trials 18 end at the first rung, 7 epochs, and 6 at the second, 22.

    A selection is every 10 epochs, under ASHA after a warm start of 0.35 x 0.3 x 200 = 21 epochs.
    """
    hyperband, asha = (
        only(early(tables), dataset="dna", scheduler=name) for name in ("hyperband", "asha")
    )
    assert hyperband["30 %"] == "66.7 %"  # 18 of 27
    assert asha["30 %"] == "88.9 %"  # 24 of 27, before epoch 30
    assert asha["5 %"] == "66.7 %"


def test_runs_of_a_data_set_are_summed(tables):
    runs = of(tables.runs, dataset="dna")
    hours = sum(runs["total_seconds"]) / 3600
    expected = {
        "runs": len(runs),
        "seeds": 3,
        "contaminated runs": 2 * 2 * 2,
        "measured hours": pytest.approx(hours),
        "hours with set-up": pytest.approx(hours + 6 * len(runs) / 3600),
        "energy (Wh)": pytest.approx(4.08 * hours),
        "energy was": "estimated from CPU time",
        "FULL's accuracy (%)": pytest.approx(
            100 * fmean(of(runs, selector="full")["test_accuracy"])
        ),
    }
    assert {"dataset": "dna", **expected} == only(ran(tables), dataset="dna")
    letter = only(ran(tables), dataset="letter")
    assert np.isnan(letter["energy (Wh)"])  # some runs have none: it is no sum
    assert letter["energy was"] == "estimated from CPU time, not measured"


def test_the_page_has_every_section_with_rows_in_the_words_of_readers(tables, tmp_path):
    page = overview(tables)
    assert re.findall("^## (.*)$", page, re.MULTILINE) == [title for title, _, _ in SECTIONS]
    first = [line for line in page.splitlines() if line.startswith("| DNA | Hyperband |")]
    assert [line.split(" | ")[2] for line in first[:3]] == ["AUTOMATA", "RS2", "FULL (repeat)"]
    assert "gradmatch" not in page
    full = synthetic_runs(datasets=("dna",), selectors=("full",), searches=("tpe",), repeats=1)
    few = overview(write_tables(full, tmp_path))
    assert re.findall("^## (.*)$", few, re.MULTILINE) == ["What was run"]
