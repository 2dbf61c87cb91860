"""The table of runs: one row per record, with the right sums."""

from pathlib import Path

import pytest

from automata.analysis.runs import protocol_hash, row, table, tuning_split
from automata.config.sections import Comparison
from automata.records import Record, Segment
from support.synthetic import synthetic_runs


def made(record, **comparison):
    return row(record, Path("records/here.json"), Comparison(**comparison))


def test_a_record_is_one_row_of_its_sums_and_settings(make_record):
    found = made(make_record())
    expected = {
        "tuning_seconds": 40.0,
        "total_seconds": 60.0,
        "cpu_seconds": 54.0,
        "energy_joules": 150.0,
        "best_validation_accuracy": 0.75,
        "best_configuration": "batch_size=16 learning_rate=0.3 optimizer=adam",
        "failed_trials": 1,
        "full_epoch_equivalents": 1.0,  # 10 epochs of 100 of 1000 rows
        "effective_fraction": pytest.approx(0.092),  # 8 epochs of 90, 2 of 100 rows
        "gradient_selections": 5,
        "record": "records/here.json",
    }
    assert expected == {name: found[name] for name in expected}


FULL = {"selector": "full", "fraction": 1.0}
ESTIMATED = {"method": "estimated"}
UNKNOWN = {"energy_joules": None, "energy_method": None}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (FULL, {"final_seconds": 0.0, "energy_joules": 100.0, "final_epochs": 0}),
        ({"failure": "diverged"}, {"final_failure": "diverged"}),
        ({"tuning": {"joules": None}}, UNKNOWN),
        ({"final": ESTIMATED}, UNKNOWN),
        ({"final": ESTIMATED, "tuning": ESTIMATED}, {"energy_method": "estimated"}),
        ({"final": {"source": "codecarbon RAPL"}}, {"energy_source": None}),
        ({"final": {"exclusive": False}}, {"exclusive": False}),
    ],
)
def test_both_phases_count(make_record, changes, expected):
    found = made(make_record(**changes))
    assert expected == {name: found[name] for name in expected}


def test_flags_and_other_work_are_those_of_the_worse_phase(make_record):
    record = make_record()
    tuning, final = (part.segments[0].measurement for part in (record.tuning, record.final))
    # On two cores, others had 8 of the 80 CPU s of tuning, and 10 of the final training's 40.
    tuning.host_busy_cpu_seconds, final.host_busy_cpu_seconds = 36.0 + 8.0, 18.0 + 10.0
    tuning.flags.extend(["short_window", "contaminated"])
    final.flags.append("short_window")
    found = made(record)
    assert found["other_cpu_share"] == pytest.approx(0.25)
    assert found["flags"] == "contaminated short_window"


@pytest.mark.parametrize(
    ("slots", "expected"),
    # 10 epochs of 2, 0.75 and 0.25 s: 30 s of work on one slot, 15 s on two, of 40 s.
    [(1, [20.0, 7.5, 2.5, 10.0]), (2, [10.0, 3.75, 1.25, 25.0])],
)
def test_work_inside_trials_counts_for_its_share_of_the_slots(make_record, slots, expected):
    split = tuning_split(make_record(concurrent_trials=slots))
    assert list(split.values()) == pytest.approx(expected)


def test_runs_share_a_hash_with_their_full_whatever_the_selectors_settings(make_record):
    own = protocol_hash(make_record())
    assert protocol_hash(make_record(settings={"selector": {"gradmatch": {"l2": 0.75}}})) == own
    assert protocol_hash(make_record(concurrent_trials=2)) != own


def test_a_run_on_a_cluster_has_no_energy_of_its_search(make_record):
    record = make_record()
    unknown = {"cpu_seconds": None, "host_busy_cpu_seconds": None, "channels": []}
    window = record.tuning.segments[0].measurement
    measurement = window.model_copy(update={**unknown, "flags": ["elsewhere"]})
    cluster = {"address": "10.0.0.1:6379", "nodes": [{"name": "n1", "trials": [0]}]}
    changed = {"segments": [Segment(host="here", measurement=measurement)], "cluster": cluster}
    record = record.model_copy(update={"tuning": record.tuning.model_copy(update=changed)})
    assert Record.model_validate_json(record.model_dump_json()) == record
    found = made(record)
    assert found["machine"].endswith(", trials on 10.0.0.1:6379")
    assert (found["energy_joules"], found["energy_method"]) == (None, None)
    assert found["flags"] == "elsewhere"
    assert found["other_cpu_share"] == 0.45  # of the final training, which is here


def test_an_interrupted_run_is_summed_and_set_aside_unless_configured(make_record):
    """The search was interrupted after 10 of 50 s and resumed elsewhere."""
    record = make_record()
    (second,) = record.tuning.segments
    begun = {"wall_seconds": 10.0, "started_at": second.measurement.started_at - 1000.0}
    window = second.measurement.model_copy(update=begun)
    first = Segment(host="there", setup_seconds=2.0, measurement=window)
    tuning = record.tuning.model_copy(update={"segments": [first, second]})
    resumed = record.model_copy(update={"tuning": tuning, "resumed": True})
    found = made(resumed)
    sums = ("tuning_seconds", "setup_seconds", "energy_joules")
    assert [found[name] for name in sums] == [50.0, 5.0, 250.0]
    assert found["machine"].startswith("there + here: ")  # no other run has this machine
    assert found["set_aside"] == "was interrupted and resumed (comparison.resumed)"
    assert made(resumed, resumed=True)["set_aside"] == ""
    # Time between segments does not count.
    starts = (first.measurement.started_at, second.measurement.started_at)
    assert [tuning.elapsed(start + 4.0) for start in starts] == pytest.approx([4.0, 14.0])


def test_hosts_of_one_kind_are_one_machine_if_that_is_configured(make_record):
    def machine(hosts, **changed):
        record = make_record()
        other = record.model_copy(update={"provenance": {**record.provenance, **changed}})
        return made(other, hosts=hosts)["machine"]

    assert machine("alike", host="another") == machine("alike")
    assert machine("alike", cpu_count=64) != machine("alike")
    assert machine("alike", gpus=["H200"]) != machine("alike")
    assert machine("same", cpu="another") != machine("same")


def test_a_column_of_numbers_stays_one_and_a_later_column_is_there_if_one_run_has_it(make_record):
    found = made(make_record(tuning={"joules": None}))
    assert table([found])["energy_joules"].dtype == "float64"
    assert set(table([found])) == set(synthetic_runs(datasets=("dna",)))
    assert table([found, {**found, "test_roc_auc": 0.75}])["test_roc_auc"].count() == 1
