"""How good the best model of own data is, how certain that is, and what tuning gained."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from automata.analysis import wording
from automata.analysis.quantities import QUANTITIES, ROUNDING, TIMES
from automata.analysis.statistics import bounds, interval
from automata.errors import listed
from automata.metrics import METRICS

SCORES = {name: f"test_{metric.field or name}" for name, metric in METRICS.items()}
"""Metric -> column of the runs with the value on the test set."""

OWN = "the tuned model"
SIMPLE = {
    "boosting": "boosting",
    "boosting_balanced": "boosting with class weights",
    "linear": "a linear model",
    "linear_balanced": "a linear model with class weights",
    "majority": "the most frequent class",
}
"""Models of `training.baselines` and their names; the simplest is last."""

EARLY = 3
"""The first configuration is compared with the best if it got a third of its epochs."""

FEWEST_ROWS = 10
"""With fewer test rows of the rarest class, an interval of the mean recall would say nothing."""


def how_good(
    run: Mapping[Any, Any],
    runs: pd.DataFrame,
    draws: pd.DataFrame,
    trials: pd.DataFrame,
    baselines: Mapping[str, Any],
    ratios: Mapping[Any, Any],
) -> dict[str, Any]:
    """Return scores on the test rows, the tuned metric first, and sentences about them.

    `run` is the best of `runs`, which has one per seed, and `trials` has its evaluations. Scores
    are means over `runs`. `draws` are runs of random configurations; `baselines` has scores of
    simple models and facts about the data; `ratios` compares `runs` with FULL, or is empty.
    """
    metric = run["metric"]
    # A metric that weighs classes equally needs simple models that do so too.
    end = "_balanced" if METRICS[metric].equal_classes else ""
    simple = [name for name in (f"boosting{end}", f"linear{end}", "majority") if name in baselines]
    own = {name: runs[column].mean() for name, column in SCORES.items() if column in runs}
    order = dict.fromkeys([metric, *(name for name in SCORES if wording.known(own.get(name)))])
    models: dict[str, Mapping[str, Any]] = {OWN: own}
    models |= {SIMPLE[name]: baselines[name] for name in simple}
    scores = {
        model: {name: float(values[name]) for name in order if pd.notna(values.get(name))}
        for model, values in models.items()
    }
    rows, note = rows_of(metric, int(run["test_rows"]), baselines)
    new = f"new rows may give another score: by how much is not known{f' ({note})' * bool(note)}"
    if rows:
        words = likely(scores[OWN][metric], rows)
        alike = " like the test rows" * bool(baselines.get("repeated_test_rows"))
        new = f"{words} is likely on new rows{alike} (95 % Wilson interval, {note})"
    return {
        "verdict": "; ".join([_verdict(metric, scores, rows), *baselines.get("notes", [])]),
        "scores": scores,
        "warnings": [*_data(baselines), *_probabilities(run, scores), *slower(ratios)],
        "uncertainty": [new, _over_seeds(metric, runs)],
        "tuning": _worth(run, runs, draws, trials),
    }


def _verdict(metric: str, scores: Mapping[str, Mapping[str, float]], rows: int) -> str:
    """Recommend the simplest model that is not clearly worse than the best.

    A model is clearly worse if Newcombe's 95 % interval of the difference of two proportions (from
    their Wilson intervals) is above 0. The interval is for independent samples, so it is cautious:
    on the same rows, models mostly fail together.
    """
    values = {model: own[metric] for model, own in scores.items()}
    sign = -1 if METRICS[metric].lower_is_better else 1
    best = max(values, key=lambda model: sign * values[model])

    def likely_range(model: str) -> tuple[float, float]:
        # One answer for all rows has the same balanced accuracy on any rows.
        certain = metric == "balanced_accuracy" and model == SIMPLE["majority"]
        return _wilson(values[model], rows) if rows and not certain else (values[model],) * 2

    def is_worse(model: str) -> bool:
        low, high = likely_range(best)[0], likely_range(model)[1]
        noise = math.hypot(values[best] - low, high - values[model]) if rows else 0.0
        return sign * (values[best] - values[model]) > noise

    def texts(models: Sequence[str], verb: bool = False) -> str:
        *most, last = [f"{model} ({named(metric, values[model])})" for model in models]
        words = f"{', '.join(most)} and {last}" if most else last
        return words + (" are" if most else " is") * verb

    worse = [model for model in values if is_worse(model)]
    *equal, chosen = [model for model in values if model not in worse]  # the simplest is last
    noise = " by more than noise" if rows else ""
    if len(values) == 1:
        return "No simple model was fitted"
    if chosen == SIMPLE["majority"]:
        others = texts([model for model in values if model != chosen], verb=True)
        text = f"Use none of the models: {others} not better than {texts([chosen])}{noise}"
    elif equal:
        text = f"Use {texts([chosen])}, the simplest: {texts(equal, verb=True)} about equally good"
        text += f"; {texts(worse, verb=True)} worse{noise}" if worse else ""
    else:
        text = f"Use {texts([chosen])}: it is better than {texts(worse)}{noise}"
    return text if rows else f"{text}; whether by more than noise is not known"


def _data(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield warnings about the rows behind the scores."""
    if repeated := facts.get("repeated_test_rows"):
        share = wording.percent(repeated)
        yield f"{share} of the test rows are also training rows: the test score flatters"
    for split, counts in facts.get("rows_by_class", {}).items():
        if absent := [f"'{name}'" for name, count in counts.items() if not count]:
            rows = f"No {split} row has the class {listed(absent)}"
            yield f"{rows}: the {split} score says nothing about it"


