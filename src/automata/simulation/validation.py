"""How far simulated searches can be trusted: real searches, noise of a score, rank correlation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from automata import names
from automata.simulation.asked import Simulated
from automata.simulation.methods import Method
from automata.simulation.table import FULL, Complete, Curved, Way

METRICS = ("accuracy", "log_loss")

SAME = ["dataset", "search", "scheduler", *Way._fields]
"""What a real search and simulated ones have in common."""

HELD = [
    *(*SAME, "seed", "test_accuracy", "method", "test_low", "test_high"),
    *("inside", "from_pool"),
]
"""Columns of `against_real`."""


def against_real(
    simulated: pd.DataFrame,
    asked: Mapping[str, Simulated],
    runs: pd.DataFrame,
    protocols: Mapping[str, Any],
) -> pd.DataFrame:
    """Return a row for each real search of which there are simulated ones.

    `runs` and `protocols` are tables of `automata collect`. A search is `inside` if its test
    accuracy lies in the central 95 % of those of simulated searches that train in the same way, on
    the same search space. It is `from_pool` if it is the random search that proposed the pool: then
    it proves little.
    """
    real = runs[runs["selector"] != "untuned"]
    alike = [
        run["dataset"] in asked
        and _is_of(asked[run["dataset"]], protocols[run["protocol_hash"]]["protocol"])
        for run in real.to_dict("records")
    ]
    real = real[alike]
    ways = [_way(run, protocols[run["protocol_hash"]]) for run in real.to_dict("records")]
    real[list(Way._fields)] = pd.DataFrame(ways, real.index, Way._fields)
    usual = simulated[(simulated["metric"] == "accuracy") & (simulated["finalists"] == 1)]
    one_epoch = usual[usual["method"] == names.ONE_EPOCH].assign(scheduler="one-epoch")
    plain = pd.concat(
        [
            usual[(usual["selector"] != "full") | (usual["method"] == names.FULL)],
            one_epoch.drop_duplicates(["dataset", "search"]),  # the same under each scheduler
        ]
    )
    found = real[[*SAME, "seed", "test_accuracy"]].merge(
        plain[[*SAME, "method", "test_low", "test_high"]], on=SAME
    )
    found["inside"] = found["test_accuracy"].between(found["test_low"], found["test_high"])
    pools = found["dataset"].map({name: it.pool_seed for name, it in asked.items()})
    found["from_pool"] = (found["search"] == "random") & (found["seed"] == pools)
    return found[HELD].sort_values([*SAME, "seed"], ignore_index=True)


def _is_of(asked: Simulated, protocol: Mapping[str, Any]) -> bool:
    """Say whether a search by that `protocol` is one that is simulated as it is."""
    space = {name: domain.model_dump(mode="json") for name, domain in asked.space.items()}
    size = protocol["configurations"], protocol["epochs"]
    usual = protocol.get("metric", "accuracy"), protocol.get("finalists", 1)
    return bool(
        protocol["search_space"] == space
        and size == (asked.configurations, asked.epochs)
        and usual == ("accuracy", 1)
    )


def _way(run: Mapping[Any, Any], settings: Mapping[str, Any]) -> Way:
    """Return how the trials of a real run trained; `settings` are its entry of the protocols."""
    if run["selector"] in names.ALL_DATA_CONTROLS:
        return FULL
    return Way(
        run["selector"],
        run["fraction"],
        settings["scheduler"].get(run["scheduler"], {}).get("warm_start", 0.0),
        settings["protocol"].get("horizon_exponent", 0.0),
    )


def noise(recorded: Mapping[str, Complete]) -> pd.DataFrame:
    """Return how far two trainings on all data differ by their seed alone, in points.

    A row per data set: the mean absolute difference of the scores of one configuration at T, over
    the pool and pairs of seeds; `best` is that of test scores in the quarter of the pool with the
    highest mean validation accuracy.
    """
    rows = []
    for dataset, _, full in _repeated(recorded):
        scores = {"validation": full.accuracy[:, :, -1], "test": full.test}
        pairs = [(a, b) for a in range(len(full.test)) for b in range(a)]
        places = np.argsort(-scores["validation"].mean(axis=0), kind="stable")
        scores["best"] = full.test[:, places[: len(places) // 4]]
        apart = {
            name: 100 * np.mean([np.abs(of[a] - of[b]) for a, b in pairs])
            for name, of in scores.items()
        }
        rows.append({"dataset": dataset, "seeds": len(full.test), **apart})
    return pd.DataFrame(rows, columns=["dataset", "seeds", "validation", "test", "best"])


def rank_correlation(recorded: Mapping[str, Complete]) -> pd.DataFrame:
    """Return Kendall's tau-b of scores at each epoch with FULL's accuracy at T.

    The two are of different training seeds; `ceiling` is the tau of FULL's accuracy at T with
    itself, under different seeds: the most that a score can be expected to reach.
    """
    rows: list[dict[str, Any]] = []
    for dataset, here, full in _repeated(recorded):
        ceiling = _tau(full.accuracy[:, :, -1], full)
        for way, trained in here.curves.items():
            said = {"dataset": dataset, "method": Method(way).name, **way._asdict()}
            rows += ({**said, **one, "ceiling": ceiling} for one in _taus(trained, full))
    return pd.DataFrame(rows)


def _repeated(recorded: Mapping[str, Complete]) -> Iterator[tuple[str, Complete, Curved]]:
    """Yield data sets with curves under several seeds, and those of FULL."""
    for dataset, here in recorded.items():
        if len(here.seeds) > 1:
            yield dataset, here, here.curves[FULL]


def _taus(trained: Curved, full: Curved) -> Iterator[dict[str, Any]]:
    for metric in METRICS:
        for place, epoch in enumerate(trained.epochs):
            tau = _tau(trained.scores(metric)[:, :, place], full)
            yield {"metric": metric, "epoch": epoch, "tau": tau}


def _tau(scores: np.ndarray[Any, Any], full: Curved) -> float:
    """Return the mean tau of scores (s, p) under one seed with FULL's under the others."""
    last = full.accuracy[:, :, -1]
    seeds = range(len(last))
    pairs = [(a, b) for a in seeds for b in seeds if a != b]
    # Scores that are all equal order nothing: 0.
    return float(np.mean([np.nan_to_num(kendalltau(scores[a], last[b])[0]) for a, b in pairs]))
