"""What the page says first, from tables small enough to see the answer in them."""

import json

import pandas as pd
import pytest

from automata.analysis.best import winner
from automata.analysis.wording import MISSING, readable
from automata.page.findings import best, fastest


def run(selector, fraction, seed, validation, test, seconds=10.0, **other):
    found = {
        "dataset": "dna",
        "search": "tpe",
        "scheduler": "asha",
        "selector": selector,
        "fraction": fraction,
        "seed": seed,
        "best_validation_accuracy": validation,
        "best_score": validation,
        "metric": "accuracy",
        "test_accuracy": test,
        "total_seconds": seconds,
        "final_failure": None,
        "test_rows": 100,
        "best_index": 1,
        "epochs": 9,
        "best_configuration": f"lr={validation} seed={seed}",
        "best_configuration_json": json.dumps({"lr": validation, "seed": seed}),
        "record": f"{selector}-{fraction}/{seed}",
    }
    return found | other


RUNS = pd.DataFrame(
    [
        run("full", 1.0, 0, 0.90, 0.80),
        run("full", 1.0, 1, 0.85, 0.99),  # better in the test, which no choice may see
        run("gradmatch", 0.1, 0, 0.80, 0.84, seconds=2.0),
        run("gradmatch", 0.1, 1, 0.82, 0.86, seconds=4.0),
        run("gradmatch", 0.3, 0, 0.81, 0.90),
        run("rs2", 0.1, 0, 0.95, 0.85, final_failure="loss is nan"),
        run("rs2", 0.1, 1, 0.91, 0.83),
        run("full-again", 1.0, 0, 0.99, 0.99),
        run("untuned", 0.0, 5, None, 0.50),
        run("untuned", 0.0, 6, None, 0.70),
        run("untuned", 0.0, 6, None, 0.70, scheduler="hyperband"),
    ]
)


@pytest.fixture(scope="module")
def rows():
    return {row["method"]: row for row in best(RUNS, TRADEOFF)}


def test_each_kind_has_its_run_with_the_highest_validation_score(rows):
    shown = {name: (row["validation"], row["test"]) for name, row in rows.items()}
    assert shown == {
        "FULL": ("90 %", "80 %"),
        "AUTOMATA 10 %": ("82 %", "86 %"),
        "RS2 10 %": ("91 %", "83 %"),
        "untuned": (MISSING, MISSING),
    }


def test_only_the_highest_of_all_is_marked_and_first(rows):
    assert [name for name, row in rows.items() if row["best"]] == ["RS2 10 %"] == list(rows)[:1]


def test_of_equal_highest_scores_the_fastest_is_marked():
    rows = best(RUNS.assign(best_score=1.0), TRADEOFF)
    assert [row["method"] for row in rows if row["best"]] == ["AUTOMATA 10 %"]


def test_mean_is_that_of_all_seeds_of_the_method(rows):
    row = rows["AUTOMATA 10 %"]
    assert (row["mean"], row["seeds"], row["seconds"]) == ("85 % [84, 86]", "2 seeds", "3 s")


def test_draw_that_panels_share_counts_once(rows):
    assert (rows["untuned"]["mean"], rows["untuned"]["seeds"]) == (
        "60 % [50, 70]",
        "median of 2 draws",
    )


def test_mean_of_one_seed_is_not_shown():
    (row,) = best(RUNS.iloc[:1], TRADEOFF)
    assert (row["mean"], row["seeds"]) == (MISSING, "1 seed")


def test_tuned_metric_comes_before_the_accuracy():
    scores = {"metric": "balanced_accuracy", "test_balanced_accuracy": [0.6, 0.7, 0.3, 0.5]}
    row, untuned = best(RUNS.iloc[[0, 1, 8, 9]].assign(**scores), TRADEOFF)
    assert row["test"] == "60 % balanced accuracy (accuracy 80 %)"
    assert row["mean"] == "65 % [60, 70]"
    assert (row["gain"], untuned["mean"]) == ("+25 pp", "40 % [30, 50]")


def test_lower_log_loss_is_a_gain():
    scores = {"metric": "log_loss", "test_loss": [0.3, 0.5, 0.9, 1.1]}
    row, untuned = best(RUNS.iloc[[0, 1, 8, 9]].assign(**scores), TRADEOFF)
    assert (row["mean"], row["gain"], untuned["mean"]) == ("0.4 [0.3, 0.5]", "+0.6", "1 [0.9, 1.1]")


def test_best_says_how_it_compares_with_full(rows):
    """FULL itself has no error; of RS2 10 % the tradeoff table says that FULL is better."""
    assert (rows["FULL"]["error"], rows["FULL"]["loses"]) == (MISSING, False)
    assert (rows["RS2 10 %"]["error"], rows["RS2 10 %"]["loses"]) == ("0.4 pp", True)


def test_of_equal_scores_the_faster_run_wins():
    runs = pd.DataFrame([run("rs2", 0.1, 0, 0.9, 0.5), run("rs2", 0.1, 1, 0.9, 0.5, seconds=9.0)])
    assert winner(runs)["seed"] == 1


def test_values_with_spaces_stay_whole():
    assert readable({"lr": 0.1, "kind": "a b"}) == ["kind=a b", "lr=0.1"]


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
).assign(dataset="dna", search="tpe", scheduler="asha", seeds=1)


def test_fastest_loses_at_most_one_point():
    found = fastest(TRADEOFF)
    assert (found["method"], found["speedup"], found["relative_test_error"]) == (
        "RS2 5 %",
        "5 \N{MULTIPLICATION SIGN}",
        "1 pp",
    )


def test_nothing_near_full_is_fast():
    assert fastest(TRADEOFF.assign(relative_test_error=2.0)) is None


def test_a_loss_of_exactly_one_point_is_near_full():
    exactly = 100 * (0.9 - 0.89)
    assert exactly > 1  # in binary
    assert fastest(TRADEOFF.assign(relative_test_error=exactly)) is not None
