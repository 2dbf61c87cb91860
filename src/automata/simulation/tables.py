"""The tables of simulated searches: methods, their differences, a score's noise, real searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automata import names
from automata.analysis.quantities import ROUNDING
from automata.analysis.tables import read_csv, read_json
from automata.config.base import Section
from automata.errors import UserError
from automata.registry import ALL_DATA_SCHEDULERS, SCHEDULERS
from automata.seeds import derive
from automata.simulation import TABLES
from automata.simulation.curves import (
    FULL,
    ROW,
    SPEEDUPS,
    DatasetCurves,
    Floats,
    Strategy,
    complete,
    published_curves,
    tabulated,
)
from automata.simulation.grid import POOL_SEED, Simulated, read_curves
from automata.simulation.methods import Comparison, Outcome, Sample, methods

SEARCHES = 2000
"""Simulated searches for each mean."""
RESAMPLES, SEARCHES_EACH = 200, 50
"""Resamples of pool and seeds for an interval, and searches in each."""
LOSS = 2 + ROUNDING
"""A large regret in points, whose chance is reported."""

PAIRS = (*names.CONTRASTS, ("rs2", "adaptive-random"))
"""Selectors that are compared with each other."""

INTERNAL = ["test_low", "test_high", "resampled"]
"""Columns of `compared` that only other tables need: the central 95 % of the test accuracies, and
the mean regrets of the resamples."""

SAME = ["dataset", "search", "scheduler", *Strategy._fields]
"""Columns that a real search and its simulated counterparts share."""

CHECKED = [*SAME, "seed", "test_accuracy", "method", "test_low", "test_high", "inside", "from_pool"]
"""Columns of `against_real`."""


class Simulation(Section):
    """The searches to simulate, and the files to read in addition to records."""

    published: list[Path]
    """Folders of published learning curves."""
    trainings: list[str]
    """The published trainings to read."""
    searches: dict[str, Simulated]
    """The searches to simulate on the curves of each data set."""
    real: list[Path]
    """Folders with tables of real runs, to compare simulated searches with."""


def joined(records: Iterable[Path], simulation: Simulation) -> pd.DataFrame:
    """Return a row per evaluation of `records` and of the published trainings."""
    tables = [published_curves(folder, simulation.trainings) for folder in simulation.published]
    table = pd.concat([*tables, tabulated(map(read_curves, records))]).drop_duplicates(ROW)
    if table.empty:
        raise UserError("learning_curves: there are none, and train is false")
    return table


def simulated(
    curves: pd.DataFrame, simulation: Simulation, processes: int
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield name and content of each table of the searches that are simulated on `curves`."""
    searches = simulation.searches
    recorded = complete(curves, searches)
    found = compared(recorded, processes)
    checks = [pd.DataFrame(columns=CHECKED)]
    for folder in simulation.real:
        runs, protocols = read_csv(folder / "runs.csv"), read_json(folder / "protocols.json")
        checks.append(against_real(found, searches, runs, protocols))
    contents = (
        found.drop(columns=INTERNAL),
        contrasts(found, {dataset: it.kind for dataset, it in searches.items()}),
        noise(recorded),
        pd.concat(checks),
    )
    yield from zip(TABLES, contents, strict=True)


def compared(recorded: Mapping[str, DatasetCurves], processes: int = 1) -> pd.DataFrame:
    """Return a row for each data set, scheduler and method, simulated by this many `processes`.

    Regret is in points of test accuracy: FULL's choice, trained on all data, minus the method's, on
    the same pool, in the same order, under the same seed. Raises UserError if no scheduler can be
    simulated.
    """
    panels = [
        (dataset, here, scheduler)
        for dataset, here in recorded.items()
        for scheduler in here.searches.schedulers
    ]
    if not panels:
        valid = ", ".join(name for name in SCHEDULERS if name not in ALL_DATA_SCHEDULERS)
        raise UserError(
            f"learning_curves: no scheduler of this configuration can be simulated; valid: {valid}"
        )
    with ProcessPoolExecutor(processes) as pool:
        return pd.concat(pool.map(_panel, *zip(*panels, strict=True)), ignore_index=True)


