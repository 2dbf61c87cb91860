"""What best.yaml and the page say about the best model of own data."""

import math

import pandas as pd
import pytest

from automata.analysis.how_good import how_good

RUN = {
    "record": "a",
    "metric": "accuracy",
    "test_rows": 69,
    "test_accuracy": 68 / 69,
    "test_balanced_accuracy": 0.9,
    "test_macro_f1": 0.8,
    "test_loss": 0.05,
    "best_index": 1,
    "fraction": 1.0,
}
MAJORITY = {"accuracy": 0.6, "balanced_accuracy": 0.5, "log_loss": 0.7}
ROWS_BY_CLASS = {"train": {"a": 99, "b": 7}, "test": {"a": 900, "b": 60}}
SIMPLE = {
    "rows_by_class": ROWS_BY_CLASS,
    "majority": MAJORITY,
    "linear": {"accuracy": 0.99, "balanced_accuracy": 0.7, "log_loss": 0.04},
    "linear_balanced": {"accuracy": 0.9, "balanced_accuracy": 0.95, "log_loss": 0.3},
    "boosting": {"accuracy": 0.8, "balanced_accuracy": 0.8, "log_loss": 0.5},
    "boosting_balanced": {"accuracy": 0.8, "balanced_accuracy": 0.85, "log_loss": 0.5},
}
CLASSES = {"rows_by_class": ROWS_BY_CLASS, "majority": MAJORITY}
# Both trials are out of patience at their last epochs, and report them at a later rung again.
ROWS = ((0, 1, 0.2), (1, 1, 0.5), *[(0, 3, 0.6)] * 2, (1, 3, 0.7), *[(1, 9, 0.9)] * 2)
TRIALS = pd.DataFrame([("a", *row) for row in ROWS], columns=["record", "index", "epoch", "score"])
NO_DRAWS = pd.DataFrame(columns=list(RUN))


def answer(draws=NO_DRAWS, trials=TRIALS, baselines=SIMPLE, ratios=None, seeds=1, **changes):
    run = {**RUN, **changes}
    return how_good(run, pd.DataFrame([run] * seeds), draws, trials, baselines, ratios or {})


def test_the_tuned_metric_comes_first_beside_simple_models_on_the_same_rows():
    scores = answer(metric="balanced_accuracy", test_macro_f1=float("nan"))["scores"]
    assert [next(iter(of)) for of in scores.values()] == ["balanced_accuracy"] * 4
    assert {model: of["balanced_accuracy"] for model, of in scores.items()} == {
        "the tuned model": 0.9,
        "boosting with class weights": 0.85,  # with classes of equal weight
        "a linear model with class weights": 0.95,
        "the most frequent class": 0.5,
    }
    assert "macro_f1" not in scores["the tuned model"]  # early records lack it


def test_a_model_without_a_finite_tuned_loss_is_not_recommended():
    found = answer(metric="log_loss", test_loss=math.inf, seeds=2)
    assert found["uncertainty"][1].startswith("not all 2 searches with different seeds have a fin")
    assert found["warnings"][0].startswith("Do not trust its probabilities: its log loss (inf)")
    assert found["verdict"].startswith("Use a linear model (log loss 0.040): it is better than the")
    assert found["scores"]["the tuned model"]["log_loss"] == math.inf


