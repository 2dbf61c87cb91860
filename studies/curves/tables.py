"""The tables of simulated searches: methods, their differences, a score's noise, real searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automata import names
from automata.analysis.quantities import ROUNDING
from automata.analysis.statistics import tau
from automata.analysis.tables import read_csv, read_json
from automata.errors import UserError
from automata.registry import SCHEDULERS
from automata.seeds import derive
from studies.curves import TABLES
from studies.curves.curves import (
    FULL,
    ROW,
    SPEEDUPS,
    DatasetCurves,
    Floats,
    PoolCurves,
    complete,
    published_curves,
    tabulated,
)
from studies.curves.jobs import read_curves
from studies.curves.methods import Comparison, Outcome, Sample
from studies.curves.plan import PUBLISHED, Simulated, Simulation

SEARCHES = 2000
"""Simulated searches for each mean."""
RESAMPLES, SEARCHES_EACH = 200, 50
"""Resamples of pool and seeds for an interval, and searches in each."""
LOSS = 2 + ROUNDING
"""A large regret in points, whose chance is reported."""

SAME = ["dataset", "scheduler", "selector", "fraction"]
"""Columns that a real search and its simulated counterparts share."""


def joined(
    records: Iterable[Path], trainings: Sequence[str], published: Path = PUBLISHED
) -> pd.DataFrame:
    """Return a row per evaluation of the published `trainings`, which come first, and of `records`.

    Raises UserError if there are none.
    """
    table = pd.concat(
        [*published_curves(published, trainings), tabulated(map(read_curves, records))]
    ).drop_duplicates(ROW)
    if table.empty:
        raise UserError("there are no learning curves: --config train=1 records them")
    return table


def simulated(curves: pd.DataFrame, simulation: Simulation) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield name and content of each table of the searches that are simulated on `curves`."""
    searches = simulation.searches
    recorded = complete(curves, searches)
    found = compared(recorded)
    checks = [pd.DataFrame(columns=[*SAME, "seed"])]
    for folder in simulation.real:
        runs, protocols = read_csv(folder / "runs.csv"), read_json(folder / "protocols.json")
        checks.append(against_real(found, searches, runs, protocols))
    full = {name: it.curves[FULL] for name, it in recorded.items() if len(it.seeds) > 1}
    contents = (
        found.drop(columns=["test_low", "test_high", "resampled"]),
        contrasts(found, {dataset: it.kind for dataset, it in searches.items()}),
        noise(full),
        ranks(full),
        pd.concat(checks),
    )
    yield from zip(TABLES, contents, strict=True)


def compared(recorded: Mapping[str, DatasetCurves]) -> pd.DataFrame:
    """Return a row for each data set, scheduler and method.

    Regret is in points of test accuracy: FULL's choice, trained on all data, minus the method's, on
    the same pool, in the same order, under the same seed. Raises UserError if no scheduler can be
    simulated.
    """
    rows = [
        row
        for dataset, here in recorded.items()
        for scheduler in here.searches.schedulers
        for row in _rows(dataset, here, scheduler)
    ]
    if not rows:
        valid = ", ".join(name for name, it in SCHEDULERS.items() if not it.all_data)
        raise UserError(
            f"experiment.schedulers: no scheduler of this study can be simulated; valid: {valid}"
        )
    return pd.DataFrame(rows)


def _rows(dataset: str, recorded: DatasetCurves, scheduler: str) -> Iterator[dict[str, object]]:
    sample = sample_of(recorded.searches.pool, len(recorded.seeds))
    full = None
    for method, outcome in Comparison(recorded, scheduler, sample).outcomes():
        full = full or outcome  # the first method
        yield {
            "dataset": dataset,
            "scheduler": scheduler,
            "method": method.name,
            **method.strategy._asdict(),
            "metric": method.metric,
            "finalists": method.finalists,
            "seeds": len(recorded.seeds),
            "learning_rate": np.median(recorded.learning_rates[outcome.chosen[:SEARCHES]]),
            **_numbers(outcome, full),
        }


