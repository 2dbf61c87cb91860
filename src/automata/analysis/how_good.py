"""How good the best model of an own data set is, how sure that is, and what tuning was worth."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from automata.analysis import wording
from automata.analysis.quantities import QUANTITIES, ROUNDING, TIMES
from automata.analysis.statistics import bounds, interval
from automata.errors import listed

SCORES = {
    "accuracy": "test_accuracy",
    "balanced_accuracy": "test_balanced_accuracy",
    "macro_f1": "test_macro_f1",
    "log_loss": "test_loss",
    "roc_auc": "test_roc_auc",
}
"""Metric -> column of the runs with its value on the test set; ROC AUC only if a run tunes it."""

ACRONYMS = {"macro_f1": "macro F1", "roc_auc": "ROC AUC"}
"""Names of metrics in texts, where they are not the words of the key."""

SIMPLE = {
    "linear": "a linear model",
    "linear_balanced": "a linear model with class weights",
    "majority": "the most frequent class",
}
"""Simple models of `training.baselines`, and their names."""

FEWEST_ROWS = 10
"""Test rows of the rarest class below which the interval of a mean recall would say nothing."""


def how_good(
    run: Mapping[Any, Any],
    runs: pd.DataFrame,
    draws: pd.DataFrame,
    trials: pd.DataFrame,
    baselines: Mapping[str, Any],
    ratios: Mapping[Any, Any],
) -> dict[str, Any]:
    """Return scores on the test rows, the tuned metric first, and sentences about them.

    `run` is the best of `runs`, which has one per seed, and `trials` has its evaluations. `draws`
    are configurations drawn at random; `baselines` has scores of simple models and facts of the
    data, `ratios` those of `runs` to FULL, or nothing.
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
    rows, note = _rows(run, baselines)
    reach = f"new rows may give another score: by how much is not known{f' ({note})' * bool(note)}"
    if rows:
        low, high = _wilson(scores["this model"][metric], rows)
        words = f"{wording.number(100 * low)} to {wording.percent(high)}"
        reach = f"{words} is likely on new rows (95 % Wilson interval, {note})"
    left_out = baselines.get("left_out")
    skipped = f"; a linear model was left out: {left_out}" if left_out else ""
    return {
        "scores": scores,
        "verdict": _verdict(metric, scores, rows) + skipped,
        "warnings": [*_data(baselines), *_probabilities(scores), *slower(ratios)],
        "uncertainty": [reach, _over_seeds(metric, runs)],
        "tuning": _worth(run, runs, draws, trials),
    }


def _verdict(metric: str, scores: Mapping[str, Mapping[str, float]], rows: int) -> str:
    """Return which other models the first one beats, and whether noise may explain it."""
    (_, own), *others = ((model, found[metric]) for model, found in scores.items())
    kinds = ("not better than", "better than", "not clearly better than")
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    for model, other in others:
        ahead = own < other if metric == "log_loss" else own > other
        kind = "better than" if ahead else "not better than"
        # The balanced accuracy of one class for all rows is the same on any test rows.
        sure = metric == "balanced_accuracy" and model == SIMPLE["majority"]
        highest = other if sure or not rows else _wilson(other, rows)[1]
        if rows and ahead and _wilson(own, rows)[0] <= highest:
            kind = "not clearly better than"
        found[kind].append(f"{model} ({named(metric, other)})")
    parts = [
        f"{kind} {(' and ' if kind == 'better than' else ' or ').join(models)}"
        for kind, models in found.items()
        if models
    ]
    if not parts:
        return "No simple model was fitted"
    noise = ": by the 95 % interval, this may be noise" if found["not clearly better than"] else ""
    if not rows:
        noise = "; whether by more than noise is not known"
    link = ", but " if found["better than"] else " and "
    return f"The model is {link.join(parts)}{noise}"


