"""The best configurations, with exact values."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from automata.analysis.runs import row
from automata.analysis.search_studies import best
from automata.config import Comparison
from benchmarks.synthetic import synthetic_runs


def chosen(*configurations: dict[str, Any]) -> pd.DataFrame:
    """Return the table of runs with these best configurations."""
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), repeats=1)[: len(configurations)]
    return runs.assign(best_configuration_json=[json.dumps(found) for found in configurations])


def test_values_are_those_of_the_run_to_the_last_digit_and_of_its_type() -> None:
    values = {"rate": 0.1 + 0.2, "layers": 2, "nesterov": True, "optimizer": "sgd"}
    runs = chosen(values)

    (found,) = best(runs).to_dict("records")

    assert [found[f"configuration.{name}"] for name in values] == list(values.values())
    assert (found["best_epochs"], found["record"]) == (200, runs["record"].iloc[0])


def test_a_hyper_parameter_that_a_run_does_not_have_is_missing() -> None:
    table = best(chosen({"rate": 0.5}, {"gamma": 0.25}))

    assert table["configuration.gamma"].isna().tolist() == [True, False]
    assert table["configuration.rate"].tolist()[0] == 0.5


def test_a_record_gives_its_best_trial(make_record, tmp_path) -> None:
    runs = pd.DataFrame([row(make_record(), tmp_path / "record.json", Comparison())])

    assert best(runs)["configuration.learning_rate"].tolist() == [0.1 + 0.2]