def beside(rows=1000, **accuracies):
    """Return changes by which models have these accuracies on so many test rows."""
    own = accuracies.pop("own")
    models = {name: {"accuracy": value} for name, value in accuracies.items()}
    return {"test_accuracy": own, "test_rows": rows, "baselines": models}


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        (
            beside(own=0.9, boosting=0.8, linear=0.7, majority=0.6),
            "Use the tuned model (90 %): it is better than boosting (80 %), a linear model (70 %) "
            "and the most frequent class (60 %) by more than noise",
        ),
        (
            beside(own=0.8, boosting=0.9, linear=0.7, majority=0.6),
            "Use boosting (90 %): it is better than the tuned model (80 %), a linear model (70 %) "
            "and the most frequent class (60 %) by more than noise",
        ),
        (
            beside(own=0.91, boosting=0.9, linear=0.89, majority=0.6),
            "Use a linear model (89 %), the simplest: the tuned model (91 %) and boosting (90 %) "
            "are about equally good; the most frequent class (60 %) is worse by more than noise",
        ),
        (  # of 10 rows
            beside(10, own=0.9, boosting=0.7, majority=0.6),
            "Use none of the models: the tuned model (90 %) and boosting (70 %) are not better "
            "than the most frequent class (60 %) by more than noise",
        ),
        (
            {"metric": "log_loss", "baselines": {**CLASSES, "boosting": {"log_loss": 0.04}}},
            "Use boosting (log loss 0.040): it is better than the tuned model (log loss 0.050) and "
            "the most frequent class (log loss 0.700); whether by more than noise is not known",
        ),
        (  # 0.5 by construction; of 2 x 60 rows, Wilson's interval of 60 % begins at 51.0
            {"metric": "balanced_accuracy", "test_balanced_accuracy": 0.6, "baselines": CLASSES},
            "Use the tuned model (60 % balanced accuracy): it is better than the most frequent "
            "class (50 % balanced accuracy) by more than noise",
        ),
        ({"baselines": {"notes": ["x"]}}, "No simple model was fitted; x"),
    ],
)
def test_the_verdict_says_which_model_to_take(changes, verdict):
    assert answer(**changes)["verdict"] == verdict


def test_more_than_noise_is_a_difference_whose_newcombe_interval_lies_above_zero():
    """By hand, a script that gives 0.0524 for 56 of 70 and 48 of 80, as Newcombe (1998) does.

    It gives -0.013 for 52 and 42 of 70, and 0.002 for 53 and 42.
    """
    assert answer(**beside(70, own=52 / 70, linear=0.6))["verdict"].startswith("Use a linear")
    assert answer(**beside(70, own=53 / 70, linear=0.6))["verdict"].startswith(
        "Use the tuned model"
    )


def test_of_several_seeds_the_mean_counts():
    seeds = pd.DataFrame([{**RUN, "test_accuracy": it} for it in (0.9, 0.6, 0.6)])
    found = how_good(seeds.iloc[0], seeds, NO_DRAWS, TRIALS, SIMPLE, {})
    assert found["scores"]["the tuned model"]["accuracy"] == pytest.approx(0.7)
    assert found["uncertainty"][0].startswith("57.9 to 79.2 % is likely")  # Wilson: 48 of 69


def test_probabilities_worse_than_the_shares_of_the_classes_are_warned_of():
    assert answer(test_loss=0.7)["warnings"] == []
    warning = "Do not trust its probabilities: its log loss (0.710) is worse"
    assert answer(test_loss=0.71)["warnings"][0].startswith(warning)
    assert answer(test_loss=0.71, baselines={})["warnings"] == []


FLATTERS = "of the test rows are also training rows: the test score flatters"
SLOWER, TIMES = "Slower than FULL: speedup", "\N{MULTIPLICATION SIGN}"


@pytest.mark.parametrize(
    ("facts", "warning"),
    [
        ({"repeated_test_rows": 0.12}, f"12 % {FLATTERS}"),
        ({"repeated_test_rows": 0.01}, f"1 % {FLATTERS}"),
        (
            {"rows_by_class": {"validation": {"a": 5, "b": 0, "c": 0}, "test": {"a": 5, "b": 1}}},
            "No validation row has the class 'b', 'c': the validation score says nothing about it",
        ),
        (
            {"rows_by_class": {"test": {"a": 0, "b": 1}}},
            "No test row has the class 'a': the test score says nothing about it",
        ),
        (
            {"speedup": 0.8, "cpu_ratio": 0.75},
            f"Slower than FULL: speedup 0.8 {TIMES}, work saved 0.75 {TIMES}",
        ),
        ({"speedup": 0.8, "cpu_ratio": None}, f"{SLOWER} 0.8 {TIMES}"),  # on a GPU
        ({"speedup": math.nan, "cpu_ratio": 0.9}, f"Slower than FULL: work saved 0.9 {TIMES}"),
        ({"speedup": 0.8, "cpu_ratio": 1.2}, None),  # other work may have slowed it down
        ({"speedup": 1.0, "cpu_ratio": 1.0}, None),  # FULL itself
    ],
)
def test_a_score_that_flatters_and_a_slow_method_are_warned_of(facts, warning):
    assert answer(baselines=facts, ratios=facts)["warnings"] == [warning] * bool(warning)


