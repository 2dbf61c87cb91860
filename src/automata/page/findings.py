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
from automata.analysis.best import Choice, choices
from automata.analysis.quantities import QUANTITIES
from automata.analysis.statistics import bounds, interval
from automata.analysis.study import COMBINATION, Panel
from automata.analysis.tradeoff import seeds_column
from automata.names import AUTOMATA, CONTROLS

NEAR_FULL = 1.0
"""Percentage points of test accuracy that a fast method may lose."""

INTERVALS = {"95 %": "95 % bootstrap interval", "range": "range"}

TEST = {
    "accuracy": "test_accuracy",
    "balanced_accuracy": "test_balanced_accuracy",
    "macro_f1": "test_macro_f1",
    "log_loss": "test_loss",
}
"""Metric -> its column for the test set."""


def shown(row: Mapping[Any, Any], quantity: str) -> str:
    """Return a quantity of a row of the tradeoff table, with its bounds over several seeds."""
    unit, value = QUANTITIES[quantity].unit, row[quantity]
    formats = {"%": wording.percent, "s": wording.seconds}
    mean = formats[unit](value) if unit in formats else wording.number(value, unit)
    if not QUANTITIES[quantity].spread or row[seeds_column(quantity)] < 2:
        return mean
    return f"{mean} {wording.spread(row[f'{quantity}_low'], row[f'{quantity}_high'])}".strip()


def best(runs: pd.DataFrame, trials: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the best runs of FULL, AUTOMATA and other selectors, then the untuned control.

    `runs` and `trials` are those of one data set. The run with the highest validation score is
    the first. It alone has `sure`, `worth` and the columns of its run.
    """
    first: dict[str, Choice] = {}
    for choice in choices(runs):  # the highest score is first
        selector = choice.run["selector"]
        first.setdefault(selector if selector in ("full", AUTOMATA) else "", choice)
    draws = runs[runs["selector"] == "untuned"].drop_duplicates("seed")  # panels share them
    rows = [_row(choice, draws) for choice in first.values()]
    for choice in [*first.values()][:1]:
        answer = {"sure": _sure(choice), "worth": _worth(choice, draws, trials)}
        rows[0] |= {**choice.run, **answer, "records": " ".join(choice.runs["record"])}
    return [*rows, *([_untuned(draws)] if len(draws) else [])]


def _row(choice: Choice, draws: pd.DataFrame) -> dict[str, Any]:
    run, runs, metric = choice.run, choice.runs, choice.run["metric"]
    score = run["best_score"]
    if metric == "log_loss":  # its score is exp(-loss)
        score = -math.log(max(score, sys.float_info.min))
    accuracy = f" (accuracy {wording.percent(run['test_accuracy'])})"
    gain = 100 * (runs["test_accuracy"].mean() - draws["test_accuracy"].median())
    return {
        "method": names.method(run["selector"], run["fraction"]),
        "tuner": Panel.of(run).method,
        "hyperparameters": wording.readable(choice.configuration),
        "validation": _named(metric, score),
        "test": _named(metric, run[TEST[metric]]) + accuracy * (metric != "accuracy"),
        "mean": _mean(runs, metric) if len(runs) > 1 else wording.MISSING,
        "seeds": wording.count(len(runs), "seed"),
        "gain": f"{wording.signed(gain)} pp" if len(draws) else wording.MISSING,
        "seconds": wording.seconds(runs["total_seconds"].mean()),
    }


def _untuned(draws: pd.DataFrame) -> dict[str, Any]:
    """Return the row of the draws without tuning: their median, as in charts and figures."""
    values = 100 * draws["test_accuracy"]
    return {
        "method": names.selector("untuned"),
        "tuner": "drawn at random",
        "hyperparameters": [],
        **dict.fromkeys(("validation", "test", "gain"), wording.MISSING),
        "mean": f"{wording.number(values.median())} % {wording.spread(values.min(), values.max())}",
        "seeds": f"median of {wording.count(len(draws), 'draw')}",
        "seconds": wording.seconds(draws["total_seconds"].mean()),
    }


def _sure(choice: Choice) -> list[str]:
    """Return how much other test rows and other seeds may change the test score."""
    run, seeds = choice.run, len(choice.runs)
    sentences = []
    if run["metric"] == "accuracy":
        rows = int(run["test_rows"])
        right = binomtest(round(run["test_accuracy"] * rows), rows)
        low, high = right.proportion_ci(method="wilson")
        reach = wording.spread(100 * low, 100 * high)
        sentences.append(f"{reach} % with other test rows (95 % Wilson interval, {rows:,} rows)")
    if seeds == 1:
        return [*sentences, "one seed: another one may give another result"]
    mean = _mean(choice.runs, run["metric"])
    return [*sentences, f"{mean} on average over {seeds} seeds ({INTERVALS[interval(seeds)]})"]


def _worth(choice: Choice, draws: pd.DataFrame, trials: pd.DataFrame) -> str:
    """Compare the best configuration with random ones, else with the first one of its search."""
    run = choice.run
    if len(draws):
        median = draws["test_accuracy"].median()
        gain = wording.signed(100 * (choice.runs["test_accuracy"].mean() - median))
        random = f"median of {len(draws)}: {wording.percent(median)}"
        return f"{gain} points of test accuracy over configurations drawn at random ({random})"
    if run["best_index"] == 0:
        return "no better: the first configuration that the search tried is the best one"
    first = trials[(trials["record"] == run["record"]) & (trials["index"] == 0)]
    if first.empty:
        return "unknown: the first configuration of the search has no score"
    start = first.sort_values("epoch").iloc[-1]
    gain = wording.signed(100 * (run["best_validation_accuracy"] - start["accuracy"]))
    reached = (
        f"{wording.percent(start['accuracy'])} after {start['epoch']} of {run['epochs']} epochs"
    )
    return f"{gain} points of validation accuracy over the first configuration tried ({reached})"


def _named(metric: str, value: float) -> str:
    """Return a value of a metric, with its name unless it is the accuracy."""
    if metric == "log_loss":
        return f"log loss {value:.3f}"
    return wording.percent(value) + ("" if metric == "accuracy" else f" {metric.replace('_', ' ')}")


def _mean(runs: pd.DataFrame, metric: str) -> str:
    """Return the mean of a metric on the test set over several runs, with its bounds."""
    factor, unit = (1, "") if metric == "log_loss" else (100, " %")
    values = factor * runs[TEST[metric]].to_numpy()
    return f"{wording.number(values.mean())}{unit} {wording.spread(*bounds(values))}"


def fastest(tradeoff: pd.DataFrame) -> dict[str, Any] | None:
    """Return the fastest method in `tradeoff` that loses at most NEAR_FULL points."""
    subsets = tradeoff[~tradeoff["selector"].isin(list(CONTROLS))]
    # In binary, 100 x (0.88 - 0.86) is more than 2.
    near = subsets[subsets["relative_test_error"] <= NEAR_FULL + 1e-9]
    if near.empty:
        return None
    ordered = near.sort_values(["speedup", *COMBINATION], ascending=[False, *[True] * 5])
    row = ordered.iloc[0].to_dict()
    words = {"speedup": shown(row, "speedup"), "error": shown(row, "relative_test_error")}
    method = names.method(row["selector"], row["fraction"])
    return {**words, "method": method, "tuner": Panel.of(row).method, "seeds": int(row["seeds"])}
