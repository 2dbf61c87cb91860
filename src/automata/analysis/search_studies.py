"""What went on inside searches: the best configurations, how scores rank them, progress in time.

Whether scores from subsets rank configurations as scores from all data do is the premise of the
paper's method, which it does not show; measured by Kendall's tau-b.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.ratios import NOT_COMPARABLE, PAIR
from automata.analysis.statistics import (
    Spread,
    Values,
    count_units,
    interval,
    known,
    mean_of,
    of_units,
    spread_over,
    sum_of,
    summarise,
    tau,
)
from automata.analysis.study import COMBINATION, RUN, Study
from automata.analysis.tables import joined

SAME_SCORES = ["epochs", "training_version", "data_sha256", "own_model_sha256", "protocol_hash"]
"""Runs that differ in one of these do not score the same thing. Hosts and times may differ."""

BASE = 3
"""Rungs of different protocols are grouped by the nearest of T, T/3, T/9, ..."""

CONFIGURATION = "configuration."
"""Before the name of a hyper-parameter: a user's may have the name of another column."""

CLOCKS = ("elapsed_seconds", "elapsed_joules")
"""Columns of the trials that a search is followed along, from the start of its first trial."""

Protocols = dict[str, Any]
"""The settings behind each `protocol_hash` of the runs."""

Curve = tuple[Values, Values]
"""Times and values of steps."""