def _numbers(outcome: Outcome, full: Outcome) -> dict[str, object]:
    """Return the numbers of a method; the first `SEARCHES` of its searches give the means."""
    test = outcome.test
    regret = 100 * (full.test - test)
    means, resamples = regret[:SEARCHES], regret[SEARCHES:].reshape(RESAMPLES, SEARCHES_EACH)
    low, high = np.percentile(test[SEARCHES:], (2.5, 97.5))
    full_costs, costs = (it.costs[:, :SEARCHES].sum(axis=1) for it in (full, outcome))
    return {
        "regret_5th": np.percentile(means, 5),
        "regret_95th": np.percentile(means, 95),
        **dict(zip(SPEEDUPS, full_costs / costs, strict=True)),
        "test_accuracy": test[:SEARCHES].mean(),
        "lost_2": (means > LOSS).mean(),
        **_interval("regret", means.mean(), resamples.mean(axis=1)),
        # Only other tables need the central 95 % and the mean regrets of the resamples.
        "test_low": low,
        "test_high": high,
        "resampled": resamples.mean(axis=1),
    }


def _interval(name: str, mean: float, resampled: Floats) -> dict[str, float]:
    """Return a mean and its 95 % bootstrap interval over the choice of pool and training seeds."""
    # A resample has some configurations twice and loses more: this bias is subtracted.
    low, high = mean + np.percentile(resampled, (2.5, 97.5)) - resampled.mean()
    return {name: float(mean), f"{name}_low": float(low), f"{name}_high": float(high)}


