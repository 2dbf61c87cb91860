"""Which way of tuning is recommended: a rule that was fixed before the tables were read.

docs/learning-curves.md states it, and which data sets choose and which confirm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from automata.names import FULL, ONE_EPOCH, REPEAT

MOST_EXCESS = 1.0
"""Points that the upper bound of the excess regret must stay below, for all methods at once."""
MORE_LOSSES = 0.05
"""The chance to lose more than 2 points may be so much above that of FULL's repeat."""

WITHOUT_SUBSETS = f"{FULL}|{ONE_EPOCH}.*"
"""Candidates without subsets, and FULL as a control: a rule that refuses it is too strict."""


def decision(simulated: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each search, scheduler and method, by the number of data sets passed.

    `simulated` is the table of methods of `automata.simulation.study.studies`. A method passes on
    a data set if it is not inferior to FULL's repeat there; `fails_on` names the data sets on which
    it is, `untested` those where it was not simulated or FULL has no repeat. Of methods that pass
    on all data sets the fastest is recommended: `speedup` is the geometric mean of speedups in
    samples over the data sets where it was simulated. FULL is among the rows as a control.
    """
    rows = []
    datasets = list(simulated["dataset"].unique())
    for (search, scheduler), panel in simulated.groupby(["search", "scheduler"], sort=False):
        subsets = (panel["selector"] != "full") & (panel["warm_start"] == 0)
        fair = panel[subsets | panel["method"].str.fullmatch(WITHOUT_SUBSETS)]
        for method, found in fair.groupby("method", sort=False):
            passes = {row["dataset"]: _passes(row, panel) for row in found.to_dict("records")}
            rows.append(
                {
                    "search": search,
                    "scheduler": scheduler,
                    "method": method,
                    "recommended": False,
                    "speedup": float(np.exp(np.log(found["speedup_samples"]).mean())),
                    "most_excess": found.get("excess_all_high", pd.Series([np.nan])).max(),
                    "passes": sum(it is True for it in passes.values()),
                    "fails_on": " ".join(name for name in datasets if passes.get(name) is False),
                    "untested": " ".join(name for name in datasets if passes.get(name) is None),
                }
            )
    table = pd.DataFrame(rows).sort_values(
        ["search", "scheduler", "passes", "speedup"],
        ascending=[True, True, False, False],
        ignore_index=True,
    )
    good = (table["passes"] == len(datasets)) & (table["method"] != FULL)
    first = ~table[good].duplicated(["search", "scheduler"])
    return table.assign(recommended=first.reindex(table.index, fill_value=False))


def _passes(row: Mapping[Any, Any], panel: pd.DataFrame) -> bool | None:
    """Say whether a method is not inferior to FULL's repeat: None where there is no repeat."""
    repeat = panel[(panel["dataset"] == row["dataset"]) & (panel["method"] == REPEAT)]
    if repeat.empty:
        return None
    most = repeat["lost_2"].iloc[0] + MORE_LOSSES + 1e-9  # shares of searches, in binary
    return bool(row["excess_all_high"] < MOST_EXCESS and row["lost_2"] <= most)
