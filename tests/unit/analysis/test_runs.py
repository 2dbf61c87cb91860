"""The table of runs: one row per record; the published ones have the usual sums."""

from pathlib import Path

import pytest

from automata.analysis.runs import protocol_hash, row, table, tuning_split
from automata.config.sections import Comparison
from automata.records.record import Record

from .conftest import record

SEARCH, FINAL = "tuning/segments/0/measurement", "final/segments/0/measurement"
CHANNEL = "channels/0"
UNKNOWN = {"energy_joules": None, "energy_method": None}


def made(changes=(), **comparison):
    return row(record(changes), Path("records/here.json"), Comparison(**comparison))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"final/progress/failure": "diverged"}, {"final_failure": "diverged"}),
        ({"tuning/trials/3/progress/failure": "diverged"}, {"failed_trials": 1}),
        ({f"{SEARCH}/{CHANNEL}/joules": None}, UNKNOWN),
        ({f"{FINAL}/{CHANNEL}/method": "measured"}, UNKNOWN),
        ({f"{FINAL}/{CHANNEL}/source": "another source"}, {"energy_source": None}),
        ({f"{FINAL}/exclusive": False}, {"exclusive": False}),
        (  # On two cores, others had 8 of the 80 CPU s of tuning, and 10 of the other 40.
            {
                f"{SEARCH}/wall_seconds": 40.0,
                f"{SEARCH}/cpu_seconds": 36.0,
                f"{SEARCH}/host_busy_cpu_seconds": 36.0 + 8.0,
                f"{FINAL}/wall_seconds": 20.0,
                f"{FINAL}/cpu_seconds": 18.0,
                f"{FINAL}/host_busy_cpu_seconds": 18.0 + 10.0,
            },
            {"cpu_seconds": 54.0, "other_cpu_share": 0.25},
        ),
        (
            {f"{SEARCH}/flags": ["short_window", "contaminated"], f"{FINAL}/flags": []},
            {"flags": "contaminated short_window"},
        ),
    ],
)
def test_both_phases_count(changes, expected):
    found = made(changes)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_work_inside_trials_counts_for_its_share_of_the_slots():
    slots = "job/settings/compute/concurrent_trials"
    one, two = (tuning_split(record({slots: count})) for count in (1, 2))
    for activity in ("training", "selection", "evaluation"):
        assert one[activity] == pytest.approx(2 * two[activity]) != 0
    seconds = record().tuning.measurement.wall_seconds
    assert [sum(split.values()) for split in (one, two)] == pytest.approx([seconds] * 2)


def test_runs_share_a_hash_with_their_full_whatever_the_selectors_settings():
    own = protocol_hash(record())
    assert protocol_hash(record({"job/settings/selector/gradmatch/l2": 0.75})) == own
    assert protocol_hash(record({"job/settings/compute/concurrent_trials": 2})) != own


def test_a_run_on_a_cluster_has_no_energy_of_its_search():
    unknown = {"cpu_seconds": None, "host_busy_cpu_seconds": None, "channels": []}
    changes = {f"{SEARCH}/{name}": value for name, value in unknown.items()}
    changes["tuning/cluster"] = {"address": "10.0.0.1:6379", "nodes": [{"name": "n1"}]}
    of_cluster = record(changes)
    assert Record.model_validate_json(of_cluster.model_dump_json()) == of_cluster
    found = made(changes)
    assert found["machine"].endswith(", trials on 10.0.0.1:6379")
    assert (found["energy_joules"], found["energy_method"]) == (None, None)
    assert found["other_cpu_share"] > 0  # of the final training, which is here


def test_an_interrupted_run_is_summed_and_set_aside_unless_configured():
    """The search was interrupted after 10 s and resumed elsewhere, 1000 s after it began."""
    usual, (second,) = made(), record().model_dump(mode="json")["tuning"]["segments"]
    begun = second["measurement"]["started_at"] - 1000.0
    window = {**second["measurement"], "wall_seconds": 10.0, "started_at": begun}
    first = {"host": "there", "setup_seconds": 2.0, "measurement": window}
    changes = {"tuning/segments": [first, second], "resumed": True}
    found = made(changes)
    sums = ("tuning_seconds", "setup_seconds", "energy_joules")
    more = [10.0, 2.0, window["channels"][0]["joules"]]
    assert [found[name] - usual[name] for name in sums] == pytest.approx(more)
    assert found["machine"].startswith("there + vm: ")  # no other run has this machine
    assert found["set_aside"] == "was resumed, or extends a search (comparison.resumed)"
    assert made(changes, resumed=True)["set_aside"] == ""
    elapsed = record(changes).tuning.elapsed
    assert [elapsed(start + 4.0) for start in (begun, begun + 1000)] == pytest.approx([4.0, 14.0])


def test_hosts_of_one_kind_are_one_machine_if_that_is_configured():
    def machine(path, value, hosts):
        return made({path: value}, hosts=hosts)["machine"]

    alike = made(hosts="alike")["machine"]
    assert machine("tuning/segments/0/host", "another", "alike") == alike
    assert machine("provenance/cpu_count", 64, "alike") != alike
    assert machine("provenance/gpus", ["H200"], "alike") != alike
    assert machine("tuning/segments/0/host", "another", "same") != made(hosts="same")["machine"]


def test_a_column_of_numbers_stays_one_and_a_later_column_is_there_if_one_run_has_it():
    found = made({f"{SEARCH}/{CHANNEL}/joules": None})
    assert table([found])["energy_joules"].dtype == "float64"
    assert table([found, {**found, "test_roc_auc": 0.75}])["test_roc_auc"].count() == 1
