"""Inside the searches: how scores rank configurations.

The paper assumes that scores from subsets rank configurations as scores from all data do.
Kendall's tau-b tests this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.ratios import PAIR
from automata.analysis.statistics import UNITS, Spread, of_units, summarise, tau
from automata.analysis.study import COMBINATION, Study

SAME_SCORES = ["epochs", "training_version", "data_sha256", "own_model_sha256", "protocol_hash"]
"""Columns that must be equal for two runs' scores to compare. Hosts and times may differ."""


@cache
def rank_agreement(study: Study) -> pd.DataFrame:
    """Return mean taus per scheduler, selector, subset size and group of rungs.

    The group `level` has the rungs nearest to T / 3^level; `percent` is the geometric mean of their
    epochs in percent of T. `tau` is the mean over `units` (`statistics.unit_of`).
    """
    taus = agreements(study)
    taus = taus[taus["tau"].notna()]
    share = (taus["epoch"] / taus["epochs"]).astype(float)
    level = np.round(-np.log(share) / math.log(3)).astype(int)
    table = summarise(
        taus.assign(level=level, log_percent=np.log(100 * share)),
        ["scheduler", "selector", "fraction", "level"],
        {
            "percent": lambda group: math.exp(group["log_percent"].mean()),
            "tau": Spread(of_units("tau")),
            **UNITS,
            "datasets": lambda group: group["dataset"].nunique(),
            "runs": lambda group: group["record"].nunique(),
            "pairs": lambda group: group["pairs"].sum(),
        },
        ["record", "full_record"],
    )
    ends = ["tau_low", "tau_high"]
    return table.assign(**table[ends].astype(float).clip(-1, 1))


@cache
def agreements(study: Study) -> pd.DataFrame:
    """Return Kendall's tau-b between the scores of a run and of its FULL run, per run and rung.

    Scores are validation accuracies of the `pairs` configurations that both runs tried. Taus of
    early and late rungs do not compare: only survivors of both searches, which are harder to rank,
    reach late rungs. `tau` is missing where `statistics.tau` is, and within the
    `warm_start_epochs`, while both runs train on all data.
    """
    scores = _scores(study)
    full = scores[scores["selector"] == "full"].drop(columns=["selector", "fraction"])
    others = scores[scores["selector"] != "full"]
    same = [*PAIR, *SAME_SCORES, "configuration", "occurrence", "epoch"]
    both = others.merge(full, on=same, suffixes=("", "_full"))
    table = summarise(
        both.rename(columns={"record_full": "full_record"}),
        [*COMBINATION, "seed", "epoch", "epochs", "protocol_hash", "record", "full_record"],
        {
            "pairs": len,
            "tau": lambda group: tau(
                group["accuracy"].to_numpy(), group["accuracy_full"].to_numpy()
            ),
        },
    )
    warm = [warm_start_epochs(run, study.protocols) for run in table.to_dict("records")]
    table["warm_start_epochs"] = pd.Series(warm, table.index, dtype=int)
    table["tau"] = table["tau"].where(table["epoch"] > table["warm_start_epochs"])
    return table


def warm_start_epochs(run: Mapping[Any, Any], protocols: dict[str, Any]) -> int:
    """Return the epochs of a trial's warm start on all data, as training computes them."""
    schedulers = protocols.get(run["protocol_hash"], {}).get("scheduler", {})
    share: float = schedulers.get(run["scheduler"], {}).get("warm_start", 0.0)
    if run["selector"] == "full-again":  # trains on all data throughout
        return 0
    return math.ceil(share * int(run["epochs"]) * float(run["fraction"]))


def _scores(study: Study) -> pd.DataFrame:
    """Return the evaluations at rungs, with SAME_SCORES of their runs."""
    shared = study.runs[["record", *SAME_SCORES]].fillna({"own_model_sha256": ""})
    # A trial that has ended by patience repeats its last score at each rung.
    trials = study.trials.drop_duplicates(["record", "index", "epoch"])
    scores = trials.sort_values(["record", "epoch", "index"]).merge(shared, on="record")
    occurrence = scores.groupby(["record", "epoch", "configuration"]).cumcount()
    return scores.assign(occurrence=occurrence)
