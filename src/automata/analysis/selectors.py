"""Selectors against each other: Pareto fronts, and differences between pairs of runs.

Each contrast changes one thing: fixed or redrawn subsets, or random or gradient-based ones. The
paper changes both at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from automata.analysis.quantities import ERROR
from automata.analysis.statistics import UNITS, Spread, hypervolume, of_units, summarise
from automata.analysis.study import PANEL, compared
from automata.analysis.tradeoff import POINT, unbeaten
from automata.names import CONTROLS, contrasts

CONTRAST = ["selector", "baseline"]
"""The columns that name a contrast."""

PLACE = [*PANEL, "fraction"]
"""Columns that the runs of a pair share, besides the seed."""

LEVELS: tuple[list[str], ...] = (PLACE, ["dataset", "fraction"], ["fraction"], [])
"""Columns that the rows of each level keep apart; they pool the other columns of PLACE."""

ALL = "all"
"""The value of a column that a row pools."""


def fronts(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel and selector; FULL is the point (1, 0), other controls are left out.

    `points` counts the selector's subset sizes (means over seeds), `on_front` those that no other
    point of the panel beats. `hypervolume` is the area that the points dominate up to speedup 1 and
    `worst_error`, the panel's largest error in percentage points. `share` divides it by the area of
    all points of the panel; shares overlap.
    """
    methods = tradeoff[~tradeoff["selector"].isin(CONTROLS.keys() - {"full"})]
    methods = methods[methods["speedup"].notna() & methods[ERROR].notna()]
    worst = methods.groupby(PANEL)[ERROR].transform("max")
    methods = methods.assign(on_front=unbeaten(methods), worst_error=worst)
    areas = {panel: _area(rows) for panel, rows in methods.groupby(PANEL)}
    return summarise(
        methods,
        [*PANEL, "selector"],
        {
            "points": len,
            "on_front": lambda group: int(group["on_front"].sum()),
            "hypervolume": _area,
            "share": lambda group: _area(group) / (areas[tuple(group[PANEL].iloc[0])] or math.nan),
            "worst_error": lambda group: group["worst_error"].iloc[0],
        },
        ["records"],
    )


def _area(rows: pd.DataFrame) -> float:
    """Return the area that rows of one panel dominate."""
    speedups, errors = rows[POINT].to_numpy(np.float64).T
    return float(hypervolume(speedups, errors, (1.0, rows["worst_error"].iloc[0])))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per selector of `fronts`: the number of panels in which it leads.

    `panels_on_front`: one of its points is on the front. `panels_largest`: its hypervolume is
    positive and the largest.
    """
    largest = table.groupby(PANEL)["hypervolume"].transform("max")
    judged = table.assign(
        panels_on_front=table["on_front"] > 0,
        panels_largest=(table["hypervolume"] == largest) & (table["hypervolume"] > 0),
    ).groupby("selector")
    counts = judged[["panels_on_front", "panels_largest"]].sum()
    return counts.assign(panels=judged.size()).reset_index()


def paired_differences(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per contrast and pair of runs that compare with the same FULL run.

    `error` is the selector's relative test error minus the baseline's in percentage points;
    `log_speedup` is the natural logarithm of the selector's speedup over the baseline's.
    """
    runs = compared(ratios)
    both = runs.merge(runs, on=[*PLACE, "seed", "full_record"], suffixes=("", "_baseline"))
    both = both.rename(columns={"selector_baseline": "baseline"}).assign(
        error=both[ERROR] - both[f"{ERROR}_baseline"],
        log_speedup=np.log((both["speedup"] / both["speedup_baseline"]).astype(float)),
    )
    pairs = contrasts(runs["selector"])
    parts = [both[(both[CONTRAST] == list(pair)).all(axis=1)] for pair in pairs]
    return pd.concat(parts, ignore_index=True)


def pooled_differences(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return `mean_differences` of each contrast at each of LEVELS."""
    pairs = paired_differences(ratios)
    groups = [group for _, group in pairs.groupby(CONTRAST, sort=False)]
    parts = [mean_differences(group, level) for group in groups for level in LEVELS]
    return pd.concat(parts or [mean_differences(pairs, PLACE)], ignore_index=True)


def mean_differences(pairs: pd.DataFrame, level: Sequence[str]) -> pd.DataFrame:
    """Return means of `paired_differences`, a row per contrast and value of the columns `level`.

    `error_difference` is in percentage points, `speedup_ratio` is a geometric mean. `over` names
    the `units` (`statistics.unit_of`), `interval` the bounds (`statistics.bounds`).
    """
    table = summarise(
        pairs,
        [*CONTRAST, *level],
        {
            "error_difference": Spread(of_units("error")),
            "speedup_ratio": Spread(of_units("log_speedup"), np.exp),
            **UNITS,
            "pairs": len,
        },
        ["record", "record_baseline", "full_record"],
    )
    named = [*CONTRAST, *PLACE]
    pooled = table.assign(**{axis: ALL for axis in PLACE if axis not in level})
    return pooled[[*named, *(column for column in table if column not in named)]]
