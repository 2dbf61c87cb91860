"""How good the best model of an own data set is, how sure that is, and what tuning was worth."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from automata.analysis import wording
from automata.analysis.quantities import ROUNDING
from automata.analysis.statistics import bounds, interval

SCORES = {
    "accuracy": "test_accuracy",
    "balanced_accuracy": "test_balanced_accuracy",
    "macro_f1": "test_macro_f1",
    "log_loss": "test_loss",
    "roc_auc": "test_roc_auc",
}
"""Metric -> column of the runs with its value on the test set; ROC AUC only if a run tunes it."""

SIMPLE = {
    "linear": "a linear model",
    "linear_balanced": "a linear model with class weights",
    "majority": "the most frequent class",
}
"""Simple models of `training.baselines`, and their names."""


def how_good(
    run: Mapping[Any, Any],
    runs: pd.DataFrame,
    draws: pd.DataFrame,
    trials: pd.DataFrame,
    baselines: Mapping[str, Any],
) -> dict[str, Any]:
    """Return scores on the test rows, the tuned metric first, and sentences about them.

    Args:
        run: the best run.
        runs: those of its combination, one per seed.
        draws: configurations drawn at random.
        trials: the evaluations of its trials.
        baselines: scores of simple models, see `training.baselines`; empty if there are none.
    """
    metric = run["metric"]
    # A model that is tuned for equal classes is compared with one that weighs them equally.
    linear = "linear_balanced" if metric == "balanced_accuracy" else "linear"
    models: dict[str, Mapping[str, Any]] = {
        "this model": {name: run.get(column) for name, column in SCORES.items()},
        **{SIMPLE[key]: baselines[key] for key in (linear, "majority") if key in baselines},
    }
    known = [name for name in SCORES if wording.known(models["this model"][name])]
    order = dict.fromkeys([metric, *known])
    scores = {
        model: {name: float(found[name]) for name in order if wording.known(found.get(name))}
        for model, found in models.items()
    }
    left_out = baselines.get("left_out")
    skipped = f"; a linear model was left out: {left_out}" if left_out else ""
    return {
        "scores": scores,
        "verdict": _verdict(metric, scores) + skipped,
        "uncertainty": [_over_rows(run, baselines), _over_seeds(metric, runs)],
        "tuning": _worth(run, runs, draws, trials),
    }


def _verdict(metric: str, scores: Mapping[str, Mapping[str, float]]) -> str:
    """Return which of the other models the first one beats."""
    (_, own), *others = ((model, found[metric]) for model, found in scores.items())
    won, lost = (
        [
            f"{model} ({named(metric, other)})"
            for model, other in others
            if (own < other if metric == "log_loss" else own > other) == better
        ]
        for better in (True, False)
    )
    parts = [f"does not beat {' or '.join(lost)}"] if lost else []
    parts += [f"beats {' and '.join(won)}"] if won else []
    return f"The model {', but '.join(parts)}" if parts else "No simple model was fitted"


def _over_rows(run: Mapping[Any, Any], baselines: Mapping[str, Any]) -> str:
    """Return how much other test rows may change the score of a run.

    The mean recall of k classes, the rarest with n rows, is at least as certain as an accuracy on
    k n rows: by Jensen's inequality, its variance is at most p (1 - p) / (k n).
    """
    metric = run["metric"]
    counts = [count for count in baselines.get("test_rows_by_class", []) if count]
    if metric == "accuracy":
        rows = int(run["test_rows"])
        note = f"{rows:,} rows"
    elif metric == "balanced_accuracy" and counts:
        rows = len(counts) * min(counts)
        note = f"the rarest class has {wording.count(min(counts), 'row')}"
    else:
        return "other test rows may change it, by how much is not known"
    right = binomtest(round(run[SCORES[metric]] * rows), rows)
    low, high = right.proportion_ci(method="wilson")
    reach = f"{wording.number(100 * low)} to {wording.percent(high)}"
    return f"{reach} with other test rows (95 % Wilson interval, {note})"


def _over_seeds(metric: str, runs: pd.DataFrame) -> str:
    """Return how much other seeds may change the score."""
    seeds = len(runs)
    if seeds == 1:
        return "one seed: another one may give another result"
    mean = f"{mean_score(metric, runs)} ({wording.INTERVALS[interval(seeds)]})"
    return f"{mean} on average over {seeds} seeds, each with its own best hyper-parameters"


def _worth(
    run: Mapping[Any, Any], runs: pd.DataFrame, draws: pd.DataFrame, trials: pd.DataFrame
) -> str:
    """Compare the best configuration with random ones, else with the first one of its search."""
    metric = run["metric"]
    words = metric.replace("_", " ")
    mine = trials[trials["record"] == run["record"]]
    by_epoch = mine.groupby("epoch")["score"]
    if by_epoch.size().max() > 1 and (by_epoch.max() - by_epoch.min()).max() <= ROUNDING:
        return (
            f"nothing: no hyper-parameter made a difference. The validation {words} is the same "
            "for all configurations that were trained for the same number of epochs"
        )
    if len(draws):
        median = draws[SCORES[metric]].median()
        return (
            f"{gain(metric, runs, draws)} of test {words} (mean over seeds) over the median of "
            f"{len(draws)} random configurations ({named(metric, median)})"
        )
    if run["best_index"] == 0:
        return "nothing: the first configuration that the search tried is the best one"
    first, best = (mine[mine["index"] == n].set_index("epoch") for n in (0, run["best_index"]))
    if first.empty:
        return "unknown: the first configuration of the search has no score"
    # At the same epoch if possible: the search may have stopped the first configuration early.
    shared = first.index.intersection(best.index)
    before, after = (shared.max() if len(shared) else it.index.max() for it in (first, best))
    start = unscored(metric, first.loc[before, "score"])
    end = unscored(metric, best.loc[after, "score"])
    return (
        f"{_gain(metric, end, start)} of validation {words} over the first configuration tried: "
        f"{value(metric, end)} after {wording.count(int(after), 'epoch')} against "
        f"{value(metric, start)} after {before}; part of it is luck, because the search chose by "
        "this score"
    )


def gain(metric: str, runs: pd.DataFrame, draws: pd.DataFrame) -> str:
    """Return how much better the mean over seeds is than the median draw, in the tuned metric."""
    column = SCORES[metric]
    return _gain(metric, runs[column].mean(), draws[column].median())


def _gain(metric: str, mine: float, other: float) -> str:
    """Return how much better a value of a metric is than another one."""
    better = other - mine if metric == "log_loss" else 100 * (mine - other)
    return wording.signed(better).replace("-", wording.MINUS) + " pp" * (metric != "log_loss")


def unscored(metric: str, score: float) -> float:
    """Return the value of a metric from a validation score, which is exp(-loss) for log loss."""
    return -math.log(max(score, sys.float_info.min)) if metric == "log_loss" else score


def named(metric: str, number: float) -> str:
    """Return a value of a metric, with its name unless it is the accuracy."""
    if metric == "log_loss":
        return f"log loss {value(metric, number)}"
    return value(metric, number) + f" {metric.replace('_', ' ')}" * (metric != "accuracy")


def value(metric: str, number: float) -> str:
    """Return a value of a metric without its name."""
    return f"{number:.3f}" if metric == "log_loss" else wording.percent(number)


def mean_score(metric: str, runs: pd.DataFrame) -> str:
    """Return the mean of a metric on the test set over several runs, with its bounds."""
    values = runs[SCORES[metric]].to_numpy()
    return between(metric, values.mean(), *bounds(values))


def between(metric: str, number: float, low: float, high: float) -> str:
    """Return a value of a metric with its bounds."""
    factor, unit = (1, "") if metric == "log_loss" else (100, " %")
    reach = wording.spread(factor * low, factor * high)
    return f"{wording.number(factor * number)}{unit} {reach}"
