"""The best configurations, with exact values."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
import yaml

from automata.analysis.best import HEADER, text
from automata.analysis.runs import row
from automata.config.sections import Comparison
from automata.records import Finalist
from automata.training.progress import Progress
from support.synthetic import synthetic_runs


def chosen(*configurations: dict[str, Any]) -> pd.DataFrame:
    """Return the table of runs with these best configurations."""
    runs = synthetic_runs(datasets=("dna",), searches=("tpe",), repeats=1)[: len(configurations)]
    return runs.assign(best_configuration_json=[json.dumps(found) for found in configurations])


def answer(runs: pd.DataFrame, tradeoff: pd.DataFrame) -> dict[str, Any]:
    """Return what best.yaml says."""
    content: dict[str, Any] = yaml.safe_load(text(runs, tradeoff, TRIALS, {}))
    return content


def seeds(selector: str, *runs: tuple[float | None, float], fraction: float = 1.0) -> pd.DataFrame:
    """Return runs of one combination, a seed each, with these validation and test scores."""
    made = chosen(*({"rate": 0.1 + 0.2, "seed": seed} for seed in range(len(runs))))
    validation, test = zip(*runs, strict=True)
    return made.assign(
        selector=selector,
        fraction=fraction,
        seed=range(len(runs)),
        best_score=validation,
        metric="accuracy",
        test_accuracy=test,
        test_balanced_accuracy=None,
        test_macro_f1=None,
        test_loss=0.5,
        total_seconds=[10.0 * (seed + 1) for seed in range(len(runs))],
        energy_joules=None,
        record=[f"{selector}/{seed}" for seed in range(len(runs))],
        final_failure=None,
        final_epochs=0 if selector == "full" else 7,
        best_epochs=5,
    )


RUNS = pd.concat(
    [
        seeds("full", (0.80, 0.70), (0.84, 0.90)),
        seeds("rs2", (0.90, 0.60), (0.91, 0.50), (0.80, 0.70), fraction=0.1),
        seeds("gradmatch", (0.85, 0.75), fraction=0.1),
        seeds("full-again", (0.99, 0.99)),
        seeds("untuned", (None, 0.99)),
    ]
)
PLACE = RUNS[["dataset", "search", "scheduler"]].iloc[0].to_dict()
TRIALS = pd.DataFrame([], columns=["record", "index", "epoch", "score"])
TRADEOFF = pd.DataFrame(
    [
        {**PLACE, "selector": "full", "fraction": 1.0, "relative_test_error": 0.0},
        {**PLACE, "selector": "rs2", "fraction": 0.1, "relative_test_error": 20.0},
    ]
)


def test_best_is_that_of_the_seed_with_the_highest_validation_score_of_real_runs() -> None:
    found = answer(RUNS, TRADEOFF)
    told, rows = found["best"]["dna"], found["combinations"]["dna"]

    assert told == rows[0]
    assert [row["selector"] for row in rows] == ["rs2", "gradmatch", "full"]
    assert (told["seed"], told["configuration"]) == (1, {"rate": 0.1 + 0.2, "seed": 1})
    assert (told["validation_score"], told["test_accuracy"], told["wall_seconds"]) == (
        0.91,
        0.5,
        20,
    )


def test_epochs_are_those_of_the_model_that_is_kept_and_not_of_other_finalists(
    make_record, tmp_path
) -> None:
    record = make_record()
    lost = [Finalist(trial=1, progress=Progress(epochs=2))]
    record.final = record.final.model_copy(update={"trial": 0, "lost": lost})
    runs = pd.DataFrame([row(record, tmp_path / "record.json", Comparison())])

    assert runs["final_epochs"].tolist() == [8 + 2]
    assert answer(runs, TRADEOFF)["best"]["satimage"]["epochs"] == 8


def test_how_sure_it_is_seeds_say() -> None:
    rs2, gradmatch, full = (
        row["over_seeds"] for row in answer(RUNS, TRADEOFF)["combinations"]["dna"]
    )

    assert (rs2["seeds"], rs2["interval"]) == (3, "95 %")
    assert rs2["validation_score"] == pytest.approx((0.90 + 0.91 + 0.80) / 3)
    assert 0.5 <= rs2["test_accuracy_low"] < 0.6 < rs2["test_accuracy_high"] <= 0.7
    assert (full["interval"], full["test_accuracy_low"], full["test_accuracy_high"]) == (
        "range",
        0.7,
        0.9,
    )
    assert gradmatch["interval"] is None
    assert "test_accuracy_low" not in gradmatch
    assert rs2["energy_joules"] is None


def test_yaml_has_all_digits_in_order_and_nothing_but_plain_values() -> None:
    written = text(RUNS, TRADEOFF, TRIALS, {})

    assert "rate: 0.30000000000000004" in written
    assert written.split("\nbest:")[0].splitlines() == HEADER.splitlines()
    assert "&" not in written  # no aliases
    assert list(yaml.safe_load(written)) == ["best", "combinations"]


def test_data_set_without_a_score_has_no_best() -> None:
    found = answer(RUNS[RUNS["selector"] == "untuned"], TRADEOFF)

    assert found == {"best": {}, "combinations": {"dna": []}}


def test_worth_is_how_much_better_full_is_on_test_data() -> None:
    rs2, gradmatch, full = (
        row["over_seeds"]["relative_test_error"]
        for row in answer(RUNS, TRADEOFF)["combinations"]["dna"]
    )

    assert (rs2, full) == (20.0, 0.0)
    assert gradmatch is None  # it does not compare with FULL


def test_selector_that_reads_the_validation_labels_is_best_only_if_alone() -> None:
    glister = seeds("glister", (1.0, 0.9), fraction=0.3)
    both = answer(pd.concat([RUNS, glister]), TRADEOFF)

    assert both["best"]["dna"]["selector"] == "rs2"
    assert both["combinations"]["dna"][-1]["selector"] == "glister"
    assert answer(glister, TRADEOFF)["best"]["dna"]["selector"] == "glister"


def test_own_data_begin_with_how_good_the_best_choice_is() -> None:
    own = RUNS.assign(dataset="mine", test_balanced_accuracy=0.5, test_macro_f1=0.5, test_rows=100)
    scores = {"accuracy": 0.4, "balanced_accuracy": 0.4, "macro_f1": 0.4, "log_loss": 0.4}
    both = pd.concat([RUNS, own.assign(best_index=0)])
    found = yaml.safe_load(text(both, TRADEOFF, TRIALS, {"mine": {"majority": scores}}))

    answer, *others = found["best"]["mine"].items()
    assert answer[0] == "how_good"
    assert answer[1]["scores"]["the most frequent class"] == scores
    assert dict(others) == found["combinations"]["mine"][0]
    assert "how_good" not in found["best"]["dna"]