def _probabilities(run: Mapping[Any, Any], scores: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a warning if the class shares predict better probabilities than the model."""
    majority = SIMPLE["majority"]
    own, other = run["test_loss"], scores.get(majority, {}).get("log_loss", math.nan)
    text = f"its log loss ({own:.3f}) is worse than that of {majority} ({other:.3f})"
    return [f"Do not trust its probabilities: {text}"] if own > other else []


def slower(ratios: Mapping[Any, Any]) -> list[str]:
    """Return a warning if all known ratios of cost to FULL are below 1."""
    names = ("speedup", "cpu_ratio")
    known = {name: ratios[name] for name in names if wording.known(ratios.get(name))}
    if not known or max(known.values()) >= 1:
        return []
    texts = [f"{QUANTITIES[name].words} {wording.number(known[name], TIMES)}" for name in known]
    return [f"Slower than FULL: {', '.join(texts)}"]


def rows_of(metric: str, test_rows: int, facts: Mapping[str, Any]) -> tuple[int, str]:
    """Return how many test rows an accuracy as certain as the score would have, and why.

    The number is 0 if unknown. The mean recall of k classes, the rarest with n rows, is at least as
    certain as an accuracy on k n rows: by Jensen's inequality, its variance is at most
    p (1 - p) / (k n).
    """
    counts = [count for count in facts.get("rows_by_class", {}).get("test", {}).values() if count]
    if metric == "accuracy":
        return test_rows, wording.count(test_rows, "test row")
    if metric == "balanced_accuracy" and counts:
        rarest = min(counts)
        rows = len(counts) * rarest if rarest >= FEWEST_ROWS else 0
        return rows, f"the rarest class has {wording.count(rarest, 'test row')}"
    return 0, ""


def likely(score: float, rows: int) -> str:
    """Return the 95 % Wilson interval of an accuracy on a number of rows, as text."""
    low, high = _wilson(score, rows)
    return f"{wording.number(100 * low)} to {wording.percent(high)}"


def _wilson(score: float, rows: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of an accuracy on a number of rows."""
    ends = binomtest(round(score * rows), rows).proportion_ci(method="wilson")
    return ends.low, ends.high


def _over_seeds(metric: str, runs: pd.DataFrame) -> str:
    """Return in words how much other seeds may change the score."""
    seeds = len(runs)
    if seeds == 1:
        return "one seed: another one may give another result"
    searches = f"{seeds} searches with different seeds"
    scores = runs[SCORES[metric]]
    if not wording.known(scores.mean()):
        return f"not all {searches} have a finite {METRICS[metric].words}"
    if scores.nunique() == 1:
        return f"all {searches} have {value(metric, scores.iloc[0])} on the same test rows"
    mean = f"{mean_score(metric, runs)} ({wording.INTERVALS[interval(seeds)]})"
    return f"{mean} is the mean of {searches}, on the same test rows"


def _worth(
    run: Mapping[Any, Any], runs: pd.DataFrame, draws: pd.DataFrame, trials: pd.DataFrame
) -> str:
    """Compare the best configuration with random ones, or else with the first one of its search."""
    metric = run["metric"]
    words = METRICS[metric].words
    own = trials[trials["record"] == run["record"]]
    own = own.drop_duplicates(["index", "epoch"])  # a trial that has ended repeats its score
    by_epoch = own.groupby("epoch")["score"]
    whole = run["fraction"] == 1  # finalists of a search on subsets differ on all data
    if whole and by_epoch.size().max() > 1 and (by_epoch.max() - by_epoch.min()).max() <= ROUNDING:
        return (
            f"nothing: no hyper-parameter made a difference. The validation {words} is the same "
            "for all configurations that were trained for the same number of epochs"
        )
    if len(draws):
        median = draws[SCORES[metric]].median()
        return (
            f"{gain(metric, runs, draws)} of test {words} (mean over seeds) over the median of "
            f"{wording.count(len(draws), 'random configuration')} ({named(metric, median)})"
        )
    if run["best_index"] == 0:
        return "nothing: the first configuration that the search tried is the best one"
    remedy = "add untuned to the selectors to compare with random configurations"
    if run["fraction"] < 1:
        share = wording.percent(run["fraction"])
        cause = f"the search trained the first configuration on {share} of the data only"
        return f"unknown: {cause}; {remedy}"
    first, best = (own[own["index"] == n].set_index("epoch") for n in (0, run["best_index"]))
    if first.empty:
        return "unknown: the first configuration of the search has no score"
    shared = first.index.intersection(best.index)
    epoch = int(shared.max()) if len(shared) else 0
    if EARLY * epoch < best.index.max():
        stopped = wording.count(int(first.index.max()), "epoch")
        cause = f"the search stopped the first configuration after {stopped}"
        if first.index.max() >= best.index.max():
            cause = "first and best configuration were scored after different numbers of epochs"
        return f"unknown: {cause}; {remedy}"
    start, end = (METRICS[metric].from_score(each.loc[epoch, "score"]) for each in (first, best))
    return (
        f"{_gain(metric, end, start)} of validation {words} over the first configuration tried: "
        f"{value(metric, end)} after {wording.count(epoch, 'epoch')}, that one reached "
        f"{value(metric, start)}; part of it is luck, because the search chose by this score"
    )


def gain(metric: str, runs: pd.DataFrame, draws: pd.DataFrame) -> str:
    """Return how much better the mean over seeds is than the median draw."""
    column = SCORES[metric]
    return _gain(metric, runs[column].mean(), draws[column].median())


def _gain(metric: str, number: float, other: float) -> str:
    """Return how much better a value of a metric is than another one."""
    entry = METRICS[metric]
    better = other - number if entry.lower_is_better else number - other
    if entry.is_share:
        text = f"{wording.signed(100 * better)} pp"
    else:
        text = f"{round(better, 3) + 0.0:+.3f}"
    return text.replace("-", wording.MINUS)


def named(metric: str, number: float) -> str:
    """Return a value of a metric with the metric's name, which the accuracy does not need."""
    if not METRICS[metric].is_share:
        return f"{METRICS[metric].words} {value(metric, number)}"
    return value(metric, number) + f" {METRICS[metric].words}" * (metric != "accuracy")


def value(metric: str, number: float) -> str:
    """Return a value of a metric without a name."""
    if METRICS[metric].is_share:
        return wording.percent(number)
    return f"{number:.3f}".replace("-", wording.MINUS)


def mean_score(metric: str, runs: pd.DataFrame) -> str:
    """Return the mean of a metric on the test set over several runs, with bounds."""
    values = runs[SCORES[metric]].to_numpy()
    least, most = sorted(map(METRICS[metric].from_score, (0, 1)))
    return between(metric, values.mean(), *np.clip(bounds(values), least, most))


def between(metric: str, number: float, low: float, high: float) -> str:
    """Return a value of a metric with bounds."""
    factor, unit = (100, " %") if METRICS[metric].is_share else (1, "")
    ends = wording.spread(factor * low, factor * high)
    return f"{wording.number(factor * number)}{unit} {ends}"
