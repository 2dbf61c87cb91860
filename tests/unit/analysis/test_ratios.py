"""Each run against FULL: which runs pair, which are refused, and the numbers."""

import logging

import numpy as np
import pandas as pd
import pytest

from automata.analysis.ratios import COLUMNS, ceiling, ratios_to_full
from automata.analysis.runs import RunRow

from .conftest import only, run

WORK = {"gradient_selections": 15, "final_epochs": 20, "final_seconds": 30.0, "best_epochs": 18}
"""Of a run of 60 s, 150 J, accuracy 0.88, and 10 epochs in all."""
NOTHING = {"gradient_selections": 0, "final_epochs": 0, "final_seconds": 0.0, "best_epochs": 18}
FULL = {"total_seconds": 300.0, "energy_joules": 600.0, "test_accuracy": 0.9}
UNMEASURED = {"energy_joules": None, "energy_method": None, "energy_source": None}


def own(**changes):
    return run(**{"full_epoch_equivalents": 10.0, **WORK, "record": "run.json", **changes})


def full(**changes):
    values = {"full_epoch_equivalents": 100.0, **NOTHING, **FULL, "record": "full.json"}
    return run("full", 1.0, **{**values, **changes})


def of_run(*rows):
    """Return the one row that is not FULL's."""
    table = ratios_to_full(pd.DataFrame(rows))
    return only(table[table["selector"] != "full"])


def test_a_run_has_its_ratios_to_full():
    expected = {
        "speedup": 5.0,
        "relative_test_error": 2.0,
        "energy_ratio": 4.0,
        "ceiling": 100 / 35,  # 20 + 10 + 15 / 3 epochs
        "efficiency": 5.0 * 35 / 100,
        "final_ceiling": 4.0,  # 300 / (30 + (10 + 15 / 3) x 3)
        "test_accuracy": 0.88,
        "total_seconds": 60.0,
        "energy_source": "pyJoules RAPL",
        "full_best_epochs": 18,
        "record": "run.json",
        "full_record": "full.json",
    }
    row = of_run(full(), own())
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert pd.isna(row["refused"])


def test_full_against_itself_is_one_or_zero():
    row = only(ratios_to_full(pd.DataFrame([full()])))
    ones = ("speedup", "energy_ratio", "ceiling", "efficiency", "final_ceiling")
    assert [row[name] for name in ones] == [1.0] * 5
    assert (row["relative_test_error"], row["full_record"]) == (0.0, "full.json")


@pytest.mark.parametrize(
    ("selections", "slots", "expected"),
    [  # Hyperband of 27 configurations, T = 200: 2982 epochs in all, a hundredth of it on subsets
        (0, 1, 12.97537),  # 2982 / (200 + 0.01 x 2982) = 2982 / 229.82
        (0, 2, 6.937788),  # 1491 / (200 + 0.01 x 1491) = 1491 / 214.91: the final training is whole
        (300, 1, 9.041295),  # 300 selections are 100 epochs: 2982 / (200 + 29.82 + 100)
        (300, 2, 5.628327),  # 1491 / (200 + 14.91 + 50) = 1491 / 264.91
    ],
)
def test_the_ceiling_counts_epochs_selections_and_slots(selections, slots, expected):
    spent = {"gradient_selections": selections, "concurrent_trials": slots, "final_epochs": 200}
    subset = RunRow(own(full_epoch_equivalents=29.82, **spent))
    everything = RunRow(full(full_epoch_equivalents=2982, concurrent_trials=slots))
    assert ceiling(subset, everything) == pytest.approx(expected, rel=1e-6)


def test_rows_keep_the_order_and_the_columns():
    rows = [own(seed=1), full(seed=1), full(), own()]
    table = ratios_to_full(pd.DataFrame(rows))
    assert list(table.columns) == list(ratios_to_full(pd.DataFrame(rows)[:0]).columns) == COLUMNS
    order = [[row[name] for name in ("selector", "seed")] for row in rows]
    assert table[["selector", "seed"]].to_numpy().tolist() == order


@pytest.mark.parametrize(
    "place", [{"dataset": "dna"}, {"search": "random"}, {"scheduler": "asha"}, {"seed": 1}]
)
def test_a_run_is_compared_with_the_full_run_of_its_place_or_refused(place, caplog):
    there = full(**place, record="other.json")
    assert of_run(full(), there, own(**place))["full_record"] == "other.json"
    assert caplog.messages == []
    assert of_run(full(), own(**place))["refused"] == "no FULL run to compare with"
    assert caplog.messages == ["run.json: no FULL run to compare with"]


OTHERS = "not comparable with its FULL: "


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        *(
            ({column: "other"}, f"{OTHERS}{column} other and alike")
            for column in (
                *("machine", "device", "software", "threads_per_trial", "training_version"),
                *("metering_version", "data_sha256", "own_model_sha256", "protocol_hash"),
            )
        ),
        ({"own_model_sha256": None}, f"{OTHERS}own_model_sha256 None and alike"),
        ({"concurrent_trials": 4}, f"{OTHERS}concurrent_trials 4 and 1"),
        ({"exclusive": False}, f"{OTHERS}exclusive False and True"),
        (
            {"machine": "there", "device": "H200"},
            f"{OTHERS}machine there and alike, device H200 and alike",
        ),
        ({"set_aside": "was resumed"}, f"{OTHERS}the run was resumed"),
        ({"final_failure": "loss nan"}, "the final training diverged: loss nan"),
    ],
)
def test_a_run_that_does_not_compare_is_refused_and_says_why(changes, refused, caplog):
    row = of_run(full(), own(**changes))
    assert row["refused"] == refused
    assert pd.isna(row["speedup"])
    assert caplog.messages == [f"run.json (FULL: full.json): {refused}"]


def test_no_run_compares_with_a_full_that_is_set_aside():
    row = of_run(full(set_aside="was resumed"), own())
    assert row["refused"] == f"{OTHERS}its FULL was resumed"


@pytest.mark.parametrize(
    ("column", "other", "differing"),
    [
        ("energy_method", "estimated", "energy_method estimated and measured"),
        ("energy_source", "codecarbon RAPL", "energy_source codecarbon RAPL and pyJoules RAPL"),
    ],
)
def test_energies_obtained_in_different_ways_have_no_ratio(column, other, differing, caplog):
    row = of_run(full(), own(**{column: other}))
    assert pd.isna(row["energy_ratio"])
    assert caplog.messages == [f"run.json (FULL: full.json): no energy ratio: {differing}"]
    assert row["speedup"] == 5.0  # times compare all the same


@pytest.mark.parametrize("missing", [None, np.nan], ids=["None", "NaN"])
@pytest.mark.parametrize("which", ["full", "run", "both"])
def test_energy_that_was_not_measured_has_no_ratio(which, missing, caplog):
    unknown = {**UNMEASURED, "energy_joules": missing}
    fulls, owns = (unknown if which in (name, "both") else {} for name in ("full", "run"))
    with caplog.at_level(logging.WARNING):
        row = of_run(full(**fulls), own(**owns))
    assert pd.isna(row["energy_ratio"])
    assert row["speedup"] == 5.0
    assert len(caplog.messages) == (which != "both")
