"""What was found: the best hyper-parameters of each data set, and the largest safe speedup."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import wording
from automata.analysis.best import Choice, choices
from automata.analysis.quantities import QUANTITIES, TIMES
from automata.analysis.runs import readable
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, bounds
from automata.analysis.study import COMBINATION, Panel
from automata.analysis.tradeoff import seeds_column
from automata.names import AUTOMATA, CONTROLS

SHOWN: dict[str, Callable[[float | None], str]] = {
    "%": wording.percent,
    "s": wording.seconds,
    "pp": wording.points,
    TIMES: wording.ratio,
}
"""How numbers of a unit read; others have three digits."""

NEAR_FULL = 1.0
"""Percentage points of test accuracy that a fast method may lose."""


@dataclass(frozen=True)
class Best:
    """The run with the highest validation score among those of one kind, or what none tuned is."""

    method: str
    tuner: str
    configuration: list[str]
    """A text per hyper-parameter, e.g. learning_rate=0.005."""
    validation: str
    test: str
    mean: str
    """Mean test accuracy of the method over its seeds, with bounds."""
    seeds: str
    seconds: str
    """Mean total time of the method over its seeds."""
    highest: bool = False
    """Whether it is the best of the data set: of equal scores the first."""


def shown(row: Mapping[Any, Any], quantity: str) -> str:
    """Return a quantity of a row of the tradeoff table, with its bounds over several seeds."""
    mean = SHOWN.get(QUANTITIES[quantity].unit, wording.number)(row[quantity])
    if not QUANTITIES[quantity].spread or row[seeds_column(quantity)] < 2:
        return mean
    return f"{mean} {wording.spread(row[f'{quantity}_low'], row[f'{quantity}_high'])}".strip()


def best(runs: pd.DataFrame) -> list[Best]:
    """Return the best runs of FULL, of AUTOMATA and of other selectors, and the untuned control.

    `runs` are those of one data set. The best of all is first.
    """
    first: dict[str, Choice] = {}
    for choice in choices(runs):  # the best score is first
        selector = choice.run["selector"]
        first.setdefault(selector if selector in ("full", AUTOMATA) else "", choice)
    drawn = runs[runs["selector"] == "untuned"].drop_duplicates("seed")  # panels share the draws
    return [
        *(_best(choice, place == 0) for place, choice in enumerate(first.values())),
        *([_untuned(drawn)] if len(drawn) else []),
    ]


def _best(choice: Choice, highest: bool) -> Best:
    run, seeds = choice.run, len(choice.runs)
    few = seeds < SEEDS_FOR_INTERVAL
    return Best(
        names.method(run["selector"], run["fraction"]),
        Panel.of(run).method,
        readable(choice.configuration),
        _score(run["metric"], run["best_score"]),
        wording.percent(run["test_accuracy"]),
        _mean(choice.runs),
        f"{wording.count(seeds, 'seed')}{': no interval' * few}",
        wording.seconds(choice.runs["total_seconds"].mean()),
        highest,
    )


def _score(metric: str, score: float) -> str:
    """Return a validation score in the terms of its metric."""
    if metric == "log_loss":
        return f"log loss {-math.log(max(score, sys.float_info.min)):.3f}"
    return wording.percent(score) + ("" if metric == "accuracy" else f" {metric.replace('_', ' ')}")


def _untuned(drawn: pd.DataFrame) -> Best:
    missing = wording.MISSING
    draws, seconds = wording.count(len(drawn), "draw"), drawn["total_seconds"].mean()
    name, meaning = names.selector("untuned"), "drawn at random"
    return Best(name, meaning, [], missing, missing, _mean(drawn), draws, wording.seconds(seconds))


def _mean(runs: pd.DataFrame) -> str:
    """Return the mean test accuracy of several runs with its bounds; nothing of one."""
    values = 100 * runs["test_accuracy"].to_numpy()
    spread = wording.spread(*bounds(values))
    return f"{wording.percent(values.mean() / 100)} {spread}" if len(values) > 1 else ""


@dataclass(frozen=True)
class Fast:
    """The method with the largest speedup among those near FULL."""

    method: str
    tuner: str
    speedup: str
    error: str
    seeds: int


def fastest(tradeoff: pd.DataFrame) -> Fast | None:
    """Return the fastest of the methods in `tradeoff` that lose NEAR_FULL points at most."""
    subsets = tradeoff[~tradeoff["selector"].isin(list(CONTROLS))]
    # Accuracies are counts of rows: 100 x (0.88 - 0.86) must not count as more than 2.
    near = subsets[subsets["relative_test_error"] <= NEAR_FULL + 1e-9]
    if near.empty:
        return None
    ordered = near.sort_values(["speedup", *COMBINATION], ascending=[False, *[True] * 5])
    row = ordered.iloc[0].to_dict()
    return Fast(
        names.method(row["selector"], row["fraction"]),
        Panel.of(row).method,
        shown(row, "speedup"),
        shown(row, "relative_test_error"),
        int(row["seeds"]),
    )
