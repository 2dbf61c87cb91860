"""The control without tuning: what one configuration drawn at random reaches."""

from __future__ import annotations

from typing import Any

import pandas as pd

from automata.analysis.definitions import relative_test_error, speedup
from automata.analysis.ratios import SAME

PANEL = ["dataset", "search", "scheduler"]

COLUMNS = [
    *PANEL,
    "draws",
    "test_accuracy",
    "relative_test_error",
    "relative_test_error_low",
    "relative_test_error_high",
    "speedup",
    "records",
]


def untuned(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) with `untuned` runs and a FULL.

    Draws have seeds of their own, so that all are compared with the mean of FULL's accuracies
    and times, not in pairs. `_low` and `_high` are the best and the worst draw. A draw that
    diverged, or does not compare with FULL (`ratios.SAME`), is left out.
    """
    rows = []
    for panel, group in runs.groupby(PANEL, sort=True):
        full = group[group["selector"] == "full"]
        draws = _comparable(group[group["selector"] == "untuned"], full)
        if len(draws) and len(full):
            rows.append({**dict(zip(PANEL, panel, strict=True)), **_row(draws, full)})
    return pd.DataFrame(rows, columns=COLUMNS)


def _comparable(draws: pd.DataFrame, full: pd.DataFrame) -> pd.DataFrame:
    """Return the draws that converged and agree with a FULL run in all of SAME."""
    places = set(_places(full))
    same = [place in places for place in _places(draws)]
    return draws[pd.Series(same, index=draws.index, dtype=bool) & draws["final_failure"].isna()]


def _places(runs: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the values of SAME; what is missing is None, which equals itself."""
    table = runs[SAME].astype(object).where(runs[SAME].notna(), None)
    return list(table.itertuples(index=False, name=None))


def _row(draws: pd.DataFrame, full: pd.DataFrame) -> dict[str, Any]:
    accuracy = full["test_accuracy"].mean()
    errors = [relative_test_error(accuracy, reached) for reached in draws["test_accuracy"]]
    return {
        "draws": len(draws),
        "test_accuracy": draws["test_accuracy"].mean(),
        "relative_test_error": sum(errors) / len(errors),
        "relative_test_error_low": min(errors),
        "relative_test_error_high": max(errors),
        "speedup": speedup(full["total_seconds"].mean(), draws["total_seconds"].mean()),
        "records": " ".join(sorted({*draws["record"], *full["record"]})),
    }
