"""Each run against FULL: which runs pair, which are refused, and the numbers."""

import pandas as pd
import pytest

from automata.analysis.ratios import ceiling, ratios_to_full
from automata.analysis.runs import RESUMED, RunRow
from support.tabulated import CARBON

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
    table = ratios_to_full(pd.DataFrame(rows), CARBON)
    return only(table[table["selector"] != "full"])


def test_a_run_has_its_ratios_to_full():
    expected = {
        "speedup": 5.0,
        "relative_test_error": 2.0,
        "energy_ratio": 4.0,
        "co2_energy_ratio": 4.0,
        "co2_time_ratio": 5.0,
        "ceiling": 100 / 35,  # 20 + 10 + 15 / 3 epochs
        "efficiency": 5.0 * 35 / 100,
        "final_ceiling": 4.0,  # 300 / (30 + (10 + 15 / 3) x 3)
        "full_best_epochs": 18,
        "record": "run.json",
        "full_record": "full.json",
    }
    row = of_run(full(), own())
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert pd.isna(row["refused"])


def test_the_ceiling_counts_epochs_selections_and_slots():
    """Hyperband of 27 configurations, T = 200: 2982 epochs, of which subsets have a hundredth."""
    spent = {"gradient_selections": 300, "concurrent_trials": 2, "final_epochs": 200}
    subset = RunRow(own(full_epoch_equivalents=29.82, **spent))
    everything = RunRow(full(full_epoch_equivalents=2982, concurrent_trials=2))
    # 300 selections are 100 epochs, and the final training is whole.
    assert ceiling(subset, everything) == pytest.approx(1491 / (200 + 14.91 + 50))


@pytest.mark.parametrize(("epochs", "final"), [(300, 200), (500, 250)])
def test_the_ceiling_of_finalists_at_once_has_the_longest_or_their_share(epochs, final):
    spent = {"gradient_selections": 0, "concurrent_trials": 2, "final_slots": 2.0, "epochs": 200}
    subset = RunRow(own(full_epoch_equivalents=30, final_epochs=epochs, **spent))
    everything = RunRow(full(full_epoch_equivalents=2982, concurrent_trials=2))
    assert ceiling(subset, everything) == pytest.approx(1491 / (final + 15))


@pytest.mark.parametrize(
    "place", [{"dataset": "dna"}, {"search": "random"}, {"scheduler": "asha"}, {"seed": 1}]
)
def test_a_run_is_compared_with_the_full_run_of_its_place_or_refused(place, caplog):
    rows = [own(**place), full(), full(**place, record="other.json")]
    assert of_run(*rows)["full_record"] == "other.json"
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
        ({"concurrent_trials": 4}, f"{OTHERS}concurrent_trials 4 and 1"),
        ({"exclusive": False}, f"{OTHERS}exclusive False and True"),
        ({"set_aside": "was resumed"}, f"{OTHERS}the run was resumed"),
        ({"final_failure": "loss nan"}, "the final training diverged: loss nan"),
    ],
)
def test_a_run_that_does_not_compare_is_refused_and_says_why(changes, refused, caplog):
    row = of_run(full(), own(**changes))
    assert row["refused"] == refused
    assert pd.isna(row["speedup"])
    assert caplog.messages == [f"run.json (FULL: full.json): {refused}"]
    set_aside = of_run(full(set_aside="was resumed"), own())
    assert set_aside["refused"] == f"{OTHERS}its FULL was resumed"
    (alone,) = ratios_to_full(pd.DataFrame([full(set_aside=RESUMED)]), CARBON)["refused"]
    more = "its time is the sum over calls, its scores are not affected"
    assert alone == f"FULL itself {RESUMED}; {more}"


@pytest.mark.parametrize("flag", ["shared_gpu", "counter_reset"])
def test_counters_that_count_others_or_were_reset_give_no_ratio(flag):
    source = {"energy_source": "pyJoules NVML"}
    row = of_run(full(**source), own(**source, flags=f"short_window {flag}"))
    assert pd.isna(row["energy_ratio"])
    assert row["speedup"] == 5.0


@pytest.mark.parametrize("disturbed", [("run.json",), ("full.json",), ()])
def test_beside_other_work_only_ratios_that_it_hardly_changes_are_known(disturbed):
    work = {"full.json": {"cpu_seconds": 280.0}, "run.json": {"cpu_seconds": 40.0}}
    for record, values in work.items():
        values |= {"device": "cpu", "other_cpu_share": 0.2 if record in disturbed else 0.1}
    rows = full(**work["full.json"]), own(**work["run.json"])
    estimated = [{**row, "energy_method": "estimated", "energy_source": "load"} for row in rows]
    row = of_run(*rows)
    assert row["cpu_ratio"] == 7.0
    assert of_run(*estimated)["energy_ratio"] == 4.0
    timed = ["speedup", "efficiency", "final_ceiling", "energy_ratio"]  # RAPL counts all work
    assert [pd.isna(row[name]) for name in timed] == [bool(disturbed)] * 4
    ours = ratios_to_full(pd.DataFrame(rows), CARBON).query("selector == 'full'")
    assert ours["speedup"].item() == 1.0
    assert pd.isna(of_run(*(row | {"device": "H100"} for row in rows))["cpu_ratio"])


@pytest.mark.parametrize(
    ("changes", "of_full", "differing"),
    [
        ({"energy_method": "estimated"}, {}, "energy_method estimated and measured"),
        ({"energy_source": "a plug"}, {}, "energy_source a plug and pyJoules RAPL"),
        (UNMEASURED, UNMEASURED, None),
    ],
)
def test_energies_that_do_not_compare_have_no_ratio(changes, of_full, differing, caplog):
    row = of_run(full(**of_full), own(**changes))
    assert pd.isna(row["energy_ratio"])
    assert row["speedup"] == 5.0  # times compare all the same
    message = f"run.json (FULL: full.json): no energy ratio: {differing}"
    assert caplog.messages == ([message] if differing else [])
