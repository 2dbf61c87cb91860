import pandas as pd
import pytest

from automata.analysis import wording
from automata.analysis.ratios import ratios_to_full
from automata.page.summary import summary

NONE = pd.DataFrame(columns=["dataset", "search", "scheduler", "key", "here", "paper"])


@pytest.fixture(scope="module")
def facts(runs):
    return summary(runs, ratios_to_full(runs), NONE)


def test_what_was_run(facts, runs):
    assert facts["runs"] == len(runs)
    assert facts["datasets"] == ["DNA", "TREC6"]
    assert facts["searches"] == ["Random", "TPE"]
    assert facts["schedulers"] == ["Hyperband"]
    assert [selector.display for selector in facts["selectors"]] == [
        "FULL",
        "FULL (repeat)",
        "untuned",
        "RANDOM (fixed)",
        "AUTOMATA",
    ]
    assert facts["fractions"] == ["5 %", "10 %"]
    assert facts["seeds"] == "0, 1, 2"


def test_panel_of_the_grid_without_runs_is_named(facts):
    assert facts["not_run"] == ["TREC6 (TPE, Hyperband)"]


def test_time_includes_set_up(runs):
    table = runs.iloc[:2].assign(total_seconds=[100.0, 20.0], setup_seconds=[50.0, 10.0])
    assert summary(table, ratios_to_full(table), NONE)["duration"] == "3 min"


def test_estimated_energies_are_counted_apart_from_those_that_counters_gave_in_part(runs):
    sources = ["codecarbon CPU load", *["NVML energy + codecarbon CPU load"] * 2, "pyJoules RAPL"]
    methods = ["estimated"] * 3 + ["measured"]
    table = runs.iloc[:4].assign(energy_method=methods, energy_source=sources)
    facts = summary(table, ratios_to_full(table), NONE)
    assert facts["estimated"] == {"all": 1, "in part": 2}
    assert facts["energy"].startswith("NVML counters, CPU estimated from CPU time, RAPL counters")


def test_machines_are_told_apart(facts, runs):
    software = "torch 2.13.0+cpu ray 2.60.0"
    place = {"device": "cpu", "software": software, "threads_per_trial": 1, "concurrent_trials": 1}
    assert facts["machines"] == [
        {"machine": "other", **place, "runs": 1},
        {"machine": "vm", **place, "runs": len(runs) - 1},
    ]


def test_dates_are_of_the_first_start_and_the_last_end(runs):
    table = runs.iloc[:2].assign(started_at=[0.0, 86_390.0], setup_seconds=5.0, total_seconds=6.0)
    facts = summary(table, ratios_to_full(table), NONE)
    assert facts["days"] == ["1970-01-01", "1970-01-02"]


def test_refused_run_is_named_with_its_reason(facts):
    (refused,) = facts["refused"]
    assert refused == (
        "not comparable with its FULL: machine other and vm",
        "",
        ["results/runs/dna/tpe-hyperband/random-0.1/seed-2/record.json"],
    )


def test_flags_are_counted_one_by_one(runs):
    flags = ["contaminated short_window", "contaminated", "", ""]
    table = runs.iloc[:4].assign(flags=flags, exclusive=[True, True, True, False])
    caveats = summary(table, ratios_to_full(table), NONE)["caveats"]
    assert [(name, len(records)) for name, _, records in caveats] == [
        ("short_window", 1),
        ("contaminated", 2),
        ("not exclusive", 1),
    ]


def test_difference_says_where_it_holds(runs):
    panels = runs[["dataset", "search", "scheduler"]].drop_duplicates()
    dna = panels[panels["dataset"] == "dna"]
    table = pd.concat(
        [
            panels.assign(key="device", here="cpu", paper="V100"),
            dna.assign(key="epochs", here="20", paper="200"),
            dna[dna["search"] == "tpe"].assign(key="seeds", here="3", paper="5"),
        ]
    )
    found = summary(runs, ratios_to_full(runs), table)["differences"]
    assert [tuple(row.values()) for row in found] == [
        ("device", "cpu", "V100", "all"),
        ("epochs", "20", "200", "DNA"),
        ("seeds", "3", "5", "DNA"),
    ]


def test_failed_trials_are_counted(runs):
    table = runs.iloc[:2].assign(failed_trials=[1, 2], configurations=27)
    assert summary(table, ratios_to_full(table), NONE)["failed"] == "3 trials of 54 failed"


def test_draws_without_tuning_have_seeds_of_their_own(runs):
    own = runs.assign(seed=runs["seed"] + 5 * (runs["selector"] == "untuned"))
    assert wording.seeds(own) == "0, 1, 2; untuned: 5, 6, 7"
