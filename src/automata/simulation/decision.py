"""Which way of tuning is recommended: a rule that was fixed before the tables were read.

docs/learning-curves.md states it, and which data sets choose and which confirm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from automata.simulation.study import REPEAT

MOST_EXCESS = 1.0
"""Points that the upper bound of the excess regret must stay below, for all methods at once."""
MORE_LOSSES = 0.05
"""The chance to lose more than 2 points may be so much above that of FULL's repeat."""

NO_CANDIDATES = ("FULL", REPEAT, "untuned")


def decision(simulated: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each search, scheduler and method, the one that is recommended first.

    `simulated` is the table of methods of `automata.simulation.study.studies`. A method passes on
    a data set if it is not inferior to FULL's repeat there; `fails_on` names the data sets on which
    it is, or has no curves. Of methods that pass on all the fastest is recommended: `speedup` is
    the geometric mean of speedups in samples.
    """
    datasets = list(simulated["dataset"].unique())
    rows = []
    for (search, scheduler), panel in simulated.groupby(["search", "scheduler"], sort=False):
        fair = panel[(panel["warm_start"] == 0) & ~panel["method"].isin(NO_CANDIDATES)]
        for method, found in fair.groupby("method", sort=False):
            passing = [row["dataset"] for row in found.to_dict("records") if _passes(row, panel)]
            fails = [dataset for dataset in datasets if dataset not in passing]
            rows.append(
                {
                    "search": search,
                    "scheduler": scheduler,
                    "method": method,
                    "recommended": False,
                    "speedup": float(np.exp(np.log(found["speedup_samples"]).mean())),
                    "most_excess": found.get("excess_all_high", pd.Series([np.nan])).max(),
                    "fails": len(fails),
                    "fails_on": " ".join(fails),
                }
            )
    found = pd.DataFrame(rows).sort_values(
        ["search", "scheduler", "fails", "speedup"],
        ascending=[True, True, True, False],
        ignore_index=True,
    )
    first = ~found.duplicated(["search", "scheduler"])
    return found.assign(recommended=first & (found["fails"] == 0))


def _passes(row: Mapping[Any, Any], panel: pd.DataFrame) -> bool:
    """Say whether a method is not inferior to FULL's repeat: False where there is no repeat."""
    repeat = panel[(panel["dataset"] == row["dataset"]) & (panel["method"] == REPEAT)]
    if repeat.empty:
        return False
    most = repeat["lost_2"].iloc[0] + MORE_LOSSES
    return bool(row["excess_all_high"] < MOST_EXCESS and row["lost_2"] <= most)
