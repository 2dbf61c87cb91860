"""What the page says first, from tables small enough to see the answer in them."""

import json

import pandas as pd
import pytest

from automata.analysis.wording import MISSING
from automata.page.findings import best, fastest

RUNS = pd.DataFrame(
    [
        ("full", 1.0, 0, 0.90, 0.80, 10.0),
        ("full", 1.0, 1, 0.85, 0.99, 10.0),  # better in the test, which no choice may see
        ("gradmatch", 0.1, 0, 0.80, 0.84, 2.0),
        ("gradmatch", 0.1, 1, 0.82, 0.86, 4.0),
        ("gradmatch", 0.3, 0, 0.81, 0.90, 10.0),
        ("rs2", 0.1, 0, 0.95, 0.85, 10.0),  # it diverged
        ("rs2", 0.1, 1, 0.91, 0.83, 10.0),
        ("full-again", 1.0, 0, 0.99, 0.99, 10.0),
        ("untuned", 0.0, 5, None, 0.50, 10.0),
        ("untuned", 0.0, 6, None, 0.70, 10.0),
        ("untuned", 0.0, 6, None, 0.70, 10.0),
        ("untuned", 0.0, 5, None, 0.99, 10.0),  # of the other search, in a space of its own
    ],
    columns=["selector", "fraction", "seed", "best_score", "test_accuracy", "total_seconds"],
).assign(
    dataset="dna",
    search=["tpe"] * 11 + ["random"],
    scheduler=["asha"] * 10 + ["hyperband"] * 2,
    metric="accuracy",
    final_failure=[None] * 5 + ["loss is nan"] + [None] * 6,
    best_configuration_json=[json.dumps({"lr": 0.1, "run": number}) for number in range(12)],
    record=[str(number) for number in range(12)],
    kwh=0.002,
    co2_energy_grams=0.8,
    energy_method="measured",
    energy_source="pyJoules RAPL",
)
TEN, THREE = (f"{it} s, 2 Wh, 800 mg CO2 (RAPL counters)" for it in (10, 3))
ONE_AND_DRAWS = RUNS.iloc[[0, 1, 8, 9]]
TRADEOFF = pd.DataFrame(
    [
        # selector, fraction, speedup, error
        ("random", 0.01, 9.0, 1.2),  # too much is lost
        ("rs2", 0.05, 5.0, 1.0),
        ("gradmatch", 0.05, 4.0, -0.5),
        ("rs2", 0.1, 2.0, 0.4),
        ("full", 1.0, 1.0, 0.0),
        ("full-again", 1.0, 7.0, 0.0),  # is no subset
    ],
    columns=["selector", "fraction", "speedup", "relative_test_error"],
).assign(dataset="dna", search="tpe", scheduler="asha", seeds=1, speedup_seeds=1)


def test_each_kind_has_its_run_with_the_highest_validation_score_and_its_means():
    columns = ["method", "validation", "test", "mean", "seeds", "cost", "error", "loses"]
    rows = best(RUNS, TRADEOFF)
    assert [[row.get(name) for name in columns] for row in rows] == [
        ["RS2 10 %", "91 %", "83 %", "84 % [83, 85]", "2 seeds", TEN, "0.4 pp", True],
        ["FULL", "90 %", "80 %", "89.5 % [80, 99]", "2 seeds", TEN, MISSING, False],
        ["AUTOMATA 10 %", "82 %", "86 %", "85 % [84, 86]", "2 seeds", THREE, MISSING, None],
        # A draw that panels share counts once.
        [
            "untuned",
            *[MISSING] * 2,
            "60 % [50, 70]",
            "median of 2 draws",
            TEN,
            MISSING,
            False,
        ],
    ]
    assert [row["best"] for row in rows] == [True, False, False, False]
    assert rows[0]["hyperparameters"] == ["lr=0.1", "run=6"]


def test_of_equal_highest_scores_the_fastest_is_marked():
    rows = best(RUNS.assign(best_score=1.0), TRADEOFF)
    assert [row["method"] for row in rows if row["best"]] == ["AUTOMATA 10 %"]


@pytest.mark.parametrize(
    ("metric", "scores", "texts"),
    [
        (
            "balanced_accuracy",
            {"test_balanced_accuracy": [0.6, 0.7, 0.3, 0.5]},
            ["60 % balanced accuracy (accuracy 80 %)", "65 % [60, 70]", "+25 pp", "40 % [30, 50]"],
        ),
        (  # lower is better
            "log_loss",
            {"test_loss": [0.3, 0.5, 0.9, 1.1]},
            ["log loss 0.300 (accuracy 80 %)", "0.4 [0.3, 0.5]", "+0.600", "1 [0.9, 1.1]"],
        ),
    ],
)
def test_the_tuned_metric_comes_before_the_accuracy(metric, scores, texts):
    row, untuned = best(ONE_AND_DRAWS.assign(metric=metric, **scores), TRADEOFF)
    assert [row["test"], row["mean"], row["gain"], untuned["mean"]] == texts


def test_the_fastest_method_loses_at_most_one_point():
    found = fastest(TRADEOFF, "speedup")
    shown = [found[name] for name in ("method", "ratio", "relative_test_error")]
    assert shown == ["RS2 5 %", "5 \N{MULTIPLICATION SIGN}", "1 pp"]
    assert fastest(TRADEOFF.assign(relative_test_error=2.0), "speedup") is None
    # 0.9 - 0.89 is more than 0.01 in binary.
    near = TRADEOFF.assign(relative_test_error=100 * (0.9 - 0.89))
    assert fastest(near, "speedup") is not None
