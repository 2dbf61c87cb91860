"""The table of runs: one row per record, with the right sums."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from automata.analysis.runs import protocol_hash, row, table, tuning_split
from automata.config.sections import Comparison, GradMatchSettings, SelectorSettings
from automata.records import Record, Segment, Trial, Tuning
from automata.training.progress import Progress
from support.synthetic import synthetic_runs

MakeRecord = Callable[..., Record]

HERE = Path("records/here.json")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("tuning_seconds", 40.0),
        ("final_seconds", 20.0),
        ("total_seconds", 60.0),
        ("energy_joules", 150.0),
        ("energy_method", "measured"),
        ("energy_source", "pyJoules RAPL"),
        ("setup_seconds", 3.0),
        ("exclusive", True),
        ("test_accuracy", 0.72),
        ("best_validation_accuracy", 0.75),
        ("best_index", 0),
        ("best_epochs", 8),
        ("best_configuration", "batch_size=16 learning_rate=0.3 optimizer=adam"),
        (
            "best_configuration_json",
            '{"batch_size": 16, "learning_rate": 0.30000000000000004, "optimizer": "adam"}',
        ),
        ("configurations", 2),
        ("failed_trials", 1),
        ("epochs", 8),
        ("full_epoch_equivalents", 1.0),  # 10 epochs of 100 of 1000 rows
        ("effective_fraction", 0.092),  # 8 epochs of 90, 2 of 100 rows
        ("gradient_selections", 5),
        ("train_rows", 1000),
        ("final_epochs", 8),
        ("concurrent_trials", 1),
        ("threads_per_trial", 1),
        ("device", "cpu"),
        ("record", "records/here.json"),
    ],
)
def test_row_of_a_record(make_record: MakeRecord, column: str, value: object) -> None:
    assert row(make_record(), HERE, Comparison())[column] == pytest.approx(value)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("final_seconds", 0.0),
        ("total_seconds", 40.0),
        ("energy_joules", 100.0),
        ("final_epochs", 0),
        ("final_failure", None),
    ],
)
def test_full_has_no_final_training(make_record: MakeRecord, column: str, value: object) -> None:
    assert row(make_record(selector="full", fraction=1.0), HERE, Comparison())[column] == value


def test_a_record_without_subset_epochs_has_no_effective_fraction(make_record: MakeRecord) -> None:
    """Older records, and searches that ended within the warm start."""
    record = make_record()
    for trial in record.tuning.trials:
        trial.progress.subset_epochs = trial.progress.selected_samples = 0

    assert row(record, HERE, Comparison())["effective_fraction"] is None


def test_failure_of_the_final_training_is_in_the_row(make_record: MakeRecord) -> None:
    assert row(make_record(failure="diverged"), HERE, Comparison())["final_failure"] == "diverged"


@pytest.mark.parametrize("slots", [1, 2])
def test_parts_of_the_tuning_sum_to_its_seconds(make_record: MakeRecord, slots: int) -> None:
    parts = tuning_split(make_record(concurrent_trials=slots))

    assert sum(parts.values()) == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("slots", "training", "selection", "evaluation", "orchestration"),
    # 10 epochs of 2, 0.75 and 0.25 s: 30 s of work on one slot, 15 s on two, of 40 s.
    [(1, 20.0, 7.5, 2.5, 10.0), (2, 10.0, 3.75, 1.25, 25.0)],
)
def test_work_inside_trials_counts_for_its_share_of_the_slots(
    make_record: MakeRecord,
    slots: int,
    training: float,
    selection: float,
    evaluation: float,
    orchestration: float,
) -> None:
    assert tuning_split(make_record(concurrent_trials=slots)) == pytest.approx(
        {
            "training": training,
            "selection": selection,
            "evaluation": evaluation,
            "orchestration": orchestration,
        }
    )


@pytest.mark.parametrize(
    "changes",
    [{"tuning_joules": None}, {"final_joules": None}, {"final_method": "estimated"}],
    ids=["tuning not measured", "final training not measured", "measured and estimated"],
)
def test_energy_of_a_run_that_was_not_measured_alike_throughout_is_none(
    make_record: MakeRecord, changes: dict[str, Any]
) -> None:
    result = row(make_record(**changes), HERE, Comparison())

    assert result["energy_joules"] is None
    assert result["energy_method"] is None


def test_energy_of_two_estimates_is_an_estimate(make_record: MakeRecord) -> None:
    result = row(
        make_record(tuning_method="estimated", final_method="estimated"), HERE, Comparison()
    )

    assert (result["energy_joules"], result["energy_method"]) == (150.0, "estimated")


def test_two_sources_have_no_common_name(make_record: MakeRecord) -> None:
    assert (
        row(make_record(final_source="codecarbon RAPL"), HERE, Comparison())["energy_source"]
        is None
    )


def test_run_is_exclusive_only_when_both_phases_were(make_record: MakeRecord) -> None:
    assert row(make_record(final_exclusive=False), HERE, Comparison())["exclusive"] is False


def test_share_of_other_work_is_that_of_the_worse_phase(make_record: MakeRecord) -> None:
    record = make_record()
    # Two cores: 40 s of tuning have 80 CPU s, of which 36 + 8 were busy; the final training's
    # 40 had 18 + 10.
    record.tuning.segments[0].measurement.host_busy_cpu_seconds = 36.0 + 8.0
    assert record.final is not None
    record.final.segments[0].measurement.host_busy_cpu_seconds = 18.0 + 10.0

    assert row(record, Path("r.json"), Comparison())["other_cpu_share"] == pytest.approx(0.25)


def test_protocol_hash_is_that_of_full_whatever_the_selectors_settings(
    make_record: MakeRecord,
) -> None:
    record = make_record()
    settings = record.job.settings.model_copy(
        update={"selector": SelectorSettings(gradmatch=GradMatchSettings(l2=0.5))}
    )
    other = record.model_copy(update={"job": record.job.model_copy(update={"settings": settings})})

    assert protocol_hash(other) == protocol_hash(record)


def test_protocol_hash_changes_with_the_protocol(make_record: MakeRecord) -> None:
    assert protocol_hash(make_record(concurrent_trials=2)) != protocol_hash(make_record())


def test_flags_of_both_phases_are_in_the_row(make_record: MakeRecord) -> None:
    record = make_record()
    assert record.final is not None
    record.tuning.segments[0].measurement.flags.extend(["short_window", "contaminated"])
    record.final.segments[0].measurement.flags.append("short_window")
    assert row(record, HERE, Comparison())["flags"] == "contaminated short_window"


def on_cluster(record: Record) -> Record:
    """The record of a search on the user's Ray; earlier ones name its nodes, too."""
    window = record.tuning.segments[0].measurement
    unknown = {"cpu_seconds": None, "host_busy_cpu_seconds": None, "channels": []}
    measurement = window.model_copy(update={**unknown, "flags": ["elsewhere"]})
    segment = Segment(host="here", measurement=measurement)
    cluster = {"address": "10.0.0.1:6379", "nodes": [{"name": "n1", "trials": [0]}]}
    changed = {"segments": [segment], "cluster": cluster}
    return record.model_copy(update={"tuning": record.tuning.model_copy(update=changed)})


