"""Selectors against each other: differences between pairs of runs.

Each contrast changes one thing: fixed or redrawn subsets, or random or gradient-based ones. The
paper changes both at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from automata.analysis.quantities import ERROR
from automata.analysis.statistics import UNITS, Spread, of_units, summarise
from automata.analysis.study import PANEL, compared
from automata.names import contrasts

CONTRAST = ["selector", "baseline"]
"""The columns that name a contrast."""

PLACE = [*PANEL, "fraction"]
"""Columns that the runs of a pair share, besides the seed."""

ALL = "all"
"""The fraction of a row that pools all subset sizes."""


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
    """Return `mean_differences` of each contrast by subset size, and over all sizes."""
    pairs = paired_differences(ratios)
    over_all = mean_differences(pairs, []).assign(fraction=ALL)
    return pd.concat([mean_differences(pairs, ["fraction"]), over_all], ignore_index=True)


def mean_differences(pairs: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return means of `paired_differences`, a row per contrast and value of the columns `by`.

    `error_difference` is in percentage points, `speedup_ratio` is a geometric mean. `over` names
    the `units` (`statistics.unit_of`), `interval` the bounds (`statistics.bounds`).
    """
    return summarise(
        pairs,
        [*CONTRAST, *by],
        {
            "error_difference": Spread(of_units("error")),
            "speedup_ratio": Spread(of_units("log_speedup"), np.exp),
            **UNITS,
            "pairs": len,
        },
        ["record", "record_baseline", "full_record"],
    )
