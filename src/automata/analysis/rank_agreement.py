"""Whether scores from subsets rank configurations as scores from all data do.

The premise of the paper's method, which it does not show; measured by Kendall's tau-b.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.equal_code import by_origin
from automata.analysis.ratios import PAIR
from automata.analysis.statistics import bounds, bounds_of_each, interval, spread_over, tau
from automata.analysis.study import COMBINATION, Study, of_one_protocol
from automata.analysis.tables import joined

SAME_SCORES = ["epochs", "training_code", "data_sha256", "own_model_sha256", "protocol_hash"]
"""Runs that differ in one of these do not score the same thing. Hosts and times may differ.

Code that is declared equal in decisions and numbers is no difference.
"""

COLUMNS = [
    *COMBINATION,
    "epoch",
    "epochs",
    "warm_start_epochs",
    "tau",
    "tau_low",
    "tau_high",
    "interval",
    "seeds",
    "seeds_left_out",
    "pairs",
    "accuracy",
    "full_accuracy",
    "records",
]


Protocols = dict[str, Any]
"""The settings behind each `protocol_hash` of the runs."""


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

    `tau` is the mean over `seeds`, with `bounds` as the tradeoff table has them, and `pairs` the
    number of configurations compared in all of these; `accuracy` and `full_accuracy` are the means
    of what was compared, over configurations and these seeds. A seed with fewer than FEWEST_PAIRS,
    or with one score for all, has no tau and counts as `seeds_left_out`. So does every seed at a
    rung within the `warm_start_epochs`, which train on all data: there the run is a FULL run.
    """
    rows: list[dict[str, object]] = []
    samples = []
    axes = [*COMBINATION, "epoch", "epochs", "warm_start_epochs"]
    for key, group in agreements.groupby(axes, sort=True):
        known = group[group["tau"].notna()]
        taus = known["tau"].to_numpy(np.float64)
        samples.append(taus)
        rows.append(
            {
                **dict(zip(axes, key, strict=True)),
                "tau": taus.mean() if len(taus) else np.nan,
                "interval": interval(len(taus)),
                "seeds": len(taus),
                "seeds_left_out": len(group) - len(taus),
                "pairs": int(known["pairs"].sum()),
                "accuracy": known["accuracy"].mean(),
                "full_accuracy": known["full_accuracy"].mean(),
                "records": joined([*group["record"], *group["full_record"]]),
            }
        )
    for row, (low, high) in zip(rows, bounds_of_each(samples), strict=True):
        row |= {"tau_low": low, "tau_high": high}
    return pd.DataFrame(rows, columns=COLUMNS)


BASE = 3
"""Rungs of different protocols are grouped by the nearest of T, T/3, T/9, ..."""

BY_RUNG_COLUMNS = [
    "scheduler",
    "selector",
    "fraction",
    "level",
    "percent",
    "tau",
    "tau_low",
    "tau_high",
    "interval",
    "over",
    "units",
    "runs",
    "pairs",
    "records",
]


def by_rung(agreements: pd.DataFrame) -> pd.DataFrame:
    """Return mean taus per scheduler, selector, subset size and group of rungs.

    `agreements` is the table of `per_seed`. Group `level` has the rungs nearest to T / 3^level;
    `percent` is the geometric mean of their epochs in percent of T. What varies is as in
    `automata.analysis.resampling.spread_over`: `tau` is the mean of these units' means.
    """
    known = of_one_protocol(agreements[agreements["tau"].notna()]).copy()
    share = (known["epoch"] / known["epochs"]).astype(float)
    known["log_percent"] = np.log(100 * share)
    known["level"] = np.round(-np.log(share) / math.log(BASE)).astype(int)
    axes = ["scheduler", "selector", "fraction", "level"]
    rows = []
    for key, group in known.groupby(axes, sort=True):
        unit, over = spread_over(group)
        taus = group.groupby(unit)["tau"].mean().to_numpy(np.float64)
        low, high = bounds(taus)
        rows.append(
            {
                **dict(zip(axes, key, strict=True)),
                "percent": math.exp(group["log_percent"].mean()),
                "tau": taus.mean(),
                "tau_low": low,
                "tau_high": high,
                "interval": interval(len(taus)),
                "over": over,
                "units": len(taus),
                "runs": group["record"].nunique(),
                "pairs": int(group["pairs"].sum()),
                "records": joined([*group["record"], *group["full_record"]]),
            }
        )
    return pd.DataFrame(rows, columns=BY_RUNG_COLUMNS)


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
    axes = [*COMBINATION, "seed", "epoch", "epochs", "protocol_hash", "record", "record_full"]
    rows = []
    for key, group in both.groupby(axes, sort=True):
        row: dict[str, Any] = dict(zip(axes, key, strict=True))
        warm = warm_start_epochs(row, protocols)
        on_subsets = row["epoch"] > warm
        own, other = group["accuracy"].to_numpy(), group["accuracy_full"].to_numpy()
        row |= {"warm_start_epochs": warm, "pairs": len(group)}
        row |= {"accuracy": own.mean(), "full_accuracy": other.mean()}
        rows.append({**row, "tau": tau(own, other) if on_subsets else np.nan})
    columns = [*axes, "warm_start_epochs", "pairs", "accuracy", "full_accuracy", "tau"]
    return pd.DataFrame(rows, columns=columns).rename(columns={"record_full": "full_record"})


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
    shared = by_origin(runs, times=False)[["record", *SAME_SCORES]].copy()
    shared["own_model_sha256"] = shared["own_model_sha256"].fillna("")
    scores = at_rungs.merge(shared, on="record")
    scores["occurrence"] = scores.groupby(["record", "epoch", "configuration"]).cumcount()
    columns = [*COMBINATION, "seed", "epoch", "configuration", "occurrence", "accuracy", "record"]
    return scores[[*columns, *SAME_SCORES]]
