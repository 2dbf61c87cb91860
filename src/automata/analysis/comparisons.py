"""Tests of selectors against each other over data sets, corrected for their number.

Wilcoxon's signed-rank test over data sets, after Demsar (2006, JMLR 7:1-30); Holm (1979).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.analysis.resampling import differences
from automata.analysis.statistics import LEVEL, _signed_rank, holm, needed, smallest_p
from automata.analysis.study import of_one_protocol
from automata.analysis.tables import joined

DECIMALS = 9
"""What differs by less, in percentage points or logarithm, is a tie that rounding broke."""

QUANTITIES = {"error": "relative_test_error", "log_speedup": "log_speedup"}
"""Columns of the differences, and what the table calls them."""

COLUMNS = [
    "selector",
    "baseline",
    "quantity",
    "datasets",
    "needed",
    "mean_difference",
    "median_difference",
    "datasets_for_selector",
    "p",
    "p_holm",
    "note",
    "pairs",
    "records",
]


def comparisons(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per contrast and quantity: Wilcoxon's test of its means per data set.

    A data set is one observation: the mean of its paired differences over searches, schedulers,
    subset sizes and seeds. `p` is two-sided and exact, `p_holm` corrected after Holm for all rows
    of the table. `datasets` are those where the two differ. Where so few cannot give a p small
    enough for Holm's first step, whatever they say (`smallest_p`), nothing is tested and `note`
    says so. `relative_test_error` is in percentage points, `log_speedup` a natural logarithm.
    """
    pairs = of_one_protocol(differences(ratios))
    family = len(QUANTITIES) * pairs.groupby(["selector", "baseline"]).ngroups
    rows = [
        {
            "selector": selector,
            "baseline": baseline,
            "quantity": name,
            **_row(group.groupby("dataset")[column].mean().to_numpy(np.float64), column, family),
            "pairs": len(group),
            "records": joined(group["records"]),
        }
        for (selector, baseline), group in pairs.groupby(["selector", "baseline"], sort=False)
        for column, name in QUANTITIES.items()
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["p_holm"] = holm(table["p"].to_numpy(np.float64))
    return table


def _row(means: NDArray[np.float64], column: str, family: int) -> dict[str, Any]:
    means = np.round(means, DECIMALS)
    differing = means[means != 0]
    n, enough = len(differing), needed(family)
    # Less error is better, more speed is.
    wins = differing < 0 if column == "error" else differing > 0
    row = {
        "datasets": n,
        "needed": enough,
        "mean_difference": means.mean(),
        "median_difference": np.median(means),
        "datasets_for_selector": int(wins.sum()),
    }
    if smallest_p(n) > LEVEL / family:
        return {**row, "p": np.nan, "note": f"too few data sets: {n}, needs {enough}"}
    return {**row, "p": _signed_rank(differing), "note": ""}
