"""The control without tuning: what one configuration drawn at random reaches."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, median
from typing import Any

import pandas as pd

from automata.analysis.equal_code import by_origin
from automata.analysis.quantities import relative_test_error, speedup
from automata.analysis.ratios import SAME
from automata.analysis.study import PANEL
from automata.analysis.tables import joined

COLUMNS = [
    *PANEL,
    "draws",
    "diverged",
    "not_comparable",
    "test_accuracy",
    "relative_test_error",
    "relative_test_error_median",
    "relative_test_error_low",
    "relative_test_error_high",
    "speedup",
    "records",
]


def untuned(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) with `untuned` runs and a FULL.

    Draws have seeds of their own, so that all are compared with the mean of FULL's accuracies
    and times, not in pairs. `_median` says what is usual: one draw that fails moves the mean far.
    `_low` and `_high` are the best and the worst draw. One that diverged (`diverged` says how
    many) counts with the accuracy that it reached: that is what no tuning can give. Draws and
    FULL runs are of one place (`ratios.SAME`), that with the most draws; `not_comparable` says
    how many draws are elsewhere. Runs that are set aside are left out.
    """
    rows = []
    compared = by_origin(runs[runs["set_aside"] == ""])
    for panel, group in compared.groupby(PANEL, sort=True):
        full = group[group["selector"] == "full"]
        draws = group[group["selector"] == "untuned"]
        place = _place(draws, full)
        if place is not None:
            row = _row(draws[_at(draws, place)], full[_at(full, place)])
            elsewhere = len(draws) - row["draws"]
            name = dict(zip(PANEL, panel, strict=True))
            rows.append({**name, **row, "not_comparable": elsewhere})
    return pd.DataFrame(rows, columns=COLUMNS)


Place = tuple[Any, ...]
"""Values of SAME."""


def _place(draws: pd.DataFrame, full: pd.DataFrame) -> Place | None:
    """Return where both ran, the place with the most draws; None if there is none."""
    common = set(_places(full))
    counts = Counter(place for place in _places(draws) if place in common)
    return counts.most_common(1)[0][0] if counts else None


def _at(runs: pd.DataFrame, place: Place) -> list[bool]:
    return [other == place for other in _places(runs)]


def _places(runs: pd.DataFrame) -> list[Place]:
    """Return the place of each run; what is missing is None, which equals itself."""
    table = runs[SAME].astype(object).where(runs[SAME].notna(), None)
    return list(table.itertuples(index=False, name=None))


def _row(draws: pd.DataFrame, full: pd.DataFrame) -> dict[str, Any]:
    accuracy = full["test_accuracy"].mean()
    errors = [relative_test_error(accuracy, reached) for reached in draws["test_accuracy"]]
    return {
        "draws": len(draws),
        "diverged": int(draws["final_failure"].notna().sum()),
        "test_accuracy": draws["test_accuracy"].mean(),
        "relative_test_error": fmean(errors),
        "relative_test_error_median": median(errors),
        "relative_test_error_low": min(errors),
        "relative_test_error_high": max(errors),
        "speedup": speedup(full["total_seconds"].mean(), draws["total_seconds"].mean()),
        "records": joined([*draws["record"], *full["record"]]),
    }
