"""Which way of tuning is recommended: a rule that was fixed before the tables were read.

docs/learning-curves.md states it, and which data sets choose and which confirm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from automata.simulation.study import REPEAT

MOST_LOST = 1.0
"""Points that the upper bound of the mean must stay below, for all methods at once."""
MORE_LOSSES = 0.05
"""The chance to lose more than 2 points may be so much above that of what is compared with."""

FULL = "FULL"
AGAINST = {"excess": REPEAT, "regret": FULL}
"""What a method is compared with, by what is bounded: the first is the rule, as it was fixed.

The second was added when the tables had been read: by the first FULL's own search can fail.
"""


def decision(simulated: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each search, scheduler and method, those that fail least first.

    `simulated` is the table of methods of `automata.simulation.study.studies`. A method passes on
    a data set if it is not inferior to FULL's repeat there; `fails_on` names the data sets on which
    it is, `untested` those where it has no curves or FULL no repeat. Of methods that pass on all
    the fastest is recommended: `speedup` is the geometric mean of speedups in samples. FULL is
    among them as a control. `regret_fails_on` says where a method is inferior to FULL's own search.
    """
    datasets = list(simulated["dataset"].unique())
    rows = []
    for (search, scheduler), panel in simulated.groupby(["search", "scheduler"], sort=False):
        fair = panel[(panel["warm_start"] == 0) & ~panel["method"].isin((REPEAT, "untuned"))]
        for method, found in fair.groupby("method", sort=False):
            there = found.set_index("dataset").to_dict("index")
            judged = {
                bounded: {
                    name: _fails(row, str(name), panel, bounded) for name, row in there.items()
                }
                for bounded in AGAINST
            }
            fails, regrets = ([n for n in datasets if judged[of].get(n)] for of in AGAINST)
            untested = [name for name in datasets if judged["excess"].get(name) is None]
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
                    "untested": " ".join(untested),
                    "most_regret": found["regret_all_high"].max(),
                    "regret_fails_on": " ".join(regrets),
                }
            )
    table = pd.DataFrame(rows).sort_values(
        ["search", "scheduler", "fails", "speedup"],
        ascending=[True, True, True, False],
        ignore_index=True,
    )
    passes = (table["fails"] == 0) & (table["untested"] == "") & (table["method"] != FULL)
    first = ~table[passes].duplicated(["search", "scheduler"])
    return table.assign(recommended=first.reindex(table.index, fill_value=False))


def _fails(row: Mapping[Any, Any], dataset: str, panel: pd.DataFrame, bounded: str) -> bool | None:
    """Say whether a method is inferior on a data set: None where there is nothing to compare."""
    other = panel[(panel["dataset"] == dataset) & (panel["method"] == AGAINST[bounded])]
    if other.empty:
        return None
    most = other["lost_2"].iloc[0] + MORE_LOSSES
    return not (row[f"{bounded}_all_high"] < MOST_LOST and row["lost_2"] <= most)