def test_uncertainty_covers_the_choice_of_test_rows_and_of_seeds():
    # Wilson's interval by the usual calculator: 68 of 69, 108 of 120
    rows = "92.2 to 99.7 % is likely on new rows (95 % Wilson interval, 69 test rows)"
    assert answer()["uncertainty"] == [rows, "one seed: another one may give another result"]
    rows = (
        "83.3 to 94.2 % is likely on new rows (95 % Wilson interval, the rarest class has 60 test"
    )
    assert answer(metric="balanced_accuracy")["uncertainty"][0] == f"{rows} rows)"
    rows = "another score: by how much is not known (the rarest class has 1 test row)"
    rare = {**SIMPLE, "rows_by_class": {"test": {"a": 900, "b": 1}}}
    assert answer(metric="balanced_accuracy", baselines=rare)["uncertainty"][0].endswith(rows)
    words = "all 3 searches with different seeds have 90 % on the same test rows"
    assert answer(seeds=3, test_accuracy=0.9)["uncertainty"][1] == words
    # 4.303 standard errors of 2 points; no score is above 100 %
    words = "96 % [87.4, 100] (95 % t interval) is the mean of 3 searches with different seeds"
    runs = pd.DataFrame([{**RUN, "test_accuracy": score} for score in (0.92, 0.98, 0.98)])
    assert how_good(RUN, runs, NO_DRAWS, TRIALS, SIMPLE, {})["uncertainty"][1].startswith(words)


DRAWS = pd.DataFrame([{**RUN, "test_accuracy": score} for score in (0.5, 0.6, 0.9)])
FIRST = "of validation accuracy over the first configuration tried"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"draws": DRAWS, "test_accuracy": 0.84},
            "+24 pp of test accuracy (mean over seeds) over the median of 3 random configurations",
        ),
        ({}, f"+10 pp {FIRST}: 70 % after 3 epochs, that one reached 60 %; part of"),
        (
            {"trials": TRIALS.query("index == 1 and epoch == 9 or index == 0 and epoch == 1")},
            "unknown: the search stopped the first configuration after 1 epoch; add untuned",
        ),
        (
            {"trials": TRIALS.query("index == 1 and epoch == 1 or index == 0 and epoch == 3")},
            "unknown: first and best configuration were scored after different numbers of epochs",
        ),
        ({"metric": "log_loss"}, "+0.154 of validation log loss"),  # scores are exp(-loss)
        ({"best_index": 0}, "nothing: the first configuration that the search tried is the best"),
        ({"fraction": 0.01}, "unknown: the search trained the first configuration on 1 % of the"),
    ],
)
def test_tuning_is_worth_what_it_gained(changes, words):
    assert answer(**changes)["tuning"].startswith(words)


def test_model_that_ignores_its_configuration_is_noticed():
    equal = TRIALS.assign(score=TRIALS["epoch"] / 10)
    words = "nothing: no hyper-parameter made a difference."
    assert answer(trials=equal, draws=DRAWS)["tuning"].startswith(words)
    assert answer(trials=equal, fraction=0.01)["tuning"].startswith("unknown")
    alone = equal.query("index == 1")  # one trial shows no difference
    assert answer(trials=alone)["tuning"].startswith("unknown: the first configuration")
