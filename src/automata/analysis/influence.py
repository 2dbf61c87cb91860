"""Whether the value of a hyper-parameter tells how well it scores, by subset size.

A subset that misleads a search does so by some hyper-parameter: one whose influence on the score
it hides, or invents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from numbers import Real

import numpy as np
import pandas as pd

from automata.analysis.rank_agreement import Protocols, warm_start_epochs
from automata.analysis.statistics import bounds_of_each, interval, tau
from automata.analysis.study import PANEL, RUN, Study
from automata.analysis.tables import joined

AXES = [*PANEL, "hyper-parameter", "fraction", "epoch", "epochs"]

COLUMNS = [
    *AXES,
    "tau",
    "tau_low",
    "tau_high",
    "interval",
    "seeds",
    "runs",
    "configurations",
    "records",
]


TRIAL = ["record", "epoch", "accuracy"]
"""What is read of a trial's evaluation, beside its configuration."""


def influence_of(study: Study) -> pd.DataFrame:
    """Return the table of `influence` of a study."""
    return influence(study.runs, study.trials, study.protocols)


def influence(runs: pd.DataFrame, trials: pd.DataFrame, protocols: Protocols) -> pd.DataFrame:
    """Return a row per panel, hyper-parameter that is a number, subset size and rung.

    `tau` is Kendall's tau-b between its values and the validation accuracies after `epoch` epochs
    (of `epochs`, the T of the protocol), over the trials whose first rung that is: at later ones
    only the survivors of earlier ones are left. It is positive if higher values score better. A
    model-based search (TPE) chooses which values to try by scores, at each subset size by others.

    A run has a tau of its own, of the `configurations` (in all `runs`); a seed counts with the
    mean of its runs, which are of all selectors, FULL and its repeat at fraction 1; `tau_low` and
    `tau_high` are the bounds over `seeds` (`automata.analysis.tradeoff.bounds`). A run without a
    tau (`automata.analysis.rank_agreement.tau`) is left out, and so is a rung within the warm
    start, where every subset is all data.
    """
    rows = []
    samples = []
    for key, group in _per_run(runs, trials, protocols).groupby(AXES, sort=True):
        taus = group.groupby("seed")["tau"].mean().to_numpy(np.float64)
        samples.append(taus)
        rows.append(
            {
                **dict(zip(AXES, key, strict=True)),
                "tau": taus.mean(),
                "interval": interval(len(taus)),
                "seeds": len(taus),
                "runs": len(group),
                "configurations": int(group["configurations"].sum()),
                "records": joined(group["record"]),
            }
        )
    table = pd.DataFrame(rows, columns=COLUMNS)
    table[["tau_low", "tau_high"]] = np.reshape(bounds_of_each(samples), (-1, 2))
    return table


def _per_run(runs: pd.DataFrame, trials: pd.DataFrame, protocols: Protocols) -> pd.DataFrame:
    """Return tau per run, first rung and hyper-parameter, where there is one."""
    values = pd.DataFrame(_values(trials), columns=[*TRIAL, "hyper-parameter", "value"])
    axes = ["record", "epoch", "hyper-parameter"]
    rows = []
    for key, group in values.groupby(axes):
        tried, scores = (group[name].to_numpy(np.float64) for name in ("value", "accuracy"))
        rows.append([*key, len(group), tau(tried, scores)])
    taus = pd.DataFrame(rows, columns=[*axes, "configurations", "tau"])
    of_run = ["record", *RUN, "epochs", "protocol_hash"]
    known = taus[taus["tau"].notna()].merge(runs[of_run], on="record")
    warm = [warm_start_epochs(run, protocols) for run in known.to_dict("records")]
    return known[(known["epoch"] > warm) | (known["fraction"] == 1)]


def _values(trials: pd.DataFrame) -> Iterator[list[object]]:
    """Yield what a trial scored at its first rung with each value of it that is a number."""
    at_rungs = trials[trials["rung"].astype(bool)].sort_values("epoch", kind="stable")
    first = at_rungs.drop_duplicates(["record", "index"])
    for *scored, configuration in first[[*TRIAL, "configuration"]].itertuples(index=False):
        for name, value in json.loads(configuration).items():
            if isinstance(value, Real) and not isinstance(value, bool):
                yield [*scored, name, value]
