"""The tables for people; the published ones have their words and numbers."""

import numpy as np
import pandas as pd
import pytest

from automata.analysis.overview import contrasts, early, glance, ran
from support.synthetic import synthetic_runs
from support.tabulated import write_tables

from .conftest import of, only


def numbers(cell):
    """Return the numbers of a cell, without brackets and commas."""
    return [float(word.strip("(),")) for word in str(cell).split(" ") if word != "to"]


@pytest.fixture
def tables(tmp_path):
    """Make the tables of runs of DNA under both searches and schedulers."""

    def make(selectors, repeats=1, **changes):
        axes = {"datasets": ("dna",), "fractions": (0.05, 0.3)}
        runs = synthetic_runs(selectors=selectors, repeats=repeats, **axes)
        return write_tables(runs.assign(**changes), tmp_path)

    return make


def test_a_seed_counts_with_the_mean_of_its_searches(tables):
    study = tables(("full", "gradmatch"), repeats=2)
    axes = {"scheduler": "asha", "selector": "gradmatch", "fraction": 0.3}
    alone = of(study.ratios, search="tpe", seed=1, **axes).index
    study.ratios.drop(alone, inplace=True)  # so that means over seeds are not those over runs
    found = only(glance(study), scheduler="asha", selector="gradmatch")
    assert list(found) == ["dataset", "scheduler", "selector", "5 %", "30 %"]
    columns = ["speedup", "ceiling", "relative_test_error"]
    expected = of(study.ratios, **axes).groupby("seed")[columns].mean().mean()
    assert numbers(found["30 %"]) == pytest.approx(expected.tolist(), abs=0.0501)


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


def test_trials_that_end_before_the_first_selection_are_counted(tables):
    """Of 27 trials 18 end at the first rung, 7 epochs, and 6 at the second, 22.

    A selection is every 10 epochs, under ASHA after a warm start of 0.35 x 0.3 x 200 = 21 epochs.
    """
    table = early(tables(("full", "gradmatch")))
    hyperband, asha = (only(table, scheduler=name) for name in ("hyperband", "asha"))
    assert hyperband["30 %"] == "66.7 %"  # 18 of 27
    assert asha["30 %"] == "88.9 %"  # 24 of 27, before epoch 30
    assert asha["5 %"] == "66.7 %"


def test_energy_of_some_runs_is_no_sum(tables):
    row = only(ran(tables(("full",), energy_joules=[None, 1.0, 1.0, 1.0])))
    assert np.isnan(row["energy (Wh)"])
