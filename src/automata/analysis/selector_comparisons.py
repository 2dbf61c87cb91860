"""Selectors compared in pairs of runs: the gain from selecting subsets over drawing them anew.

A fixed random subset, random subsets drawn anew, and subsets chosen by gradients differ in one
thing at a time. The paper compares the first with the last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from automata import names
from automata.analysis.statistics import (
    UNITS,
    Spread,
    of_units,
    summarise,
)
from automata.analysis.study import PANEL, compared

CONTRAST = ["selector", "baseline"]
"""The columns that name a contrast: a selector and the one that it is compared with."""

PLACE = [*PANEL, "fraction"]
"""Columns in which a pair of runs agrees, besides its seed."""

LEVELS: tuple[list[str], ...] = (PLACE, ["dataset", "fraction"], ["fraction"], [])
"""Columns that a row keeps apart; it pools the other columns of PLACE."""

ALL = "all"
"""The value of a column that a row pools."""


def differences(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per contrast and pair of runs that compare with the same FULL run.

    `error` is relative_test_error(selector) - relative_test_error(baseline) in percentage
    points, negative if the selector is better; `log_speedup` is the natural logarithm of
    speedup(selector) / speedup(baseline).
    """
    known = compared(ratios)
    parts = []
    for selector, baseline in names.contrasts(known["selector"]):
        both = known[known["selector"] == selector].merge(
            known[known["selector"] == baseline],
            on=[*PLACE, "seed", "full_record"],
            suffixes=("", "_baseline"),
        )
        both["error"] = both["relative_test_error"] - both["relative_test_error_baseline"]
        both["log_speedup"] = np.log(both["speedup"] / both["speedup_baseline"])
        both["baseline"] = baseline
        parts.append(both)
    records = ["record", "record_baseline", "full_record"]
    columns = [*CONTRAST, *PLACE, "seed", "error", "log_speedup", *records]
    return pd.concat(parts, ignore_index=True)[columns]


def resampling(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the `mean_differences` of each contrast at each of LEVELS."""
    pairs = differences(ratios)
    contrasts = [group for _, group in pairs.groupby(CONTRAST, sort=False)]
    parts = [mean_differences(group, level) for group in contrasts for level in LEVELS]
    return pd.concat(parts or [mean_differences(pairs, PLACE)], ignore_index=True)


def mean_differences(pairs: pd.DataFrame, level: Sequence[str]) -> pd.DataFrame:
    """Return a row per contrast and value of the columns `level`: means of `differences`.

    The other columns of PLACE say `all`. `error_difference` is in percentage points,
    `speedup_ratio` is a geometric mean. Each is the mean of `units`: seeds, or data sets if the row
    has three or more (`over`), as these differ more than seeds do. The bounds are the 95 %
    bootstrap interval of that mean, or the range of fewer than three units (`interval`).
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
