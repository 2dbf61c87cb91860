"""The findings: the best hyper-parameters of each data set, and the largest safe speedup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import wording
from automata.analysis.best import Choice, choices, drawn
from automata.analysis.energy import ways
from automata.analysis.how_good import SCORES, between, gain, mean_score, named, slower
from automata.analysis.quantities import ERROR, QUANTITIES, ROUNDING
from automata.analysis.study import COMBINATION, Panel
from automata.metrics import METRICS
from automata.names import AUTOMATA, CONTROLS

NEAR_FULL = 1.0
"""Percentage points of test accuracy that a fast method may lose."""


def formatted(row: Mapping[Any, Any], quantity: str) -> str:
    """Return a quantity of a row of the tradeoff table as text, with bounds over several seeds."""
    unit, value = QUANTITIES[quantity].unit, row[quantity]
    formats = {
        "%": wording.percent,
        "s": wording.seconds,
        "kWh": wording.energy,
        "g": wording.mass,
    }
    mean = formats[unit](value) if unit in formats else wording.number(value, unit)
    if not QUANTITIES[quantity].spread or row[QUANTITIES[quantity].seeds] < 2:
        return mean
    return f"{mean} {wording.spread(row[f'{quantity}_low'], row[f'{quantity}_high'])}".strip()


def best(runs: pd.DataFrame, tradeoff: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the best runs of FULL, AUTOMATA and other selectors, then the untuned control.

    The tables are of one data set. The run with the highest validation score is first, and only it
    is `best`. `loses`: whether FULL is better on the test set, None if not known.
    """
    first: dict[str, Choice] = {}
    for choice in choices(runs):  # in order of their scores
        selector = choice.run["selector"]
        first.setdefault(selector if selector in ("full", AUTOMATA) else "", choice)
    errors = tradeoff[tradeoff["selector"] != "full"].set_index(COMBINATION)
    rows = [
        {**_row(choice, drawn(runs, choice.run["search"]), errors), "best": number == 0}
        for number, choice in enumerate(first.values())
    ]
    draws = drawn(runs, rows[0]["search"] if rows else runs["search"].iloc[0])
    return [*rows, *([_untuned(draws)] if len(draws) else [])]


def _row(choice: Choice, draws: pd.DataFrame, errors: pd.DataFrame) -> dict[str, Any]:
    run, runs, metric = choice.run, choice.runs, choice.run["metric"]
    error = errors.loc[choice.combination] if choice.combination in errors.index else None
    accuracy = f" (accuracy {wording.percent(run['test_accuracy'])})"
    scores = run[SCORES[metric]], runs[SCORES[metric]].mean()
    test, mean = (named(metric, score) for score in scores)
    kept = [f"epochs={run['kept_epoch']:.0f}"] if wording.known(run.get("kept_epoch")) else []
    return {
        **run,
        "method": names.method(run["selector"], run["fraction"]),
        "tuner": Panel.of(run).method,
        "hyperparameters": [*wording.readable(choice.configuration), *kept],
        "validation": named(metric, METRICS[metric].from_score(run["best_score"])),
        "test": test + accuracy * (metric != "accuracy"),
        "leading": mean + " accuracy" * (metric == "accuracy"),
        "mean": mean_score(metric, runs) if len(runs) > 1 else wording.MISSING,
        "seeds": wording.count(len(runs), "seed"),
        "error": wording.MISSING if error is None else formatted(error, ERROR),
        "loses": run["selector"] != "full" and (None if error is None else error[ERROR] > ROUNDING),
        "slower": [] if error is None else slower(error),
        "gain": gain(metric, runs, draws) if len(draws) else wording.MISSING,
        "cost": _cost(runs),
        "records": " ".join(runs["record"]),
    }


def _cost(runs: pd.DataFrame) -> str:
    """Return mean time, energy and CO2 as text."""
    time, energy = wording.seconds(runs["total_seconds"].mean()), runs["kwh"].mean(skipna=False)
    if not wording.known(energy):
        return f"{time}, energy not known"
    grams = wording.mass(runs["co2_energy_grams"].mean())
    return f"{time}, {wording.energy(energy)}, {grams} CO2 ({ways(runs)})"


def _untuned(draws: pd.DataFrame) -> dict[str, Any]:
    """Return the row of untuned configurations, with their median as in charts and figures."""
    metric = draws["metric"].iloc[0]
    values = draws[SCORES[metric]]
    return {
        **draws.iloc[0],
        "best": False,
        "loses": False,
        "method": names.selector("untuned"),
        "tuner": "drawn at random",
        **{name: [] for name in ("hyperparameters", "slower")},
        **dict.fromkeys(("validation", "test", "error", "gain"), wording.MISSING),
        "mean": between(metric, values.median(), values.min(), values.max()),
        "seeds": f"median of {wording.count(len(draws), 'draw')}",
        "cost": _cost(draws),
        "records": " ".join(draws["record"]),
    }


def fastest(tradeoff: pd.DataFrame, ratio: str) -> dict[Any, Any] | None:
    """Return the row with the largest `ratio` among those that lose at most NEAR_FULL points."""
    subsets = tradeoff[~tradeoff["selector"].isin(list(CONTROLS))]
    near = subsets[subsets[ERROR] <= NEAR_FULL + ROUNDING]
    if near.empty:
        return None
    ordered = near.sort_values([ratio, *COMBINATION], ascending=[False, *[True] * 5])
    row = ordered.iloc[0].to_dict()
    texts = {"ratio": formatted(row, ratio), ERROR: formatted(row, ERROR)}
    method, tuner = names.method(row["selector"], row["fraction"]), Panel.of(row).method
    seeds = int(row[QUANTITIES[ratio].seeds])
    facts = {"saved": ratio == "cpu_ratio", "slower": slower(row), "seeds": seeds}
    return {**row, **texts, **facts, "method": method, "tuner": tuner}