def sample_of(pool: int, seeds: int) -> Sample:
    """Return `SEARCHES` searches of the pool, then the searches of each resample."""
    generator = np.random.default_rng(derive(0, "simulated searches"))
    parts = [_drawn(generator, pool, seeds, SEARCHES)]
    for _ in range(RESAMPLES):
        members = generator.integers(0, pool, pool)
        kept = generator.integers(0, seeds, seeds)
        part = _drawn(generator, pool, seeds, SEARCHES_EACH)
        parts.append(Sample(members[part.order], kept[part.seeds]))
    return Sample(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _drawn(generator: np.random.Generator, pool: int, seeds: int, count: int) -> Sample:
    """Return searches that see the pool in different orders, under one of the seeds each."""
    order = generator.random((count, pool)).argsort(axis=1)
    places = generator.integers(0, seeds, count)
    return Sample(order, np.stack([places, (places + 1) % seeds], axis=1))


def contrasts(found: pd.DataFrame, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return how much more one method loses than another: a row for each scheduler, pair and kind.

    `found` has the rows of `compared`, and `kinds` the kind of each data set. A difference is the
    mean over the data sets of a kind and the fractions that both methods have.
    """
    usual = _usual(found)
    usual = usual[usual["selector"] != "full"].assign(kind=usual["dataset"].map(kinds))
    method = ["selector", "horizon_exponent"]
    panel = ["scheduler", "kind", "dataset", "fraction"]
    selectors = (*names.CONTRASTS, ("rs2", "adaptive-random"))
    pairs = [(one, 0.0, other) for one, other in selectors]
    pairs += [("rs2", it, "rs2") for it in sorted(set(usual["horizon_exponent"])) if it]
    rows = []
    for selector, exponent, other in pairs:
        one, two = (
            usual[(usual[method] == strategy).all(axis=1)].set_index(panel)[["regret", "resampled"]]
            for strategy in ((selector, exponent), (other, 0.0))
        )
        for (scheduler, kind), some in (one - two).dropna().groupby(["scheduler", "kind"]):
            resampled = np.stack(list(some["resampled"])).mean(axis=0)
            rows.append(
                {
                    "scheduler": scheduler,
                    "kind": kind,
                    "selector": selector,
                    "horizon_exponent": exponent,
                    "other": other,
                    "datasets": some.index.unique("dataset").size,
                    **_interval("difference", some["regret"].mean(), resampled),
                }
            )
    return pd.DataFrame(rows)


def noise(full: Mapping[str, PoolCurves]) -> pd.DataFrame:
    """Return how far two trainings on all data differ by their seed alone, in points.

    A row has the mean absolute difference of the test accuracies in `full`, over pool and pairs of
    seeds; `best` is over the quarter of the pool with the highest mean validation accuracy.
    """
    rows = []
    for dataset, curves in full.items():
        apart = 100 * np.array([np.abs(a - b) for a, b in combinations(curves.test, 2)])
        places = np.argsort(-curves.scores["accuracy"][:, :, -1].mean(axis=0), kind="stable")
        best = apart[:, places[: len(places) // 4]]
        rows.append((dataset, len(curves.test), apart.mean(), best.mean()))
    return pd.DataFrame(rows, columns=["dataset", "seeds", "test", "best"])


def ranks(full: Mapping[str, PoolCurves]) -> pd.DataFrame:
    """Return how well the accuracies at each epoch rank configurations by their accuracy at T.

    Kendall's tau-b is averaged over pairs of seeds, one for each of the two accuracies.
    """
    rows = []
    for dataset, curves in full.items():
        for place, epoch in enumerate(curves.epochs):
            pairs = permutations(curves.scores["accuracy"], 2)
            taus = [tau(early[:, place], late[:, -1]) for early, late in pairs]
            rows.append((dataset, epoch, np.mean(taus)))
    return pd.DataFrame(rows, columns=["dataset", "epoch", "tau"])


def against_real(
    simulated: pd.DataFrame,
    searches: Mapping[str, Simulated],
    runs: pd.DataFrame,
    protocols: Mapping[str, Any],
) -> pd.DataFrame:
    """Return a row for each real search that has simulated counterparts.

    `runs` and `protocols` are tables of `automata collect`. A search is `inside` if its test
    accuracy is in the central 95 % of those of its counterparts. The search under POOL_SEED
    proposed the pool, so it proves little.
    """
    full = runs["selector"].isin(names.ALL_DATA_CONTROLS)
    real = runs.assign(selector=runs["selector"].mask(full, FULL.selector))
    rows = real.to_dict("records")
    real = real[[_is_simulated(run, protocols[run["protocol_hash"]], searches) for run in rows]]
    usual = _usual(simulated[simulated["horizon_exponent"] == 0])
    one_epoch = usual[usual["method"] == names.ONE_EPOCH].drop_duplicates("dataset")
    plain = usual[(usual["selector"] != FULL.selector) | (usual["method"] == names.FULL)]
    counterparts = pd.concat([plain, one_epoch.assign(scheduler="one-epoch")])
    found = real[[*SAME, "seed", "test_accuracy"]].merge(
        counterparts[[*SAME, "method", "test_low", "test_high"]], on=SAME
    )
    found["inside"] = found["test_accuracy"].between(found["test_low"], found["test_high"])
    return found.sort_values([*SAME, "seed"], ignore_index=True)


def _usual(found: pd.DataFrame) -> pd.DataFrame:
    """Return the methods without finalists that compare trials by accuracy."""
    return found[(found["metric"] == "accuracy") & (found["finalists"] == 1)]


def _is_simulated(
    run: Mapping[Any, Any], settings: Mapping[str, Any], searches: Mapping[str, Simulated]
) -> bool:
    """Return whether searches with the settings of a real run are simulated."""
    asked, protocol = searches.get(run["dataset"]), settings["protocol"]
    warm_start = settings["scheduler"].get(run["scheduler"], {}).get("warm_start", 0.0)
    exponent = protocol.get("horizon_exponent", 0.0)
    return bool(
        asked is not None
        and run["search"] == "random"
        and protocol["search_space"] == asked.model_dump(mode="json")["space"]
        and protocol["configurations"] == asked.configurations
        and protocol["epochs"] == asked.epochs
        and protocol.get("metric", "accuracy") == "accuracy"
        and protocol.get("finalists", 1) == 1
        and not {"screen_metric", "break_ties"} & protocol.keys()
        and (warm_start == exponent == 0 or run["selector"] == FULL.selector)
    )
