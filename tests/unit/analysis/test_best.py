"""The best configurations, with exact values."""

from __future__ import annotations

import pandas as pd
import pytest

from automata.analysis.best import best
from automata.analysis.runs import compact, row
from automata.analysis.trials import evaluations
from automata.config import Comparison
from benchmarks.synthetic import synthetic_runs


@pytest.fixture
def runs():
    return synthetic_runs(
        datasets=("dna",),
        selectors=("full", "untuned"),
        searches=("tpe",),
        schedulers=("asha",),
        repeats=1,
    )


def trial(record, index, configuration):
    return {"record": record, "index": index, "configuration": configuration, "epoch": 1}


def test_values_are_those_of_the_best_trial_to_the_last_digit(runs):
    (full,) = runs.loc[runs["selector"] == "full", "record"]
    trials = pd.DataFrame(
        [
            trial(full, 2, '{"learning_rate": 1.0}'),
            trial(full, 3, '{"learning_rate": 0.30000000000000004, "optimizer": "sgd"}'),
        ]
    )

    (tuned, _) = best(runs, trials).to_dict("records")

    assert tuned["configuration.learning_rate"] == 0.30000000000000004
    assert tuned["configuration.optimizer"] == "sgd"
    assert tuned["exact"] is True
    assert (tuned["best_epochs"], tuned["record"]) == (200, full)


def test_values_of_a_run_without_trials_are_read_from_its_row(runs):
    trials = pd.DataFrame([trial("another.json", 3, "{}")])

    table = best(runs, trials)

    assert table["exact"].tolist() == [False, False]
    untuned = table[table["selector"] == "untuned"].to_dict("records")[0]
    assert untuned["configuration.learning_rate"] == 0.004197
    assert untuned["configuration.batch_size"] == 16
    assert untuned["configuration.optimizer"] == "adam"


def test_a_hyper_parameter_that_a_run_does_not_have_is_missing(runs):
    (full,) = runs.loc[runs["selector"] == "full", "record"]

    table = best(runs, pd.DataFrame([trial(full, 3, '{"gamma": 0.5}')]))

    assert table["configuration.gamma"].isna().tolist() == [False, True]


def test_text_of_a_row_gives_the_values_back(runs):
    values = {"nesterov": True, "gamma": 0.25, "layers": 2, "schedule": "cosine"}
    trials = pd.DataFrame([trial("another.json", 0, "{}")])

    table = best(runs.assign(best_configuration=compact(values)), trials)

    (found, _) = table[[f"configuration.{name}" for name in values]].to_dict("records")
    assert list(found.values()) == list(values.values())


def test_a_record_gives_its_best_trial(make_record, tmp_path):
    record = make_record()
    path = tmp_path / "record.json"

    table = best(
        pd.DataFrame([row(record, path, Comparison())]), pd.DataFrame(evaluations(record, path))
    ).to_dict("records")

    assert table[0]["configuration.learning_rate"] == 0.1 + 0.2