def test_row_of_a_run_on_a_cluster(make_record: MakeRecord) -> None:
    record = on_cluster(make_record())
    assert Record.model_validate_json(record.model_dump_json()) == record
    found = row(record, HERE, Comparison())
    assert str(found["machine"]).endswith(", trials on 10.0.0.1:6379")
    assert (found["energy_joules"], found["energy_method"]) == (None, None)
    assert found["flags"] == "elsewhere"
    assert found["other_cpu_share"] == 0.45  # of the final training, which is here


def drawn(record: Record) -> Record:
    """The record as `untuned` has it: one configuration, no search."""
    trial = Trial(
        index=0, configuration={"batch_size": 16}, rungs=[], status="drawn", progress=Progress()
    )
    return record.model_copy(update={"tuning": Tuning(segments=[], trials=[trial], best=0)})


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("tuning_seconds", 0.0),
        ("tuning_orchestration_seconds", 0.0),
        ("total_seconds", 20.0),
        ("energy_joules", 50.0),
        ("energy_method", "measured"),
        ("best_validation_accuracy", None),
        ("best_configuration", "batch_size=16"),
        ("best_epochs", 0),
        ("configurations", 1),
        ("effective_fraction", None),
        ("final_epochs", 8),
        ("started_at", 1_700_000_000.25),
    ],
)
def test_row_of_a_run_that_searched_nothing(
    make_record: MakeRecord, column: str, value: object
) -> None:
    record = drawn(make_record(selector="untuned", fraction=0))

    assert row(record, HERE, Comparison())[column] == value