def best(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run: its best configuration, with a column per hyper-parameter.

    A hyper-parameter that a model does not have is missing.
    """
    facts = [*RUN, "model", "best_index", "best_epochs", "best_validation_accuracy"]
    found = [json.loads(text) for text in runs["best_configuration_json"]]
    names = sorted({name for configuration in found for name in configuration})
    values = {
        f"{CONFIGURATION}{name}": [configuration.get(name) for configuration in found]
        for name in names
    }
    return runs[[*facts, "test_accuracy", "record"]].assign(**values)


def rank_agreement_of(study: Study) -> pd.DataFrame:
    """Return the table of `rank_agreement` of a study."""
    return rank_agreement(study.once(agreements))


def rank_agreement(agreements: pd.DataFrame) -> pd.DataFrame:
    """Return Kendall's tau-b between a selector's scores and FULL's, per combination and rung.

    `agreements` is the table of `per_seed`.
    Compared are validation accuracies of the same configuration, in the run and in the FULL run
    of its data set, search, scheduler and seed, when both were at rung `epoch` (of `epochs`, the
    T of the protocol). A configuration that stands twice in a search is paired in its order.
    At later rungs only survivors of both searches are left: alike, and hence harder to rank, so
    that a tau there does not compare with one at an early rung. A search that models earlier
    scores (TPE) proposes other configurations in the two runs; only common ones count.
    `full-again` against FULL is the noise ceiling: what training seeds alone leave of the ranks.

    `tau` is the mean over `seeds`, with bounds as the tradeoff table has them, and `pairs` the
    number of configurations compared in all of these; `accuracy` and `full_accuracy` are the means
    of what was compared, over configurations and these seeds. A seed with fewer than FEWEST_PAIRS,
    or with one score for all, has no tau and counts as `seeds_left_out`. So does every seed at a
    rung within the `warm_start_epochs`, which train on all data: there the run is a FULL run.
    """
    counted = agreements["tau"].notna()
    compared = ["pairs", "accuracy", "full_accuracy"]
    return summarise(
        agreements.assign(**{name: agreements[name].where(counted) for name in compared}),
        [*COMBINATION, "epoch", "epochs", "warm_start_epochs"],
        {
            "tau": Spread(known("tau")),
            "interval": lambda group: interval(group["tau"].count()),
            "seeds": lambda group: group["tau"].count(),
            "seeds_left_out": lambda group: group["tau"].isna().sum(),
            "pairs": sum_of("pairs"),
            "accuracy": mean_of("accuracy"),
            "full_accuracy": mean_of("full_accuracy"),
        },
        ["record", "full_record"],
    )


def by_rung(agreements: pd.DataFrame) -> pd.DataFrame:
    """Return mean taus per scheduler, selector, subset size and group of rungs.

    `agreements` is the table of `per_seed`. Group `level` has the rungs nearest to T / 3^level;
    `percent` is the geometric mean of their epochs in percent of T. What varies is as in
    `automata.analysis.statistics.spread_over`: `tau` is the mean of these units' means.
    """
    taus = agreements[agreements["tau"].notna()]
    share = (taus["epoch"] / taus["epochs"]).astype(float)
    level = np.round(-np.log(share) / math.log(BASE)).astype(int)
    return summarise(
        taus.assign(level=level, log_percent=np.log(100 * share)),
        ["scheduler", "selector", "fraction", "level"],
        {
            "percent": lambda group: math.exp(group["log_percent"].mean()),
            "tau": Spread(lambda group: of_units(group, "tau")),
            "interval": lambda group: interval(count_units(group)),
            "over": lambda group: spread_over(group)[1],
            "units": count_units,
            "runs": lambda group: group["record"].nunique(),
            "pairs": sum_of("pairs"),
        },
        ["record", "full_record"],
    )


def agreements(study: Study) -> pd.DataFrame:
    """Return the table of `per_seed` of a study."""
    return per_seed(study.runs, study.trials, study.protocols)


def per_seed(runs: pd.DataFrame, trials: pd.DataFrame, protocols: Protocols) -> pd.DataFrame:
    """Return tau, the number of pairs and their mean accuracies per run and rung.

    Tau is missing where there is none.
    """
    scores = _scores(runs, trials)
    full = scores[scores["selector"] == "full"].drop(columns=["selector", "fraction"])
    others = scores[scores["selector"] != "full"]
    same = [*PAIR, *SAME_SCORES, "configuration", "occurrence", "epoch"]
    both = others.merge(full, on=same, suffixes=("", "_full"))
    table = summarise(
        both.rename(columns={"record_full": "full_record", "accuracy_full": "full_accuracy"}),
        [*COMBINATION, "seed", "epoch", "epochs", "protocol_hash", "record", "full_record"],
        {
            "pairs": len,
            "accuracy": mean_of("accuracy"),
            "full_accuracy": mean_of("full_accuracy"),
            "tau": lambda group: tau(
                group["accuracy"].to_numpy(), group["full_accuracy"].to_numpy()
            ),
        },
    )
    warm = [warm_start_epochs(run, protocols) for run in table.to_dict("records")]
    table["warm_start_epochs"] = pd.Series(warm, table.index, dtype=int)
    table["tau"] = table["tau"].where(table["epoch"] > table["warm_start_epochs"])
    return table


def warm_start_epochs(run: Mapping[Any, Any], protocols: Protocols) -> int:
    """Return how many epochs a trial of the run first trains on all data, as training has it."""
    schedulers = protocols.get(run["protocol_hash"], {}).get("scheduler", {})
    share: float = schedulers.get(run["scheduler"], {}).get("warm_start", 0.0)
    if run["selector"] == "full-again":  # all its epochs are on all data, by design
        return 0
    return math.ceil(share * int(run["epochs"]) * float(run["fraction"]))


def _scores(runs: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the evaluations at rungs, with what their runs must share to compare."""
    at_rungs = trials[trials["rung"].astype(bool)].sort_values(["record", "epoch", "index"])
    shared = runs[["record", *SAME_SCORES]].copy()
    shared["own_model_sha256"] = shared["own_model_sha256"].fillna("")
    scores = at_rungs.merge(shared, on="record")
    scores["occurrence"] = scores.groupby(["record", "epoch", "configuration"]).cumcount()
    columns = [*COMBINATION, "seed", "epoch", "configuration", "occurrence", "accuracy", "record"]
    return scores[[*columns, *SAME_SCORES]]


def anytime(trials: pd.DataFrame, clock: str = CLOCKS[0]) -> pd.DataFrame:
    """Return a row per combination and time: the best validation accuracy so far, over seeds.

    `at` is in the unit of `clock`, one of CLOCKS, at every time where a seed improved or ended,
    from when all seeds have their first score. `median`, `low` (smallest) and `high` (largest)
    hold until the next row: these are steps. A seed whose search is over keeps its best. Counted
    are evaluations at rungs, which the search saw, those of trials that it stopped later included:
    in a subset selector's search they are of models trained on subsets, so that the curves of two
    selectors compare in time rather than in height. A combination with a run without `clock` is
    left out.
    """
    at_rungs = trials[trials["rung"].astype(bool)]
    rows: list[list[object]] = []
    for combination, group in at_rungs.groupby(COMBINATION, sort=True):
        if group[clock].notna().all():
            curves = [steps(run[clock], run["accuracy"]) for _, run in group.groupby("seed")]
            closing = [len(curves), joined(group["record"].unique())]
            rows += [[*combination, *step, *closing] for step in _over(curves)]
    columns = [*COMBINATION, "at", "median", "low", "high", "seeds", "records"]
    return pd.DataFrame(rows, columns=columns)


def comparable(trials: pd.DataFrame, ratios: pd.DataFrame, clock: str) -> pd.DataFrame:
    """Return the trials of runs whose clocks agree with FULL's, by the table of ratios.

    Seconds of another host or protocol are left out, and joules that were obtained otherwise.
    Where FULL was not run all are kept.
    """
    apart = ratios["refused"].fillna("").str.startswith(NOT_COMPARABLE)
    if clock == "elapsed_joules":
        both = ratios["energy_method"].notna() & ratios["full_record"].notna()
        apart |= both & ratios["energy_ratio"].isna()
    return trials[~trials["record"].isin(set(ratios.loc[apart, "record"]))]


def steps(times: pd.Series[float], scores: pd.Series[float]) -> Curve:
    """Return when the best score so far rose, and to what, and last the end of the search.

    Scores may come in any order.
    """
    order = np.argsort(times.to_numpy(np.float64), kind="stable")
    at = times.to_numpy(np.float64)[order]
    so_far = np.maximum.accumulate(scores.to_numpy(np.float64)[order])
    rose = np.concatenate([[True], np.diff(so_far) > 0])
    rose[-1] = True
    return at[rose], so_far[rose]


def _over(curves: list[Curve]) -> Values:
    """Return median and range of step curves, at all their times from when all have begun."""
    begun = max(at[0] for at, _ in curves)
    union = np.unique(np.concatenate([at for at, _ in curves]))
    times = union[union >= begun]
    values = np.stack([so_far[np.searchsorted(at, times, "right") - 1] for at, so_far in curves])
    return np.stack([times, np.median(values, 0), values.min(0), values.max(0)], axis=1)
