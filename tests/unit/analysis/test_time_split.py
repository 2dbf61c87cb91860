"""The parts of a run's time and what they sum to."""

from __future__ import annotations

import pandas as pd
import pytest

from automata.analysis.tradeoff import PARTS, time_split
from support.synthetic import CONTROLS, PAPER, synthetic_runs


def ratios_of(runs, refused=()):
    return pd.DataFrame(
        {
            "record": runs["record"],
            "speedup": [float(seed + 1) for seed in runs["seed"]],
            "refused": ["no FULL" if r in refused else None for r in runs["record"]],
        }
    )[list(runs["selector"] != "untuned")]


@pytest.fixture
def runs():
    return synthetic_runs(
        datasets=("dna",),
        selectors=PAPER + CONTROLS,
        searches=("tpe",),
        fractions=(0.05, 0.1),
        repeats=2,
    )


def test_parts_sum_to_the_total_of_the_runs(runs):
    table = time_split(runs, ratios_of(runs))
    keys = ["scheduler", "selector", "fraction"]

    parts = table.set_index(keys)[[f"{part}_seconds" for part in PARTS]].sum(axis=1)

    totals = runs.groupby(keys)["total_seconds"].mean()
    pd.testing.assert_series_equal(parts.sort_index(), totals, check_names=False)
    assert table["total_seconds"].to_numpy() == pytest.approx(parts.to_numpy())


def test_every_combination_has_a_row_and_untuned_no_speedup(runs):
    table = time_split(runs, ratios_of(runs)).set_index("selector")

    assert len(table) == 2 * (3 + 5 * 2)
    assert table.loc["untuned", "speedup"].isna().all()
    drawn = table.loc["untuned"]
    assert drawn["final_seconds"].tolist() == drawn["total_seconds"].tolist()
    assert table.drop("untuned")["speedup"].tolist() == [1.5] * (2 * (2 + 5 * 2))


def test_runs_on_another_machine_are_left_out(runs):
    refused = runs.loc[(runs["selector"] == "craig") & (runs["seed"] == 1), "record"]

    table = time_split(runs, ratios_of(runs, set(refused))).set_index("selector")

    assert table.loc["craig", "seeds"].tolist() == [1] * 4
    assert not any("seed-1" in records for records in table.loc["craig", "records"])
    assert table.loc["rs2", "seeds"].tolist() == [2] * 4
