"""From record files to tables: nothing is lost, doubled or averaged in by mistake."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.collect import collect, evaluations, record_files
from automata.config.sections import Comparison
from automata.errors import UserError
from automata.records import Tuning, write_record
from automata.training.progress import Evaluation

HERE = Path("here.json")
ANY = Comparison()


@pytest.fixture
def written(tmp_path, make_record):
    """A function that writes a record under a name."""

    def write(name, **changes):
        path = tmp_path / f"{name}.json"
        write_record(make_record(**changes), path)
        return path

    return write


def test_two_records_of_one_run_are_refused_by_name(written):
    paths = [written("one", seed=1), written("other", seed=2), written("again", seed=1)]
    with pytest.raises(UserError, match=f"^records of the same run: {paths[0]}, {paths[2]}$"):
        collect(paths, ANY)


def test_folders_stand_for_the_records_in_them_and_one_without_is_refused(tmp_path):
    paths = [tmp_path / "runs" / name / "record.json" for name in ("b", "a/c")]
    other, unread = tmp_path / "mine.json", tmp_path / "runs/none/other.json"
    for path in [*paths, other, unread]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert record_files([tmp_path / "runs", other]) == [paths[1], paths[0], other]
    for path in (unread.parent, tmp_path / "absent"):
        with pytest.raises(UserError, match=f"^{path}: no file, and no folder with"):
            record_files([path])


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
        written("new", measurement=newer),
        written("old", selector=selector, seed=1),
        written("elsewhere", dataset="dna"),
    ]
    aside = collect(paths, ANY)["runs.csv"].set_index("record")["set_aside"]
    assert aside[str(paths[0])] == aside[str(paths[2])] == ""
    assert aside[str(paths[1])] == (f"has another measurement version: {reason}" if reason else "")


def test_tables_and_refusals_are_the_same_however_many_processes_read(written, monkeypatch):
    monkeypatch.setattr("automata.analysis.collect.CHUNK", 2)
    paths = [written(str(seed), seed=seed) for seed in range(5)]
    one, three = collect(paths, ANY), collect(paths, ANY, processes=3)
    for name in ("runs.csv", "trials.parquet", "provenance.csv"):
        pd.testing.assert_frame_equal(one[name], three[name])
    assert one["protocols.json"] == three["protocols.json"]
    paths[4].write_text("{}")
    for processes in (1, 3):
        with pytest.raises(UserError, match=f"^{paths[4]}: its content does not match its digest"):
            collect(paths, ANY, processes)


def at(epoch, seconds):
    """An evaluation some seconds after the start of the search."""
    finished = 1_700_000_000.25 + seconds
    return Evaluation(epoch=epoch, accuracy=epoch / 10, loss=1.0, finished_at=finished)


def test_a_row_for_each_evaluation_in_the_order_of_time(make_record):
    record = make_record()
    first, second = record.tuning.trials
    first.progress.evaluations, second.progress.evaluations = [at(2, 10), at(8, 30)], [at(2, 25)]
    first.progress.curve = [at(4, 20)]
    table = evaluations(record, HERE)
    assert table[["index", "epoch", "rung", "accuracy"]].to_numpy().tolist() == [
        [0, 2, True, 0.2],
        [0, 4, False, 0.4],
        [1, 2, True, 0.2],
        [0, 8, True, 0.8],
    ]
    assert table["elapsed_seconds"].tolist() == pytest.approx([10, 20, 25, 30])
    # 100 J in 40 s, without those of the final training
    assert table["elapsed_joules"].tolist() == [25, 50, 62.5, 75]
    assert json.loads(table["configuration"][0])["learning_rate"] == 0.1 + 0.2
    nothing = Tuning(segments=[], trials=record.tuning.trials, best=0)
    none = evaluations(record.model_copy(update={"tuning": nothing}), HERE)
    assert (len(none), list(none.columns)) == (0, list(table.columns))


def test_a_score_is_by_the_tuned_metric(make_record, protocol):
    own = protocol.model_copy(update={"metric": "log_loss"})
    table = evaluations(make_record(settings={"protocol": own}), HERE)
    assert table["score"][0] == math.exp(-0.7)
