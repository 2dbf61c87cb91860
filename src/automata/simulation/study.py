"""Methods compared on the same simulated searches: regret against FULL, cost, and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd

from automata import names
from automata.errors import UserError
from automata.registry import ALL_DATA_SCHEDULERS, SCHEDULERS
from automata.seeds import derive
from automata.simulation.grid import Simulated
from automata.simulation.methods import Comparison, Outcome, Sample, Trials, methods
from automata.simulation.table import SPEEDUPS, Floats, Recorded

SEARCHES = 2000
"""Simulated searches for each mean."""
RESAMPLES, SEARCHES_EACH = 200, 50
"""Resamples of pool and seeds for an interval, and searches in each."""
LOSS = 2 + 1e-9
"""The chance of a larger regret, in points, is reported. A difference of two shares of rows may be
too large by an error of rounding: 100 x (0.88 - 0.86) is above 2."""

PAIRS = (*names.CONTRASTS, ("rs2", "adaptive-random"))
"""Selectors that are compared with each other."""

INTERNAL = ["test_low", "test_high", "resampled"]
"""Columns of `compared` that only other tables need: the central 95 % of the test accuracies, and
the mean regrets of the resamples."""


def compared(recorded: Mapping[str, Recorded], processes: int = 1) -> pd.DataFrame:
    """Return a row for each data set, scheduler and method; so many `processes` simulate.

    Regret is in points of test accuracy: FULL's choice, trained on all data, minus the method's, on
    the same pool, in the same order, under the same seed. Raises UserError if no scheduler can be
    simulated.
    """
    panels = [
        (dataset, here, scheduler)
        for dataset, here in recorded.items()
        for scheduler in here.asked.schedulers
    ]
    if not panels:
        valid = ", ".join(name for name in SCHEDULERS if name not in ALL_DATA_SCHEDULERS)
        raise UserError(
            f"learning_curves: no scheduler of this configuration can be simulated; valid: {valid}"
        )
    with ProcessPoolExecutor(processes) as pool:
        return pd.concat(pool.map(_panel, *zip(*panels, strict=True)), ignore_index=True)


def _panel(dataset: str, recorded: Recorded, scheduler: str) -> pd.DataFrame:
    asked, seeds = recorded.asked, len(recorded.seeds)
    comparison = Comparison(asked, recorded.curves, scheduler, sample_of(asked, seeds))
    others = [name for name in asked.schedulers if name != scheduler]
    rows: list[dict[str, object]] = []
    for method in methods(recorded.curves, others, repeated=seeds > 1):
        outcome = comparison.outcome(method)
        if not rows:  # the first method
            full = outcome
        trials = method.searches[0] if method.searches else Trials()
        rows.append(
            {
                "dataset": dataset,
                "search": "random",
                "scheduler": scheduler,
                "method": method.name,
                **trials.strategy._asdict(),
                "metric": trials.metric,
                "finalists": method.finalists,
                "seeds": seeds,
                **_numbers(outcome, full),
            }
        )
    return pd.DataFrame(rows)


def _numbers(outcome: Outcome, full: Outcome) -> dict[str, object]:
    """Return the numbers of a method; the first `SEARCHES` of its searches give the means."""
    (test, costs), (best_test, full_costs) = outcome, full
    regret = 100 * (best_test - test)
    means, resamples = regret[:SEARCHES], regret[SEARCHES:].reshape(RESAMPLES, SEARCHES_EACH)
    lost = _interval("lost_2", (means > LOSS).mean(), (resamples > LOSS).mean(axis=1))
    low, high = np.percentile(test[SEARCHES:], (2.5, 97.5))
    ratios = full_costs[:, :SEARCHES].sum(axis=1) / costs[:, :SEARCHES].sum(axis=1)
    return {
        "searches": SEARCHES,
        "regret_5th": np.percentile(means, 5),
        "regret_95th": np.percentile(means, 95),
        **dict(zip(SPEEDUPS, ratios, strict=True)),
        "test_accuracy": test[:SEARCHES].mean(),
        **{key: min(max(share, 0.0), 1.0) for key, share in lost.items()},
        **_interval("regret", means.mean(), resamples.mean(axis=1)),
        "test_low": low,
        "test_high": high,
        "resampled": resamples.mean(axis=1),
    }


def _interval(name: str, mean: float, resampled: Floats) -> dict[str, float]:
    """Return a mean and its 95 % bootstrap interval over the choice of pool and training seeds.

    A resample has some configurations twice, so that fewer are tried and more is lost. The
    interval is corrected for this bias.
    """
    low, high = mean + np.percentile(resampled, (2.5, 97.5)) - resampled.mean()
    return {name: float(mean), f"{name}_low": float(low), f"{name}_high": float(high)}


def sample_of(asked: Simulated, seeds: int) -> Sample:
    """Return `SEARCHES` searches of the pool, then the searches of each resample."""
    generator = np.random.default_rng(derive(0, "simulated searches"))
    parts = [_drawn(generator, asked, seeds, SEARCHES)]
    for _ in range(RESAMPLES):
        members = generator.integers(0, asked.pool, asked.pool)
        kept = generator.integers(0, seeds, seeds)
        part = _drawn(generator, asked, seeds, SEARCHES_EACH)
        parts.append(Sample(members[part.order], kept[part.seeds], kept[part.repeat_seeds]))
    return Sample(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _drawn(generator: np.random.Generator, asked: Simulated, seeds: int, searches: int) -> Sample:
    """Return searches that see the pool in different orders, under one of the seeds each."""
    order = generator.random((searches, asked.pool)).argsort(axis=1)
    places = generator.integers(0, seeds, searches)
    return Sample(order, places, (places + 1) % seeds)


def contrasts(found: pd.DataFrame, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return how much more one method loses than another: a row for each scheduler, pair and kind.

    `found` are the rows of `compared`, and `kinds` the kinds of the data sets. RS2 with a horizon
    exponent is compared with RS2 without one. A difference is the mean over the data sets of a kind
    and the fractions that both methods have.
    """
    usual = found[(found["metric"] == "accuracy") & (found["finalists"] == 1)]
    usual = usual[usual["selector"] != "full"].assign(kind=usual["dataset"].map(kinds))
    strategy = ["selector", "horizon_exponent"]
    keys = ["scheduler", "kind", "dataset", "fraction", *strategy]
    wide = usual.set_index(keys)[["regret", "resampled"]].unstack(strategy)
    pairs = [((one, 0.0), (other, 0.0)) for one, other in PAIRS]
    pairs += [(("rs2", it), ("rs2", 0.0)) for it in sorted(set(usual["horizon_exponent"])) if it]
    rows = []
    for one, other in pairs:
        if not {one, other} <= set(wide["regret"]):
            continue
        apart = {it: wide[it][one] - wide[it][other] for it in ("regret", "resampled")}
        for panel, some in pd.DataFrame(apart).dropna().groupby(["scheduler", "kind"]):
            line = dict(
                zip(
                    ("scheduler", "kind", *strategy, "other"), (*panel, *one, other[0]), strict=True
                )
            )
            line["datasets"] = some.index.unique("dataset").size
            resampled = np.stack(list(some["resampled"])).mean(axis=0)
            rows.append(line | _interval("difference", some["regret"].mean(), resampled))
    return pd.DataFrame(rows)
