"""best.yaml: which run is the best, with exact values, and how sure it is."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from automata.analysis.best import choices, text
from automata.analysis.runs import row
from automata.config.sections import Comparison

from .conftest import record, run

SHARED = {"dataset": "dna", "metric": "accuracy", "best_epochs": 5, "test_loss": 0.5}
RUNS = pd.DataFrame(
    [
        run(
            selector,
            fraction,
            seed,
            **SHARED,
            final_epochs=0 if selector == "full" else 7,
            energy_joules=None,
            best_score=validation,
            test_accuracy=test,
            best_configuration_json=json.dumps({"rate": 0.1 + 0.2, "seed": seed}),
            total_seconds=10.0 * (seed + 1),
        )
        for selector, fraction, seed, validation, test in (
            ("full", 1.0, 0, 0.80, 0.70),
            ("full", 1.0, 1, 0.84, 0.90),
            ("rs2", 0.1, 0, 0.90, 0.60),
            ("rs2", 0.1, 1, 0.91, 0.50),
            ("rs2", 0.1, 2, 0.80, 0.70),
            ("gradmatch", 0.1, 0, 0.85, 0.75),
            ("full-again", 1.0, 0, 0.99, 0.99),
            ("untuned", 0.0, 0, None, 0.99),
        )
    ]
)
TRADEOFF = pd.DataFrame(
    [
        run("full", 1.0, dataset="dna", relative_test_error=0.0),
        run("rs2", dataset="dna", relative_test_error=20.0),
    ]
)
TRIALS = pd.DataFrame([], columns=["record", "index", "epoch", "score"])


def content(runs):
    """Return the entries of best.yaml by data set."""
    return yaml.safe_load(text(runs, TRADEOFF, TRIALS, {}))["best"]


def test_the_best_seed_by_validation_score_of_searches_is_the_best():
    best = content(RUNS)["dna"]
    assert [choice.run["selector"] for choice in choices(RUNS)] == ["rs2", "gradmatch", "full"]
    assert (best["selector"], best["epochs"]) == ("rs2", 20)
    assert (best["seed"], best["configuration"]) == (1, {"rate": 0.1 + 0.2, "seed": 1})
    scores = [best[name] for name in ("validation_score", "test_accuracy", "wall_seconds")]
    assert scores == [0.91, 0.5, 20]


def test_seeds_say_how_sure_a_score_is_and_what_full_is_worth():
    of = dict([*RUNS.groupby("selector")])
    rs2, gradmatch, full = (
        content(of[name])["dna"]["over_seeds"] for name in ("rs2", "gradmatch", "full")
    )
    assert (rs2["seeds"], rs2["interval"], rs2["energy_joules"]) == (3, "95 %", None)
    assert rs2["validation_score"] == pytest.approx((0.90 + 0.91 + 0.80) / 3)
    ends = rs2["test_accuracy_low"], rs2["test_accuracy_high"]
    assert ends == pytest.approx((0.35159, 0.84841), abs=1e-5)  # 4.3027 standard errors
    assert (full["interval"], gradmatch["interval"]) == ("range", None)
    assert "test_accuracy_low" not in gradmatch
    errors = [seeds["relative_test_error"] for seeds in (rs2, gradmatch, full)]
    assert errors == [20.0, None, 0.0]  # GRADMATCH does not compare with FULL


def test_epochs_are_those_of_the_model_that_is_kept_and_not_of_other_finalists():
    made = record({"final/lost": [{"trial": 1, "progress": {"epochs": 2}}]})
    runs = pd.DataFrame([row(made, Path("record.json"), Comparison())])
    assert runs["final_epochs"].tolist() == [40 + 2]
    assert content(runs)["satimage"]["epochs"] == 40
    assert content(runs.assign(kept_epoch=3.0))["satimage"]["epochs"] == 3


def test_a_selector_that_reads_the_validation_labels_is_best_only_if_alone():
    glister = RUNS.iloc[[0]].assign(selector="glister", fraction=0.3, best_score=1.0)
    assert content(pd.concat([RUNS, glister]))["dna"]["selector"] == "rs2"
    assert content(glister)["dna"]["selector"] == "glister"