def test_row_has_the_columns_of_the_made_up_runs(make_record: MakeRecord) -> None:
    made = table([row(make_record(), HERE, Comparison())])
    assert list(made.columns) == list(synthetic_runs(datasets=("dna",)).columns)


def test_a_table_has_roc_auc_if_a_run_has(make_record: MakeRecord) -> None:
    plain = make_record()
    tuned = plain.model_copy(update={"test": plain.test.model_copy(update={"roc_auc": 0.75})})
    made = table(row(record, HERE, Comparison()) for record in (plain, tuned))
    assert made["test_roc_auc"].fillna(0).tolist() == [0, 0.75]


@pytest.fixture
def resumed(make_record: MakeRecord) -> Record:
    """A run whose search was interrupted after 10 of 50 s and resumed elsewhere."""
    record = make_record()
    (second,) = record.tuning.segments
    window = second.measurement
    started = window.started_at - 1000.0
    first = Segment(
        host="there",
        setup_seconds=2.0,
        measurement=window.model_copy(update={"wall_seconds": 10.0, "started_at": started}),
    )
    tuning = record.tuning.model_copy(update={"segments": [first, second]})
    return record.model_copy(update={"tuning": tuning, "resumed": True})


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("tuning_seconds", 50.0),
        ("setup_seconds", 5.0),
        ("energy_joules", 250.0),
        ("set_aside", "was interrupted and resumed (comparison.resumed)"),
    ],
)
def test_row_of_a_run_that_was_interrupted(resumed: Record, column: str, value: object) -> None:
    assert row(resumed, HERE, Comparison())[column] == value


def test_machine_of_an_interrupted_run_is_no_single_host(resumed: Record) -> None:
    machine = row(resumed, HERE, Comparison())["machine"]
    assert str(machine).startswith("there + here: ")


def test_interrupted_run_is_compared_if_that_is_configured(resumed: Record) -> None:
    assert row(resumed, HERE, Comparison(resumed=True))["set_aside"] == ""


def test_time_between_segments_does_not_count(resumed: Record) -> None:
    first, second = (segment.measurement.started_at for segment in resumed.tuning.segments)
    assert resumed.tuning.elapsed(first + 4.0) == pytest.approx(4.0)
    assert resumed.tuning.elapsed(second + 4.0) == pytest.approx(14.0)


def test_hosts_of_one_kind_are_one_machine_if_that_is_configured(make_record: MakeRecord) -> None:
    def machine(hosts: str, **changed: object) -> str:
        record = make_record()
        provenance = {**record.provenance, **changed}
        other = record.model_copy(update={"provenance": provenance})
        return str(row(other, HERE, Comparison.model_validate({"hosts": hosts}))["machine"])

    assert machine("alike", host="another") == machine("alike")
    assert machine("alike", cpu_count=64) != machine("alike")
    assert machine("alike", gpus=["H200"]) != machine("alike")
    assert machine("same").startswith("here: ")
    assert machine("same", cpu="another") != machine("same")
