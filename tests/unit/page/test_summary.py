"""The facts of an experiment: what was run, where and when, and why to doubt it."""

import pandas as pd
import pytest

from automata.analysis.ratios import ratios_to_full
from automata.page.summary import summary
from support.tabulated import CARBON

NONE = pd.DataFrame(columns=["dataset", "search", "scheduler", "key", "here", "paper"])


def facts_of(runs, differences=NONE, **changes):
    table = runs.assign(**changes)
    return summary(table, ratios_to_full(table, CARBON), differences)


def test_seeds_of_untuned_are_named_apart_if_they_differ(runs):
    facts = facts_of(runs.assign(seed=runs["seed"] + 5 * (runs["selector"] == "untuned")))
    assert facts["seeds"] == "0, 1, 2; untuned: 5, 6, 7"


def test_times_and_dates_include_set_up(runs):
    seconds = {"total_seconds": [100.0, 20.0], "setup_seconds": [50.0, 10.0]}
    facts = facts_of(runs.iloc[:2], started_at=[0.0, 86_390.0], **seconds)
    assert (facts["duration"], facts["days"]) == ("3 min", ["1970-01-01", "1970-01-02"])


def test_energies_estimated_in_whole_and_in_part_are_counted_apart(runs):
    sources = ["codecarbon CPU load", *["NVML energy + codecarbon CPU load"] * 2, "pyJoules RAPL"]
    methods = ["estimated"] * 3 + ["measured"]
    facts = facts_of(runs.iloc[:4], energy_method=methods, energy_source=sources)
    assert facts["estimated"] == {"all": 1, "in part": 2}
    assert facts["energy"].startswith("NVML counters, CPU estimated from CPU time, RAPL counters")


def test_flags_and_failures_are_counted_one_by_one(runs):
    flags = ["contaminated short_window", "contaminated", "", ""]
    caveats = facts_of(runs.iloc[:4], flags=flags, exclusive=[True, True, True, False])["caveats"]
    assert [(name, len(records)) for name, _, records in caveats] == [
        ("short_window", 1),
        ("contaminated", 2),
        ("not exclusive", 1),
    ]
    failed = facts_of(runs.iloc[:2], failed_trials=[1, 2], configurations=27)["failed"]
    assert failed == "3 trials of 54 failed"


@pytest.mark.parametrize(("where", "shown"), [("dataset != ''", "all"), ("search == 'tpe'", "DNA")])
def test_a_difference_from_the_paper_says_where_it_holds(runs, where, shown):
    panels = runs[["dataset", "search", "scheduler"]].drop_duplicates().query(where)
    table = panels.assign(key="epochs", here="20", paper="200")
    (difference,) = facts_of(runs, table)["differences"]
    assert tuple(difference.values()) == ("epochs", "20", "200", shown)