def _data(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the rows behind the scores."""
    if repeated := facts.get("repeated_test_rows"):
        share = wording.percent(repeated)
        yield f"{share} of the test rows are also training rows: the test score flatters"
    for split, counts in facts.get("rows_by_class", {}).items():
        if absent := [f"'{name}'" for name, count in counts.items() if not count]:
            rows = f"No {split} row has the class {listed(absent)}"
            yield f"{rows}: the {split} score says nothing about it"


def _probabilities(scores: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a warning if the model's probabilities are worse than the shares of the classes."""
    majority = SIMPLE["majority"]
    own, other = (scores.get(it, {}).get("log_loss", math.nan) for it in ("this model", majority))
    text = f"its log loss ({own:.3f}) is worse than that of {majority} ({other:.3f})"
    return [f"Do not trust its probabilities: {text}"] if own > other else []


def slower(ratios: Mapping[Any, Any]) -> list[str]:
    """Return a warning if all known ratios of cost to FULL are below 1."""
    names = ("speedup", "cpu_ratio")
    known = {name: ratios[name] for name in names if wording.known(ratios.get(name))}
    if not known or max(known.values()) >= 1:
        return []
    found = [f"{QUANTITIES[it].words} {wording.number(known[it], TIMES)}" for it in known]
    return [f"Slower than FULL: {', '.join(found)}"]


def _rows(run: Mapping[Any, Any], baselines: Mapping[str, Any]) -> tuple[int, str]:
    """Return the number of test rows that a score is as sure as, and why; 0 if unknown.

    The mean recall of k classes, the rarest with n rows, is at least as certain as an accuracy on
    k n rows: by Jensen's inequality, its variance is at most p (1 - p) / (k n).
    """
    test = baselines.get("rows_by_class", {}).get("test", {})
    counts = [count for count in test.values() if count]
    if run["metric"] == "accuracy":
        return int(run["test_rows"]), wording.count(int(run["test_rows"]), "test row")
    if run["metric"] == "balanced_accuracy" and counts:
        rarest = min(counts)
        rows = len(counts) * rarest if rarest >= FEWEST_ROWS else 0
        return rows, f"the rarest class has {wording.count(rarest, 'test row')}"
    return 0, ""


def _wilson(score: float, rows: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of an accuracy on a number of rows."""
    found = binomtest(round(score * rows), rows).proportion_ci(method="wilson")
    return found.low, found.high


def _over_seeds(metric: str, runs: pd.DataFrame) -> str:
    """Return how much other seeds may change the score."""
    seeds = len(runs)
    if seeds == 1:
        return "one seed: another one may give another result"
    mean = f"{mean_score(metric, runs)} ({wording.INTERVALS[interval(seeds)]})"
    return f"{mean} is the mean of {seeds} searches with other seeds, on the same test rows"


def _worth(
    run: Mapping[Any, Any], runs: pd.DataFrame, draws: pd.DataFrame, trials: pd.DataFrame
) -> str:
    """Compare the best configuration with random ones, else with the first one of its search."""
    metric = run["metric"]
    words = in_words(metric)
    mine = trials[trials["record"] == run["record"]]
    mine = mine.drop_duplicates(["index", "epoch"])  # a trial that has ended repeats its score
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
    if run["fraction"] < 1:
        share = wording.percent(run["fraction"])
        return (
            f"unknown: the search trained the first configuration on {share} of the data only; add "
            "untuned to the selectors to compare with random configurations"
        )
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
        f"{value(metric, end)} after {wording.count(int(after), 'epoch')}, that one reached "
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


def in_words(metric: str) -> str:
    """Return the name of a metric in a text."""
    return ACRONYMS.get(metric, metric.replace("_", " "))


def named(metric: str, number: float) -> str:
    """Return a value of a metric, with its name unless it is the accuracy."""
    if metric == "log_loss":
        return f"log loss {value(metric, number)}"
    return value(metric, number) + f" {in_words(metric)}" * (metric != "accuracy")


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