def _panel(dataset: str, recorded: DatasetCurves, scheduler: str) -> pd.DataFrame:
    searches, seeds = recorded.searches, len(recorded.seeds)
    others = [name for name in searches.schedulers if name != scheduler]
    every = list(methods(recorded.curves, others, repeated=seeds > 1))
    sample = sample_of(searches, seeds)
    outcomes = list(Comparison(searches, recorded.curves, scheduler, sample).outcomes(every))
    rows = []
    for method, outcome in zip(every, outcomes, strict=True):
        rows.append(
            {
                "dataset": dataset,
                "search": "random",
                "scheduler": scheduler,
                "method": method.name,
                **method.strategy._asdict(),
                "metric": method.metric,
                "finalists": method.finalists,
                "seeds": seeds,
                **_numbers(outcome, full=outcomes[0]),
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


def sample_of(searches: Simulated, seeds: int) -> Sample:
    """Return `SEARCHES` searches of the pool, then the searches of each resample."""
    generator = np.random.default_rng(derive(0, "simulated searches"))
    parts = [_drawn(generator, searches.pool, seeds, SEARCHES)]
    for _ in range(RESAMPLES):
        members = generator.integers(0, searches.pool, searches.pool)
        kept = generator.integers(0, seeds, seeds)
        part = _drawn(generator, searches.pool, seeds, SEARCHES_EACH)
        parts.append(Sample(members[part.order], kept[part.seeds], kept[part.repeat_seeds]))
    return Sample(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _drawn(generator: np.random.Generator, pool: int, seeds: int, count: int) -> Sample:
    """Return searches that see the pool in different orders, under one of the seeds each."""
    order = generator.random((count, pool)).argsort(axis=1)
    places = generator.integers(0, seeds, count)
    return Sample(order, places, (places + 1) % seeds)


def contrasts(found: pd.DataFrame, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return how much more one method loses than another: a row for each scheduler, pair and kind.

    `found` are the rows of `compared`, and `kinds` the kinds of the data sets. RS2 with a horizon
    exponent is compared with RS2 without one. A difference is the mean over the data sets of a kind
    and the fractions that both methods have.
    """
    usual = _usual(found)
    usual = usual[usual["selector"] != "full"].assign(kind=usual["dataset"].map(kinds))
    method = ["selector", "horizon_exponent"]
    panel = ["scheduler", "kind", "dataset", "fraction"]
    pairs = [(one, 0.0, other) for one, other in PAIRS]
    pairs += [("rs2", it, "rs2") for it in sorted(set(usual["horizon_exponent"])) if it]
    rows = []
    for selector, exponent, other in pairs:
        sides = [
            usual[(usual[method] == strategy).all(axis=1)].set_index(panel)
            for strategy in ((selector, exponent), (other, 0.0))
        ]
        columns = ["regret", "resampled"]
        apart = (sides[0][columns] - sides[1][columns]).dropna()
        for (scheduler, kind), some in apart.groupby(["scheduler", "kind"]):
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


def noise(recorded: Mapping[str, DatasetCurves]) -> pd.DataFrame:
    """Return how far two trainings on all data differ by their seed alone, in points.

    A row is a data set with several seeds: the mean absolute difference of the scores of one
    configuration at T, over the pool and pairs of seeds. `best` is that of the test scores in the
    quarter of the pool with the highest mean validation accuracy.
    """
    rows = []
    for dataset, here in recorded.items():
        full = here.curves[FULL]
        validation = full.accuracy[:, :, -1]
        places = np.argsort(-validation.mean(axis=0), kind="stable")
        best = full.test[:, places[: len(places) // 4]]
        if len(here.seeds) > 1:
            rows.append(
                {
                    "dataset": dataset,
                    "seeds": len(here.seeds),
                    "validation": _apart(validation),
                    "test": _apart(full.test),
                    "best": _apart(best),
                }
            )
    return pd.DataFrame(rows, columns=["dataset", "seeds", "validation", "test", "best"])


def _apart(scores: Floats) -> float:
    """Return the mean absolute difference of two rows, in points."""
    return float(100 * np.mean([np.abs(a - b) for a, b in combinations(scores, 2)]))


def against_real(
    simulated: pd.DataFrame,
    searches: Mapping[str, Simulated],
    runs: pd.DataFrame,
    protocols: Mapping[str, Any],
) -> pd.DataFrame:
    """Return a row for each real search that has simulated counterparts.

    `runs` and `protocols` are tables of `automata collect`. A search is `inside` if its test
    accuracy is in the central 95 % of those of simulated searches with the same training, search
    space and size. It is `from_pool` if it is the random search that proposed the pool, and then it
    proves little.
    """
    full = runs["selector"].isin(names.ALL_DATA_CONTROLS)
    settings = [protocols[it] for it in runs["protocol_hash"]]
    exponents = [it["protocol"].get("horizon_exponent", 0.0) for it in settings]
    real = runs.assign(
        selector=runs["selector"].mask(full, FULL.selector),
        horizon_exponent=pd.Series(exponents, runs.index).mask(full, 0.0),
    )
    real = real[
        [
            run["dataset"] in searches and _is_simulated(run, own, searches[run["dataset"]])
            for run, own in zip(real.to_dict("records"), settings, strict=True)
        ]
    ]
    usual = _usual(simulated)
    one_epoch = usual[usual["method"] == names.ONE_EPOCH].drop_duplicates("dataset")
    plain = usual[(usual["selector"] != FULL.selector) | (usual["method"] == names.FULL)]
    counterparts = pd.concat([plain, one_epoch.assign(scheduler="one-epoch")])
    found = real[[*SAME, "seed", "test_accuracy"]].merge(
        counterparts[[*SAME, "method", "test_low", "test_high"]], on=SAME
    )
    found["inside"] = found["test_accuracy"].between(found["test_low"], found["test_high"])
    found["from_pool"] = found["seed"] == POOL_SEED
    return found[CHECKED].sort_values([*SAME, "seed"], ignore_index=True)


def _usual(found: pd.DataFrame) -> pd.DataFrame:
    """Return the methods without finalists that compare trials by accuracy."""
    return found[(found["metric"] == "accuracy") & (found["finalists"] == 1)]


def _is_simulated(run: Mapping[Any, Any], settings: Mapping[str, Any], asked: Simulated) -> bool:
    """Return whether searches with the settings of a real run are simulated."""
    protocol = settings["protocol"]
    space = {name: domain.model_dump(mode="json") for name, domain in asked.space.items()}
    warm_start = settings["scheduler"].get(run["scheduler"], {}).get("warm_start", 0.0)
    return bool(
        protocol["search_space"] == space
        and protocol["configurations"] == asked.configurations
        and protocol["epochs"] == asked.epochs
        and protocol.get("metric", "accuracy") == "accuracy"
        and protocol.get("finalists", 1) == 1
        and "screen_metric" not in protocol
        and not isinstance(protocol.get("horizon_exponent"), list)
        and (warm_start == 0 or run["selector"] == FULL.selector)
    )
