"""The table of trials: every evaluation, when it was made, at what cost."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from automata.analysis.collect import evaluations
from automata.records import Record, Tuning
from automata.training.progress import Evaluation

MakeRecord = Callable[..., Record]

HERE = Path("here.json")


def at(epoch: int, seconds: float) -> Evaluation:
    """An evaluation some seconds after the start of the search."""
    return Evaluation(
        epoch=epoch, accuracy=epoch / 10, loss=1.0, finished_at=1_700_000_000.25 + seconds
    )


@pytest.fixture
def record(make_record: MakeRecord) -> Record:
    """Two trials: rungs after 10 and 30 s, a point of the curve after 20; a rung after 25 s."""
    record = make_record()
    first, second = record.tuning.trials
    first.progress.evaluations = [at(2, 10), at(8, 30)]
    first.progress.curve = [at(4, 20)]
    second.progress.evaluations = [at(2, 25)]
    return record


def test_a_row_for_each_evaluation_in_the_order_of_time(record: Record) -> None:
    table = evaluations(record, HERE)

    assert table[["index", "epoch", "rung", "accuracy"]].to_numpy().tolist() == [
        [0, 2, True, 0.2],
        [0, 4, False, 0.4],
        [1, 2, True, 0.2],
        [0, 8, True, 0.8],
    ]
    assert table["elapsed_seconds"].tolist() == pytest.approx([10, 20, 25, 30])
    assert set(table["selector"]) == {"gradmatch"}
    assert set(table["record"]) == {"here.json"}


@pytest.mark.parametrize(("metric", "score"), [("accuracy", 0.2), ("log_loss", math.exp(-1))])
def test_score_is_by_the_tuned_metric(record: Record, metric: str, score: float) -> None:
    settings = record.job.settings
    protocol = settings.protocol.model_copy(update={"metric": metric})
    settings = settings.model_copy(update={"protocol": protocol})
    job = record.job.model_copy(update={"settings": settings})

    table = evaluations(record.model_copy(update={"job": job}), HERE)

    assert table["score"][0] == score


def test_energy_of_the_search_is_spread_over_its_time(record: Record) -> None:
    # 100 J in 40 s, without those of the final training
    assert evaluations(record, HERE)["elapsed_joules"].tolist() == [25, 50, 62.5, 75]


def test_unknown_energy_is_missing(make_record: MakeRecord) -> None:
    joules = evaluations(make_record(tuning_joules=None), HERE)["elapsed_joules"]

    assert joules.dtype == "float64"
    assert joules.isna().all()


def test_configurations_are_exact(record: Record) -> None:
    configuration = evaluations(record, HERE)["configuration"][0]

    assert json.loads(configuration)["learning_rate"] == 0.1 + 0.2


def test_no_search_has_no_evaluations_but_all_columns(record: Record) -> None:
    nothing = Tuning(segments=[], trials=record.tuning.trials, best=0)

    table = evaluations(record.model_copy(update={"tuning": nothing}), HERE)

    assert table.empty
    assert list(table.columns) == list(evaluations(record, HERE).columns)
