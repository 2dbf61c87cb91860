"""The tradeoff table, which has means over the seeds of each combination, and tables like it.

These are Pareto fronts, the parts of the time, and the control without tuning.
"""

from __future__ import annotations

import math
from collections import Counter
from statistics import fmean, median
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.quantities import QUANTITIES
from automata.analysis.ratios import SAME, relative_test_error
from automata.analysis.statistics import (
    Spread,
    Values,
    hypervolume,
    interval,
    known,
    mean_of,
    on_front,
    sum_of,
    summarise,
)
from automata.analysis.study import COMBINATION, PANEL, compared
from automata.names import CONTROLS

PARTS = {
    "training": "tuning_training_seconds",
    "selection": "tuning_selection_seconds",
    "evaluation": "tuning_evaluation_seconds",
    "orchestration": "tuning_orchestration_seconds",
    "final": "final_seconds",
}
"""Parts of a run's time -> columns of the runs; they sum to `total_seconds`."""


def tradeoff(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per combination: means over seeds, and bounds of quantities with a spread.

    `interval` says whether bounds are a 95 % bootstrap interval of the mean or the range; those of
    energy are over `energy_seeds`. Refused runs are left out. `other_cpu_share` is the largest of
    the runs; `records` include FULL's. `on_front`: no other row of the panel is at least as fast
    and at most as bad, and better in one of the two.
    """
    table = summarise(
        compared(ratios),
        COMBINATION,
        {
            "seeds": len,
            "energy_seeds": lambda group: group["energy_ratio"].notna().sum(),
            **{
                name: Spread(known(name)) if quantity.spread else mean_of(name)
                for name, quantity in QUANTITIES.items()
            },
            "interval": lambda group: interval(len(group)),
            "other_cpu_share": lambda group: group["other_cpu_share"].max(),
            "energy_method": lambda group: ", ".join(sorted(set(group["energy_method"].dropna()))),
        },
        ["record", "full_record"],
    )
    table.insert(len(table.columns) - 1, "on_front", _on_front(table))
    return table


def _on_front(table: pd.DataFrame) -> pd.Series:
    """Return which rows no other row of their panel beats; FULL's repeat is no method."""
    front = pd.Series(False, index=table.index)
    for _, panel in table[table["selector"] != "full-again"].groupby(PANEL):
        front[panel.index] = on_front(*_points(panel))
    return front


def _points(table: pd.DataFrame) -> tuple[Values, Values]:
    errors = table["relative_test_error"]
    return table["speedup"].to_numpy(np.float64), errors.to_numpy(np.float64)


def seeds_column(quantity: str) -> str:
    """Return the column with the number of seeds that have `quantity`: some may lack energy."""
    return "energy_seeds" if QUANTITIES[quantity].of_energy else "seeds"


def fronts(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) and selector, FULL included.

    `points` counts the selector's subset sizes (means over seeds), `on_front` those that no other
    point of the panel beats. `hypervolume` is the area between these points and the reference:
    speedup 1 and `worst_error`, the panel's largest error in percentage points. `share` is that
    area over the area of all points of the panel, or missing if that is 0. Shares overlap, so they
    sum to more than 1. FULL is the point (1, 0); the other controls are left out.
    """
    methods = tradeoff[~tradeoff["selector"].isin(CONTROLS.keys() - {"full"})]
    methods = methods[methods["speedup"].notna() & methods["relative_test_error"].notna()]
    worst = methods.groupby(PANEL)["relative_test_error"].transform("max")
    methods = methods.assign(on_front=_on_front(methods), worst_error=worst)
    areas = {panel: _area(points) for panel, points in methods.groupby(PANEL)}
    return summarise(
        methods,
        [*PANEL, "selector"],
        {
            "points": len,
            "on_front": sum_of("on_front"),
            "hypervolume": _area,
            "share": lambda group: _area(group) / (areas[tuple(group[PANEL].iloc[0])] or math.nan),
            "worst_error": lambda group: group["worst_error"].iloc[0],
        },
        ["records"],
    )


def _area(points: pd.DataFrame) -> float:
    """Return the area that points of one panel cover."""
    return float(hypervolume(*_points(points), (1.0, points["worst_error"].iloc[0])))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per selector of the table of `fronts`: in how many of its panels it leads.

    `panels_on_front`: at least one of its points is on the front. `panels_largest`: its hypervolume
    is the largest, and not 0; selectors that tie all count.
    """
    largest = table.groupby(PANEL)["hypervolume"].transform("max")
    judged = table.assign(
        leads=(table["hypervolume"] == largest) & (table["hypervolume"] > 0),
        present=table["on_front"] > 0,
    )
    columns = {
        "panels": len,
        "panels_on_front": sum_of("present"),
        "panels_largest": sum_of("leads"),
        "mean_share": mean_of("share"),
    }
    return summarise(judged, ["selector"], columns, ["records"])


def time_split(runs: pd.DataFrame, ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per combination: mean seconds over seeds of each of PARTS.

    Orchestration is the rest of the search's wall time: starting, pausing and choosing trials, and
    idle slots. `speedup` is the mean of the seeds' ratios, as in the tradeoff table; `untuned` runs
    have none. Runs that do not compare with their FULL are left out.
    """
    refused = set(ratios.loc[ratios["refused"].notna(), "record"])
    gains = ratios.set_index("record")["speedup"].astype(float)
    table = summarise(
        runs[~runs["record"].isin(refused)].assign(speedup=runs["record"].map(gains)),
        COMBINATION,
        {
            "seeds": len,
            **{f"{part}_seconds": mean_of(column) for part, column in PARTS.items()},
            "speedup": mean_of("speedup"),
        },
    )
    return table.assign(total_seconds=sum(table[f"{part}_seconds"] for part in PARTS))


def untuned(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) that has `untuned` and FULL runs.

    Draws have seeds of their own, so each is compared with the mean of FULL's accuracies and times.
    `relative_test_error` is the mean over draws, which one failed draw can dominate; `_median` is
    the usual draw, `_low` the best and `_high` the worst. A draw that diverged (`diverged`) counts
    with the accuracy that it reached. `not_comparable` counts draws that differ from FULL in
    `ratios.SAME`; these and excluded runs are left out.
    """
    both = runs[(runs["set_aside"] == "") & runs["selector"].isin(["full", "untuned"])]
    return summarise(
        pd.concat([_draws(both.iloc[:0]), *(_draws(panel) for _, panel in both.groupby(PANEL))]),
        PANEL,
        {
            "draws": len,
            "diverged": lambda group: int(group["final_failure"].notna().sum()),
            "not_comparable": lambda group: int(group["not_comparable"].iloc[0]),
            "test_accuracy": lambda group: group["test_accuracy"].mean(),
            "relative_test_error": lambda group: fmean(group["error"]),
            "relative_test_error_median": lambda group: median(group["error"]),
            "relative_test_error_low": lambda group: min(group["error"]),
            "relative_test_error_high": lambda group: max(group["error"]),
            "speedup": lambda group: group["full_seconds"].iloc[0] / group["total_seconds"].mean(),
        },
        ["record", "full_record"],
    )


def _draws(panel: pd.DataFrame) -> pd.DataFrame:
    """Return the draws of a panel that agree with FULL in SAME, with FULL's means.

    If draws of several kinds do, these are the ones of the most frequent kind.
    """
    # None, unlike NaN, equals itself.
    values = panel[SAME].astype(object).where(panel[SAME].notna(), None)
    kinds = pd.Series(list(values.itertuples(index=False, name=None)), panel.index)
    drawn, full = (panel["selector"] == name for name in ("untuned", "full"))
    known = set(kinds[full])
    counts = Counter(kind for kind in kinds[drawn] if kind in known)
    chosen: Any = counts.most_common(1)[0][0] if counts else None
    alike = np.array([kind == chosen for kind in kinds], dtype=bool)
    draws, full_runs = panel[drawn & alike], panel[full & alike]
    accuracy = full_runs["test_accuracy"].mean()
    return draws.assign(
        error=[relative_test_error(accuracy, reached) for reached in draws["test_accuracy"]],
        full_seconds=full_runs["total_seconds"].mean(),
        full_record=" ".join(full_runs["record"]),
        not_comparable=int(drawn.sum()) - len(draws),
    )
