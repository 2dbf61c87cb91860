"""What was found: the best hyper-parameters of each data set, and the largest safe speedup."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from automata import names
from automata.analysis import wording
from automata.analysis.best import MEASURES, Choice, choices
from automata.analysis.quantities import QUANTITIES, ROUNDING
from automata.analysis.statistics import bounds, interval
from automata.analysis.study import COMBINATION, Panel
from automata.analysis.tradeoff import seeds_column
from automata.names import AUTOMATA, CONTROLS
from automata.page.chart import UP

NEAR_FULL = 1.0
"""Percentage points of test accuracy that a fast method may lose."""

INTERVALS = {"95 %": "95 % bootstrap interval", "range": "range"}


def shown(row: Mapping[Any, Any], quantity: str) -> str:
    """Return a quantity of a row of the tradeoff table, with its bounds over several seeds."""
    unit, value = QUANTITIES[quantity].unit, row[quantity]
    formats = {"%": wording.percent, "s": wording.seconds}
    mean = formats[unit](value) if unit in formats else wording.number(value, unit)
    if not QUANTITIES[quantity].spread or row[seeds_column(quantity)] < 2:
        return mean
    return f"{mean} {wording.spread(row[f'{quantity}_low'], row[f'{quantity}_high'])}".strip()


def best(runs: pd.DataFrame, trials: pd.DataFrame, tradeoff: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the best runs of FULL, AUTOMATA and other selectors, then the untuned control.

    The tables have the rows of one data set. The run with the highest validation score is the
    first and alone has `sure` and `worth`. `loses`: whether FULL is better on the test set.
    """
    first: dict[str, Choice] = {}
    for choice in choices(runs):  # the highest score is first
        selector = choice.run["selector"]
        first.setdefault(selector if selector in ("full", AUTOMATA) else "", choice)
    draws = runs[runs["selector"] == "untuned"].drop_duplicates("seed")  # panels share them
    errors = tradeoff[tradeoff["selector"] != "full"].set_index(COMBINATION)
    rows = [_row(choice, draws, errors) for choice in first.values()]
    if rows:
        best_choice = next(iter(first.values()))
        rows[0] |= {"sure": _sure(best_choice), "worth": _worth(best_choice, draws, trials)}
    return [*rows, *([_untuned(draws)] if len(draws) else [])]


def _row(choice: Choice, draws: pd.DataFrame, errors: pd.DataFrame) -> dict[str, Any]:
    run, runs, metric = choice.run, choice.runs, choice.run["metric"]
    score = run["best_score"]
    if metric == "log_loss":  # its score is exp(-loss)
        score = -math.log(max(score, sys.float_info.min))
    combination = tuple(run[key] for key in COMBINATION)
    error = errors.loc[combination] if combination in errors.index else None
    accuracy = f" (accuracy {wording.percent(run['test_accuracy'])})"
    return {
        **run,
        "method": names.method(run["selector"], run["fraction"]),
        "tuner": Panel.of(run).method,
        "hyperparameters": wording.readable(choice.configuration),
        "validation": _named(metric, score),
        "test": _named(metric, run[MEASURES[f"test_{metric}"]]) + accuracy * (metric != "accuracy"),
        "mean": _mean(runs, metric) if len(runs) > 1 else wording.MISSING,
        "seeds": wording.count(len(runs), "seed"),
        "error": wording.MISSING if error is None else shown(error, UP),
        "loses": error is not None and error[UP] > ROUNDING,
        "gain": _gain(choice, draws) if len(draws) else wording.MISSING,
        "seconds": wording.seconds(runs["total_seconds"].mean()),
        "records": " ".join(runs["record"]),
    }


def _untuned(draws: pd.DataFrame) -> dict[str, Any]:
    """Return the row of the draws without tuning: their median, as in charts and figures."""
    values, unit = _scores(draws, draws["metric"].iloc[0])
    reach = wording.spread(values.min(), values.max())
    return {
        **draws.iloc[0],
        "method": names.selector("untuned"),
        "tuner": "drawn at random",
        "hyperparameters": [],
        **dict.fromkeys(("validation", "test", "error", "gain"), wording.MISSING),
        "mean": f"{wording.number(values.median())}{unit} {reach}",
        "seeds": f"median of {wording.count(len(draws), 'draw')}",
        "seconds": wording.seconds(draws["total_seconds"].mean()),
        "records": " ".join(draws["record"]),
    }


