import numpy as np
import pandas as pd
import pytest

from automata.analysis import wording
from automata.analysis.ratios import ratios_to_full
from automata.page.summary import Energy, claims, summary, tally

from .conftest import claims_table


@pytest.fixture(scope="module")
def facts(runs):
    return summary(runs, ratios_to_full(runs), None)


def test_what_was_run(facts, runs):
    assert facts.runs == len(runs)
    assert facts.datasets == ["DNA", "TREC6"]
    assert facts.searches == ["Random", "TPE"]
    assert facts.schedulers == ["Hyperband"]
    assert [name for name, _ in facts.selectors] == [
        "FULL",
        "FULL (repeat)",
        "untuned",
        "RANDOM (fixed)",
        "AUTOMATA",
    ]
    assert facts.fractions == ["5 %", "10 %"]
    assert facts.seeds == "0, 1, 2"


def test_panel_of_the_grid_without_runs_is_named(facts):
    assert facts.not_run == ["TREC6 (TPE, Hyperband)"]


def test_time_includes_set_up(runs):
    table = runs.iloc[:2].assign(total_seconds=[100.0, 20.0], setup_seconds=[50.0, 10.0])
    assert summary(table, ratios_to_full(table), None).duration == "3 min"


def test_energies_of_different_ways_are_not_added(runs):
    table = runs.iloc[:4].assign(
        energy_joules=[3600.0, 3600.0, 7200.0, np.nan],
        energy_method=["estimated", "estimated", "measured", None],
        energy_source=["codecarbon CPU load", "codecarbon CPU load", "pyJoules RAPL", None],
    )
    facts = summary(table, ratios_to_full(table), None)
    assert facts.energies == [
        Energy("estimated from CPU time", "codecarbon CPU load", 2, "2 Wh", estimated=True),
        Energy("RAPL counters", "pyJoules RAPL", 1, "2 Wh", estimated=False),
        Energy("not measured", "", 1, "", estimated=False),
    ]


def test_energy_that_counters_gave_in_part_is_no_estimate_of_time_alone(runs):
    table = runs.iloc[:3].assign(
        energy_joules=3600.0,
        energy_method="estimated",
        energy_source=["codecarbon CPU load", *["NVML energy + codecarbon CPU load"] * 2],
    )
    facts = summary(table, ratios_to_full(table), None)
    assert [(energy.estimated, energy.in_part) for energy in facts.energies] == [
        (False, True),
        (True, False),
    ]


def test_machines_are_told_apart(facts, runs):
    software = "torch 2.13.0+cpu ray 2.60.0"
    place = {"device": "cpu", "software": software, "threads_per_trial": 1, "concurrent_trials": 1}
    assert facts.machines == [
        {"machine": "other", **place, "runs": 1},
        {"machine": "vm", **place, "runs": len(runs) - 1},
    ]


def test_dates_are_of_the_first_start_and_the_last_end(runs):
    table = runs.iloc[:2].assign(started_at=[0.0, 86_390.0], setup_seconds=5.0, total_seconds=6.0)
    facts = summary(table, ratios_to_full(table), None)
    assert (facts.first, facts.last) == ("1970-01-01", "1970-01-02")


def test_refused_run_is_named_with_its_reason(facts):
    (refused,) = facts.refused
    assert refused.name == "not comparable with its FULL: machine other and vm"
    assert refused.records == ["results/runs/dna/tpe-hyperband/random-0.1/seed-2/record.json"]


def test_flags_are_counted_one_by_one(runs):
    flags = ["contaminated short_window", "contaminated", "", ""]
    table = runs.iloc[:4].assign(flags=flags, exclusive=[True, True, True, False])
    doubts = summary(table, ratios_to_full(table), None).flags
    assert [(doubt.name, len(doubt.records)) for doubt in doubts] == [
        ("contaminated", 2),
        ("short_window", 1),
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
    found = summary(runs, ratios_to_full(runs), table).differences
    assert [tuple(row.values()) for row in found] == [
        ("device", "cpu", "V100", "everywhere"),
        ("epochs", "20", "200", "DNA"),
        ("seeds", "3", "5", "DNA (TPE, Hyperband)"),
    ]


def test_failed_trials_are_counted(runs):
    table = runs.iloc[:2].assign(failed_trials=[1, 2], configurations=27)
    assert summary(table, ratios_to_full(table), None).failed == "3 trials of 54 failed"


def test_draws_without_tuning_have_seeds_of_their_own(runs):
    own = runs.assign(seed=runs["seed"] + 5 * (runs["selector"] == "untuned"))
    assert wording.seeds(own) == "0, 1, 2; untuned: 5, 6, 7"


def test_verdicts_are_counted_in_one_order(runs):
    assert tally(claims(claims_table(runs)[::-1])) == [
        ("reproduced", "yes", 1),
        ("not reproduced", "no", 1),
        ("not run", "none", 1),
    ]


def test_firmness_is_said_in_words(runs):
    assert [claim["firm"] for claim in claims(claims_table(runs))] == [
        "firm: the whole 95 % interval agrees",
        "not firm: too few seeds",
        "",
    ]
