"""Selectors against each other, in pairs of runs: what selection adds to drawing subsets anew.

A fixed random subset, random subsets drawn anew, and subsets chosen by gradients differ in one
thing at a time. The paper compares the first with the last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from automata import names
from automata.analysis.statistics import (
    Spread,
    count_units,
    interval,
    of_units,
    spread_over,
    summarise,
)
from automata.analysis.study import PANEL
from automata.analysis.study import compared as compared_runs


class Contrast(NamedTuple):
    """A selector and what it is compared with."""

    selector: str
    baseline: str


CONTRAST = list(Contrast._fields)
"""The columns that name a contrast."""

PLACE = [*PANEL, "fraction"]
"""A pair of runs agrees in these, and in its seed."""

LEVELS: tuple[list[str], ...] = (PLACE, ["dataset", "fraction"], ["fraction"], [])
"""What a row may be of; it is pooled over the other columns."""

ALL = "all"
"""Stands in a column that a row is pooled over."""


def differences(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per contrast and pair of runs that both compare with their FULL.

    `error` is relative_test_error(selector) - relative_test_error(baseline) in percentage
    points, negative where the selector is better; `log_speedup` the natural logarithm of
    speedup(selector) / speedup(baseline). Both runs stand against the same FULL run.
    """
    known = compared_runs(ratios)
    parts = []
    for contrast in map(Contrast._make, names.contrasts(known["selector"])):
        both = known[known["selector"] == contrast.selector].merge(
            known[known["selector"] == contrast.baseline],
            on=[*PLACE, "seed", "full_record"],
            suffixes=("", "_baseline"),
        )
        both["error"] = both["relative_test_error"] - both["relative_test_error_baseline"]
        both["log_speedup"] = np.log(both["speedup"] / both["speedup_baseline"])
        both["baseline"] = contrast.baseline
        records = both[["record", "record_baseline", "full_record"]]
        both["records"] = [" ".join(names) for names in records.to_numpy(dtype=object)]
        parts.append(both[[*CONTRAST, *PLACE, "seed", "error", "log_speedup", "records"]])
    return pd.concat(parts, ignore_index=True)


def resampling(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return mean differences per contrast: per combination, data set and size, size, and all.

    A column that a row is pooled over says `all`. `error_difference` is in percentage points,
    `speedup_ratio` the geometric mean of the ratios of speedups. Bounds are 95 % bootstrap
    intervals of the mean over `units`, or their range below three (`interval`). The units are
    the seeds, each the mean of its runs in the row; in rows of three data sets or more they are
    the data sets, which differ from one another more than seeds do (`over`). The mean is that of
    the units, so that a data set with more seeds does not count for more.
    """
    pairs = differences(ratios)
    parts = [
        _summary(own, level) for _, own in pairs.groupby(CONTRAST, sort=False) for level in LEVELS
    ]
    return pd.concat(parts or [_summary(pairs, PLACE)], ignore_index=True)


def _summary(pairs: pd.DataFrame, level: list[str]) -> pd.DataFrame:
    """Return the rows of the table of `resampling` that are of the columns `level`."""
    table = summarise(
        pairs,
        [*CONTRAST, *level],
        {
            "error_difference": Spread(lambda group: of_units(group, "error")),
            "speedup_ratio": Spread(lambda group: of_units(group, "log_speedup"), np.exp),
            "interval": lambda group: interval(count_units(group)),
            "over": lambda group: spread_over(group)[1],
            "units": count_units,
            "pairs": len,
        },
        ["records"],
    )
    named = [*CONTRAST, *PLACE]
    pooled = table.assign(**{axis: ALL for axis in PLACE if axis not in level})
    return pooled[[*named, *(column for column in table if column not in named)]]
