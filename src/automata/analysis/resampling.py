"""What selection adds to drawing subsets anew: paired differences between selectors.

A fixed random subset, random subsets drawn anew, and subsets chosen by gradients differ in one
thing at a time. The paper compares the first with the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata import names
from automata.analysis.statistics import bounds, interval, spread_over
from automata.analysis.study import of_one_protocol
from automata.analysis.tables import joined


@dataclass(frozen=True)
class Contrast:
    """A selector and what it is compared with."""

    selector: str
    baseline: str


CONTRASTS = tuple(Contrast(*pair) for pair in names.CONTRASTS)

MATCH = ["dataset", "search", "scheduler", "fraction", "seed"]
"""A pair of runs agrees in these."""

LEVELS: Sequence[tuple[str, ...]] = (
    ("dataset", "search", "scheduler", "fraction"),
    ("dataset", "fraction"),
    ("fraction",),
    (),
)
"""What a row may be of; it is pooled over the other columns."""

ALL = "all"
"""Stands in a column that a row is pooled over."""


COLUMNS = [
    "selector",
    "baseline",
    "dataset",
    "search",
    "scheduler",
    "fraction",
    "error_difference",
    "error_difference_low",
    "error_difference_high",
    "speedup_ratio",
    "speedup_ratio_low",
    "speedup_ratio_high",
    "interval",
    "over",
    "units",
    "pairs",
    "records",
]


def differences(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per contrast and pair of runs that both compare with their FULL.

    `error` is relative_test_error(selector) - relative_test_error(baseline) in percentage
    points, negative where the selector is better; `log_speedup` the natural logarithm of
    speedup(selector) / speedup(baseline). Both runs stand against the same FULL run.
    """
    compared = ratios[ratios["refused"].isna()]
    parts = []
    for contrast in CONTRASTS:
        both = compared[compared["selector"] == contrast.selector].merge(
            compared[compared["selector"] == contrast.baseline],
            on=[*MATCH, "full_record"],
            suffixes=("", "_baseline"),
        )
        both["error"] = both["relative_test_error"] - both["relative_test_error_baseline"]
        both["log_speedup"] = np.log(both["speedup"] / both["speedup_baseline"])
        both["baseline"] = contrast.baseline
        records = both[["record", "record_baseline", "full_record"]]
        both["records"] = [" ".join(names) for names in records.to_numpy(dtype=object)]
        columns = ["selector", "baseline", *MATCH, "error", "log_speedup", "records"]
        parts.append(both[columns])
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
    rows = []
    for (selector, baseline), contrast in pairs.groupby(["selector", "baseline"], sort=False):
        for level in LEVELS:
            pooled = contrast if "dataset" in level else of_one_protocol(contrast)
            groups = pooled.groupby(list(level), sort=True) if level else [((), pooled)]
            for key, group in groups:
                place: dict[str, object] = dict.fromkeys(LEVELS[0], ALL)
                place |= zip(level, key, strict=True)
                rows.append({"selector": selector, "baseline": baseline, **place, **_row(group)})
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(group: pd.DataFrame) -> dict[str, object]:
    unit, over = spread_over(group)
    means = group.groupby(unit)[["error", "log_speedup"]].mean()
    errors = means["error"].to_numpy(np.float64)
    logs = means["log_speedup"].to_numpy(np.float64)
    error_low, error_high = bounds(errors)
    ratio, ratio_low, ratio_high = _ratio(logs)
    return {
        "error_difference": errors.mean(),
        "error_difference_low": error_low,
        "error_difference_high": error_high,
        "speedup_ratio": ratio,
        "speedup_ratio_low": ratio_low,
        "speedup_ratio_high": ratio_high,
        "interval": interval(len(means)),
        "over": over,
        "units": len(means),
        "pairs": len(group),
        "records": joined(group["records"]),
    }


def _ratio(logs: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios and its bounds, from their logarithms."""
    low, high = bounds(logs)
    return float(np.exp(logs.mean())), float(np.exp(low)), float(np.exp(high))
