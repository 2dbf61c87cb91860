"""Methods compared on the same simulated searches: regret against FULL, cost, and how sure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.curves import Simulated
from automata.config.methods import SchedulerSettings
from automata.errors import UserError
from automata.seeds import derive
from automata.simulation.methods import Draws, Method, Outcome, outcome
from automata.simulation.table import FULL, Way, curved

Floats = NDArray[np.float64]

SEARCHES = 2000
"""Simulated searches behind each mean."""
RESAMPLES, SEARCHES_EACH = 200, 25
"""Resamples of pool and seeds behind an interval, and searches in each."""
REPEAT = "FULL, repeated"
"""What other methods are compared with: FULL under another training seed."""
LOSSES = (1, 2, 5)
"""Points of accuracy; the chance to lose more is reported."""


def methods(ways: Iterable[Way]) -> list[Method]:
    """Return the methods that can be simulated on curves of these `ways`, FULL first."""
    found = [
        Method("FULL"),
        Method(REPEAT, repeat=True),
        Method("untuned", scheduler="untuned"),
        Method("one epoch", scheduler="one-epoch"),
        Method("one epoch, by loss", scheduler="one-epoch", metric="log_loss"),
    ]
    for way in ways:
        if way == FULL:
            continue
        plain = Method.of(way)
        name = plain.name
        found += [
            plain,
            Method(f"{name}, 3 finalists", way, finalists=3),
            Method(f"{name}, by loss", way, metric="log_loss"),
            Method(f"{name}, by loss, 3 finalists", way, "log_loss", finalists=3),
        ]
    return found


def ways_in(table: pd.DataFrame) -> list[Way]:
    """Return the ways of training that a table of curves has, in order."""
    rows = table[list(Way._fields)].drop_duplicates().sort_values(list(Way._fields))
    return [Way(*row) for row in rows.itertuples(index=False)]


def study(
    table: pd.DataFrame,
    scheduler: str,
    settings: SchedulerSettings,
    configurations: int,
    seeds: Sequence[int],
) -> pd.DataFrame:
    """Return a row per method of one data set under one scheduler.

    `table` has the curves of the data set. Regret is in points of test accuracy: that of FULL's
    choice, trained on all data, minus that of the method's, on the same proposals and seed.
    """
    full = curved(table, FULL, seeds)
    if full is None:
        return pd.DataFrame()
    curves = {way: curved(table, way, seeds) for way in ways_in(table)}
    pool = full.accuracy.shape[1]
    generator = np.random.default_rng(derive(0, "simulated searches"))
    draws = _draws(generator, pool, len(seeds), configurations, SEARCHES)
    resampled = _resampled(generator, pool, len(seeds), configurations)
    rows: list[dict[str, object]] = []
    regrets: dict[str, Floats] = {}
    excesses: dict[str, Floats] = {}
    for method in methods(way for way, found in curves.items() if found is not None):
        trained = curves[method.way]
        assert trained is not None
        mean = outcome(method, trained, full, draws, scheduler, settings)
        around = outcome(method, trained, full, resampled, scheduler, settings)
        if not rows:
            base, based = mean, around
        regrets[method.name] = _regret(around, based).reshape(RESAMPLES, SEARCHES_EACH)
        excess = regrets[method.name] - regrets.get(REPEAT, 0)
        excesses[method.name] = excess.mean(axis=1)
        rows.append(
            {
                "scheduler": scheduler,
                "method": method.name,
                **method.way._asdict(),
                **_means(mean, base),
                **_intervals(regrets[method.name]),
                "excess": excess.mean(),
                **_interval("excess", excess.mean(axis=1)),
            }
        )
    found = pd.DataFrame(rows)
    half = _simultaneous(np.stack([excesses[name] for name in found["method"]]))
    found["excess_all_low"] = found["excess"] - half
    found["excess_all_high"] = found["excess"] + half
    found["comparisons"] = int((half > 0).sum())
    return found


def studies(table: pd.DataFrame, searches: Mapping[str, Simulated]) -> pd.DataFrame:
    """Return the rows of `study` for each data set and scheduler; raises UserError for none."""
    found = []
    for dataset, asked in searches.items():
        rows = table[table["dataset"] == dataset]
        for scheduler in asked.schedulers:
            some = study(rows, scheduler, asked.scheduler, asked.configurations, asked.seeds)
            some.insert(0, "dataset", dataset)
            found.append(some)
    together = pd.concat(found, ignore_index=True)
    if together.empty:
        raise UserError("learning_curves: no data set has all curves of FULL under all seeds")
    return together


def _draws(
    generator: np.random.Generator, pool: int, seeds: int, configurations: int, searches: int
) -> Draws:
    """Return searches that propose different configurations of the pool."""
    order = generator.random((searches, pool)).argsort(axis=1)
    return Draws(order[:, :configurations], generator.integers(0, seeds, searches))


def _resampled(generator: np.random.Generator, pool: int, seeds: int, configurations: int) -> Draws:
    """Return searches in resamples of pool and seeds, those of one resample in a row."""
    parts = []
    for _ in range(RESAMPLES):
        members = generator.integers(0, pool, pool)
        kept = generator.integers(0, seeds, seeds)
        part = _draws(generator, pool, seeds, configurations, SEARCHES_EACH)
        parts.append(Draws(members[part.proposals], kept[part.seeds]))
    return Draws(*(np.concatenate(parts_of) for parts_of in zip(*parts, strict=True)))


def _regret(found: Outcome, base: Outcome) -> Floats:
    """Return in points how much worse the chosen configurations are than those of FULL: (d,)."""
    return np.asarray(100 * (base.test - found.test))


def _simultaneous(excesses: Floats) -> Floats:
    """Return half the width of intervals that hold for all m methods at once with 95 %: (m,).

    `excesses` (m, r) are means of r bootstrap resamples: the largest deviation of any of them, in
    its standard errors, stays within the intervals in 95 % of the resamples (max-t).
    """
    apart = np.abs(excesses - excesses.mean(axis=1, keepdims=True))
    errors: Floats = excesses.std(axis=1, ddof=1)
    moves = errors > 0
    if not moves.any():
        return errors
    largest = (apart[moves] / errors[moves, None]).max(axis=0)
    return np.asarray(errors * np.percentile(largest, 95))


def _means(found: Outcome, base: Outcome) -> dict[str, float]:
    regret = _regret(found, base)
    return {
        "searches": len(regret),
        "regret": regret.mean(),
        "regret_95th": np.percentile(regret, 95),
        **{f"lost_{points}": (regret > points).mean() for points in LOSSES},
        "speedup_samples": base.samples.sum() / found.samples.sum(),
        "speedup_seconds": base.seconds.sum() / found.seconds.sum(),
        "test_accuracy": found.test.mean(),
        **dict(zip(("test_low", "test_high"), np.percentile(found.test, (2.5, 97.5)), strict=True)),
    }


def _intervals(regret: Floats) -> dict[str, float]:
    """Return intervals by the regrets (r, searches of each resample)."""
    found = _interval("regret", regret.mean(axis=1))
    for points in LOSSES:
        found |= _interval(f"lost_{points}", (regret > points).mean(axis=1))
    return found


def _interval(name: str, values: Floats) -> dict[str, float]:
    """Return the 95 % bootstrap interval: pool and training seeds are drawn anew."""
    low, high = np.percentile(values, (2.5, 97.5))
    return {f"{name}_low": float(low), f"{name}_high": float(high)}
