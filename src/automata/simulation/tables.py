"""All tables of simulated searches, with checks against real searches and of a score's noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automata import names
from automata.analysis.tables import read_csv, read_json
from automata.config.base import Section
from automata.errors import UserError
from automata.simulation import TABLES
from automata.simulation.grid import POOL_SEED, Simulated, read_curves
from automata.simulation.published import ROW, published_curves, tabulated
from automata.simulation.study import INTERNAL, compared, contrasts
from automata.simulation.table import FULL, Recorded, Strategy, complete

SAME = ["dataset", "search", "scheduler", *Strategy._fields]
"""Columns that a real search and its simulated counterparts share."""

COLUMNS = [*SAME, "seed", "test_accuracy", "method", "test_low", "test_high", "inside", "from_pool"]
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


def joined(records: Iterable[Path], asked: Simulation) -> pd.DataFrame:
    """Return a row per evaluation of `records` and of the published trainings."""
    tables = [published_curves(folder, asked.trainings) for folder in asked.published]
    table = pd.concat([*tables, tabulated(map(read_curves, records))]).drop_duplicates(ROW)
    if table.empty:
        raise UserError("learning_curves: there are none, and train is false")
    return table


def simulated(
    curves: pd.DataFrame, asked: Simulation, processes: int
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield name and content of each table of the searches that are simulated on `curves`."""
    recorded = complete(curves, asked.searches)
    found = compared(recorded, processes)
    checks = [pd.DataFrame(columns=COLUMNS)]
    for folder in asked.real:
        runs, protocols = read_csv(folder / "runs.csv"), read_json(folder / "protocols.json")
        checks.append(against_real(found, asked.searches, runs, protocols))
    contents = (
        found.drop(columns=INTERNAL),
        contrasts(found, {dataset: it.kind for dataset, it in asked.searches.items()}),
        noise(recorded),
        pd.concat(checks),
    )
    yield from zip(TABLES, contents, strict=True)


def against_real(
    simulated: pd.DataFrame,
    asked: Mapping[str, Simulated],
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
            run["dataset"] in asked and _is_simulated(run, own, asked[run["dataset"]])
            for run, own in zip(real.to_dict("records"), settings, strict=True)
        ]
    ]
    usual = simulated[(simulated["metric"] == "accuracy") & (simulated["finalists"] == 1)]
    one_epoch = usual[usual["method"] == names.ONE_EPOCH].drop_duplicates("dataset")
    subsets = usual["selector"] != FULL.selector
    plain = [
        usual[subsets | (usual["method"] == names.FULL)],
        one_epoch.assign(scheduler="one-epoch"),
    ]
    found = real[[*SAME, "seed", "test_accuracy"]].merge(
        pd.concat(plain)[[*SAME, "method", "test_low", "test_high"]], on=SAME
    )
    found["inside"] = found["test_accuracy"].between(found["test_low"], found["test_high"])
    found["from_pool"] = found["seed"] == POOL_SEED
    return found[COLUMNS].sort_values([*SAME, "seed"], ignore_index=True)


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
        and (warm_start == 0 or run["selector"] == FULL.selector)
    )


def noise(recorded: Mapping[str, Recorded]) -> pd.DataFrame:
    """Return how far two trainings on all data differ by their seed alone, in points.

    A row is a data set with several seeds: the mean absolute difference of the scores of one
    configuration at T, over the pool and pairs of seeds. `best` is that of the test scores in the
    quarter of the pool with the highest mean validation accuracy.
    """
    rows = []
    for dataset, here in recorded.items():
        full = here.curves[FULL]
        scores = {"validation": full.accuracy[:, :, -1], "test": full.test}
        places = np.argsort(-scores["validation"].mean(axis=0), kind="stable")
        scores["best"] = full.test[:, places[: len(places) // 4]]
        if pairs := [(a, b) for a in range(len(here.seeds)) for b in range(a)]:
            apart = {
                name: 100 * np.mean([np.abs(of[a] - of[b]) for a, b in pairs])
                for name, of in scores.items()
            }
            rows.append({"dataset": dataset, "seeds": len(here.seeds), **apart})
    return pd.DataFrame(rows, columns=["dataset", "seeds", "validation", "test", "best"])
