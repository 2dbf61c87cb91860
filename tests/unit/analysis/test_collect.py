"""From records on disk to tables: nothing is lost, doubled or averaged in by mistake."""

import hashlib
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.collect import collect, evaluations
from automata.cli import commands
from automata.config.sections import Comparison
from automata.errors import UserError
from automata.records.record import Record, Tuning, read_record, sealed, write_record

from .conftest import record

HERE = Path("here.json")
ANY = Comparison()


@pytest.fixture
def written(tmp_path):
    """A function that writes the record of another seed, changed."""

    def write(name, seed=0, **changes):
        path = tmp_path / f"{name}.json"
        write_record(record({"job/run/seed": seed, **changes}), path)
        return path

    return write


def test_the_command_finds_records_in_folders_and_refuses_a_folder_without(tmp_path):
    with pytest.raises(UserError, match=f"^{tmp_path}: no file, and no folder with a record.json"):
        commands.collect([tmp_path], output=tmp_path)
    (tmp_path / "a/b").mkdir(parents=True)
    write_record(record({}), tmp_path / "a/b/record.json")
    commands.collect([tmp_path / "a"], output=tmp_path)
    assert len(pd.read_csv(tmp_path / "runs.csv")) == 1


def test_a_record_of_trials_that_diverged_is_read_as_written_and_its_digest_checked_by_others(
    tmp_path,
):
    made = record({"tuning/trials/1/progress/training_loss": [0.1 + 0.2, math.nan, math.inf]})
    path = tmp_path / "a/record.json"
    write_record(made, path)
    assert repr(read_record(path)) == repr(made)
    content = json.loads(path.read_text())
    text, mark, _ = path.read_text().partition(',\n "digest"')
    assert mark
    assert content.pop("digest") == hashlib.sha256(text.encode()).hexdigest()
    assert repr(Record.model_validate(content)) == repr(made)


@pytest.mark.parametrize(
    ("old", "new"), [('"digest": ', '"digested": '), ('"seed": 0', '"seed":  0'), ("}\n", "}\n\n")]
)
def test_an_edited_record_is_refused_by_name(written, old, new):
    path = written("edited")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    message = "its content does not match its digest: cut off, edited or damaged; delete it to "
    with pytest.raises(UserError, match=f"^{path}: {message}repeat the run$"):
        read_record(path)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"colour": "red"}, "colour: Extra inputs"),
        (
            {"schema_version": 9},
            "schema_version: Input should be 2; use the version of the project",
        ),
    ],
)
def test_a_record_of_another_schema_is_refused(change, line, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(sealed(record().model_dump(mode="json") | change))
    with pytest.raises(UserError, match=f"^{path}: not a record: {line}"):
        read_record(path)


def test_two_records_of_one_run_are_refused_by_name(written):
    paths = [written("one", 1), written("other", 2), written("again", 1)]
    with pytest.raises(UserError, match=f"^records of the same run: {paths[0]}, {paths[2]}$"):
        collect(paths, ANY)


@pytest.mark.parametrize(
    ("newer", "selector", "reason"),
    [
        ({"training": 2}, "rs2", "training 1, not 2"),
        ({"metering": 4}, "rs2", "metering 1, not 4"),
        ({"gradmatch": 2}, "gradmatch", "selector 1, not 2"),
        ({"gradmatch": 2}, "rs2", None),  # another selector's version
    ],
)
def test_an_older_measurement_than_others_of_its_panel_is_set_aside(
    written, newer, selector, reason
):
    paths = [
        written("new", **{"provenance/measurement": newer}),
        written("old", 1, **{"job/run/selector": selector, "provenance/measurement": {}}),
        written("elsewhere", **{"job/run/dataset": "dna"}),
    ]
    aside = collect(paths, ANY)["runs.csv"].set_index("record")["set_aside"]
    assert aside[str(paths[0])] == aside[str(paths[2])] == ""
    assert aside[str(paths[1])] == (f"has another measurement version: {reason}" if reason else "")


def test_tables_and_refusals_are_the_same_however_many_processes_read(written, monkeypatch):
    monkeypatch.setattr("automata.analysis.collect.CHUNK", 2)
    paths = [written(str(seed), seed) for seed in range(5)]
    one, three = collect(paths, ANY), collect(paths, ANY, processes=3)
    for name in ("runs.csv", "trials.parquet", "provenance.csv"):
        pd.testing.assert_frame_equal(one[name], three[name])
    assert one["protocols.json"] == three["protocols.json"]
    paths[4].write_text("{}")
    for processes in (1, 3):
        with pytest.raises(UserError, match=f"^{paths[4]}: its content does not match its digest"):
            collect(paths, ANY, processes)


def test_a_row_for_each_evaluation_in_the_order_of_time():
    begun = record().phases[0].started_at

    def at(epoch, seconds):
        score = {"accuracy": epoch / 10, "loss": 1.0, "finished_at": begun + seconds}
        return {"epoch": epoch, **score}

    first = "tuning/trials/0/progress"
    changes = {f"{first}/evaluations": [at(2, 10), at(8, 30)]}
    changes |= {"tuning/trials/1/progress/evaluations": [at(2, 25)]}
    made = record(changes)
    del made.tuning.trials[2:]
    table = evaluations(made, HERE)
    assert table[["index", "epoch", "accuracy"]].to_numpy().tolist() == [
        [0, 2, 0.2],
        [1, 2, 0.2],
        [0, 8, 0.8],
    ]
    assert table["elapsed_seconds"].tolist() == pytest.approx([10, 25, 30])
    made.tuning = Tuning(segments=[], trials=made.tuning.trials, best=0)
    none = evaluations(made, HERE)
    assert (len(none), list(none.columns)) == (0, list(table.columns))


def test_a_score_is_by_the_tuned_metric():
    table = evaluations(record({"job/settings/protocol/metric": "log_loss"}), HERE)
    first = record().tuning.trials[table["index"][0]].progress.evaluations[0]
    assert table["score"][0] == math.exp(-first.loss)
