"""Which selectors lie on the fronts of speedup and error, panel by panel and in all."""

from __future__ import annotations

import numpy as np
import pandas as pd

from automata.analysis.statistics import hypervolume, on_front
from automata.analysis.study import PANEL, of_one_protocol
from automata.analysis.tables import joined

NO_METHOD = ["full-again", "untuned"]
"""Controls that are measures of noise and of the worth of tuning, not ways to save time."""

COLUMNS = [
    *PANEL,
    "selector",
    "points",
    "on_front",
    "hypervolume",
    "share",
    "worst_error",
    "records",
]

SUMMARY_COLUMNS = [
    "selector",
    "panels",
    "panels_on_front",
    "panels_largest",
    "mean_share",
    "records",
]


def fronts(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) and selector, FULL's included.

    `points` are the selector's subset sizes (means over seeds), `on_front` how many of them no
    other point of the panel beats. `hypervolume` is the area that they cover from the reference
    (speedup 1, `worst_error` of the panel in percentage points), `share` that area over what all
    points of the panel cover together: shares overlap and sum to more than one; it is missing
    where nothing is covered. FULL is the point (1, 0). The controls of NO_METHOD take no part.
    """
    methods = tradeoff[~tradeoff["selector"].isin(NO_METHOD)]
    methods = methods[methods["speedup"].notna() & methods["relative_test_error"].notna()]
    rows = []
    for panel, group in methods.groupby(PANEL, sort=True):
        worst = float(group["relative_test_error"].max())
        speedups = group["speedup"].to_numpy(np.float64)
        errors = group["relative_test_error"].to_numpy(np.float64)
        front = on_front(speedups, errors)
        union = hypervolume(speedups, errors, (1.0, worst))
        for selector in sorted(set(group["selector"])):
            own = (group["selector"] == selector).to_numpy()
            area = hypervolume(speedups[own], errors[own], (1.0, worst))
            rows.append(
                {
                    **dict(zip(PANEL, panel, strict=True)),
                    "selector": selector,
                    "points": int(own.sum()),
                    "on_front": int(front[own].sum()),
                    "hypervolume": area,
                    "share": area / union if union > 0 else np.nan,
                    "worst_error": worst,
                    "records": joined(group.loc[own, "records"]),
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per selector of the table of `fronts`: in how many of its panels it leads.

    `panels_on_front`: at least one of its points is on the front. `panels_largest`: it covers the
    largest hypervolume; selectors that tie all count, and none does where nothing is covered.
    """
    largest = table.groupby(PANEL)["hypervolume"].transform("max")
    judged = table.assign(
        leads=(table["hypervolume"] == largest) & (table["hypervolume"] > 0),
        present=table["on_front"] > 0,
    )
    rows = [
        {
            "selector": selector,
            "panels": len(group),
            "panels_on_front": int(group["present"].sum()),
            "panels_largest": int(group["leads"].sum()),
            "mean_share": group["share"].mean(),
            "records": joined(group["records"]),
        }
        for selector, group in of_one_protocol(judged).groupby("selector", sort=True)
    ]
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)