def _sure(choice: Choice) -> list[str]:
    """Return how much other test rows and other seeds may change the test score."""
    run, seeds = choice.run, len(choice.runs)
    sentences = []
    if run["metric"] == "accuracy":
        rows = int(run["test_rows"])
        right = binomtest(round(run["test_accuracy"] * rows), rows)
        low, high = right.proportion_ci(method="wilson")
        reach = f"{wording.number(100 * low)} to {wording.percent(high)}"
        sentences.append(f"{reach} with other test rows (95 % Wilson interval, {rows:,} rows)")
    if seeds == 1:
        return [*sentences, "one seed: another one may give another result"]
    mean = f"{_mean(choice.runs, run['metric'])} ({INTERVALS[interval(seeds)]})"
    return [
        *sentences,
        f"{mean} on average over {seeds} seeds, each with its own best hyper-parameters",
    ]


def _worth(choice: Choice, draws: pd.DataFrame, trials: pd.DataFrame) -> str:
    """Compare the best configuration with random ones, else with the first one of its search."""
    run, metric = choice.run, choice.run["metric"]
    if len(draws):
        median = _named(metric, draws[MEASURES[f"test_{metric}"]].median())
        words = f"{_gain(choice, draws)} of test {metric.replace('_', ' ')} (mean over seeds)"
        return f"{words} over the median of {len(draws)} random configurations ({median})"
    if run["best_index"] == 0:
        return "no better: the first configuration that the search tried is the best one"
    first = trials[(trials["record"] == run["record"]) & (trials["index"] == 0)]
    if first.empty:
        return "unknown: the first configuration of the search has no score"
    start = first.sort_values("epoch").iloc[-1]
    gain = _signed(100 * (run["best_validation_accuracy"] - start["accuracy"]))
    reached = f"{wording.percent(start['accuracy'])} after {start['epoch']} epochs"
    return f"{gain} of validation accuracy over the first configuration tried ({reached})"


def _gain(choice: Choice, draws: pd.DataFrame) -> str:
    """Return how much better the mean over seeds is than the median draw, in the tuned metric."""
    metric = choice.run["metric"]
    (mine, unit), (drawn, _) = _scores(choice.runs, metric), _scores(draws, metric)
    gain = mine.mean() - drawn.median()
    return _signed(gain) if unit else _signed(-gain, "")  # a lower log loss is better


def _signed(value: float, unit: str = " pp") -> str:
    return wording.signed(value).replace("-", wording.MINUS) + unit


def _named(metric: str, value: float) -> str:
    """Return a value of a metric, with its name unless it is the accuracy."""
    if metric == "log_loss":
        return f"log loss {value:.3f}"
    return wording.percent(value) + ("" if metric == "accuracy" else f" {metric.replace('_', ' ')}")


def _scores(runs: pd.DataFrame, metric: str) -> tuple[pd.Series, str]:
    """Return the metric of each run on the test set, and its unit."""
    values = runs[MEASURES[f"test_{metric}"]]
    return (values, "") if metric == "log_loss" else (100 * values, " %")


def _mean(runs: pd.DataFrame, metric: str) -> str:
    """Return the mean of a metric on the test set over several runs, with its bounds."""
    values, unit = _scores(runs, metric)
    return f"{wording.number(values.mean())}{unit} {wording.spread(*bounds(values.to_numpy()))}"


def fastest(tradeoff: pd.DataFrame) -> dict[Any, Any] | None:
    """Return the fastest method in `tradeoff` that loses at most NEAR_FULL points."""
    subsets = tradeoff[~tradeoff["selector"].isin(list(CONTROLS))]
    near = subsets[subsets[UP] <= NEAR_FULL + ROUNDING]
    if near.empty:
        return None
    ordered = near.sort_values(["speedup", *COMBINATION], ascending=[False, *[True] * 5])
    row = ordered.iloc[0].to_dict()
    words = {name: shown(row, name) for name in ("speedup", UP)}
    method, tuner = names.method(row["selector"], row["fraction"]), Panel.of(row).method
    return {**row, **words, "method": method, "tuner": tuner, "seeds": int(row["seeds"])}
