"""The tradeoff table, which has means over the seeds of each combination, and tables like it.

Selectors of a pair differ in one thing: random subsets are fixed or drawn anew, and these are drawn
at random or chosen by gradients. The paper changes both at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean, median

import numpy as np
import pandas as pd

from automata.analysis.quantities import QUANTITIES
from automata.analysis.ratios import SAME, disturbed, relative_test_error
from automata.analysis.statistics import (
    UNITS,
    Spread,
    Values,
    hypervolume,
    interval,
    known,
    mean_of,
    number_of,
    of_units,
    on_front,
    summarise,
)
from automata.analysis.study import COMBINATION, PANEL, compared
from automata.names import CONTROLS, contrasts

PARTS = {
    "training": "tuning_training_seconds",
    "selection": "tuning_selection_seconds",
    "evaluation": "tuning_evaluation_seconds",
    "orchestration": "tuning_orchestration_seconds",
    "final": "final_seconds",
}
"""Parts of a run's time -> columns of the runs; they sum to `total_seconds`."""

CONTRAST = ["selector", "baseline"]
"""The columns that name a contrast."""

PLACE = [*PANEL, "fraction"]
"""Columns in which a pair of runs agrees, besides its seed."""

LEVELS: tuple[list[str], ...] = (PLACE, ["dataset", "fraction"], ["fraction"], [])
"""Columns that a row keeps apart; it pools the other columns of PLACE."""

ALL = "all"
"""The value of a column that a row pools."""


def tradeoff(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per combination: means over seeds, and bounds of quantities with a spread.

    `interval` names the bounds (`statistics.bounds`); those of a quantity that a run may lack are
    over a number of seeds of its own, such as `energy_seeds`. Refused runs are left out.
    `other_cpu_share` is the largest of the runs; `records` include FULL's. `on_front`: no other row
    of the panel beats it (`statistics.on_front`).
    """
    spreads = [quantity for quantity in QUANTITIES.values() if quantity.spread]
    table = summarise(
        compared(ratios),
        COMBINATION,
        {
            "seeds": len,
            **{it.seeds: number_of(it.name) for it in spreads if it.seeds != "seeds"},
            **{
                name: Spread(known(name)) if quantity.spread else mean_of(name)
                for name, quantity in QUANTITIES.items()
            },
            "interval": lambda group: interval(len(group)),
            "other_cpu_share": lambda group: group["other_cpu_share"].max(),
            **{it: _values(it) for it in ("energy_method", "energy_source")},
        },
        ["record", "full_record"],
    )
    table.insert(len(table.columns) - 1, "on_front", _on_front(table))
    return table


def _values(column: str) -> Callable[[pd.DataFrame], str]:
    """Return a function of rows: the values of `column`."""
    return lambda group: ", ".join(sorted(set(group[column].dropna())))


def _on_front(table: pd.DataFrame) -> pd.Series:
    """Return which rows no other row of their panel beats; FULL's repeat is no method."""
    front = pd.Series(False, index=table.index)
    points = table[(table["selector"] != "full-again") & table["speedup"].notna()]
    for _, panel in points.groupby(PANEL):
        front[panel.index] = on_front(*_points(panel))
    return front


def _points(table: pd.DataFrame) -> tuple[Values, Values]:
    errors = table["relative_test_error"]
    return table["speedup"].to_numpy(np.float64), errors.to_numpy(np.float64)


def fronts(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) and selector; FULL is the point (1, 0).

    `points` counts the selector's subset sizes (means over seeds), `on_front` those that no other
    point of the panel beats. `hypervolume` is the area between these points and the reference:
    speedup 1 and `worst_error`, the panel's largest error in percentage points. `share` is that
    area over the area of all points of the panel: shares overlap. Other controls are left out.
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
            "on_front": lambda group: int(group["on_front"].sum()),
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

    `panels_on_front`: one of its points is on the front. `panels_largest`: no hypervolume is larger
    than its own, which is not 0.
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

    `error` is relative_test_error(selector) - relative_test_error(baseline) in percentage
    points, negative if the selector is better; `log_speedup` is the natural logarithm of
    speedup(selector) / speedup(baseline).
    """
    runs = compared(ratios)
    both = runs.merge(runs, on=[*PLACE, "seed", "full_record"], suffixes=("", "_baseline"))
    both = both.rename(columns={"selector_baseline": "baseline"}).assign(
        error=both["relative_test_error"] - both["relative_test_error_baseline"],
        log_speedup=np.log((both["speedup"] / both["speedup_baseline"]).astype(float)),
    )
    pairs = contrasts(runs["selector"])
    parts = [both[(both[CONTRAST] == list(pair)).all(axis=1)] for pair in pairs]
    return pd.concat(parts, ignore_index=True)


def resampling(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the `mean_differences` of each contrast at each of LEVELS."""
    pairs = paired_differences(ratios)
    groups = [group for _, group in pairs.groupby(CONTRAST, sort=False)]
    parts = [mean_differences(group, level) for group in groups for level in LEVELS]
    return pd.concat(parts or [mean_differences(pairs, PLACE)], ignore_index=True)


def mean_differences(pairs: pd.DataFrame, level: Sequence[str]) -> pd.DataFrame:
    """Return a row per contrast and value of the columns `level`: means of `paired_differences`.

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


def time_split(runs: pd.DataFrame, ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per combination: mean seconds over seeds of each of PARTS, and mean speedup.

    Runs that do not compare with their FULL are left out; `untuned` runs have no speedup.
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
    `relative_test_error` is the mean over draws, `_low` the best and `_high` the worst. A draw that
    `diverged` counts with the accuracy that it reached. `not_comparable` counts draws that differ
    from FULL in `ratios.SAME`; these and excluded runs are left out.
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
            "speedup": lambda group: group["full_seconds"].iloc[0] / group["seconds"].mean(),
        },
        ["record", "full_record"],
    )


def _draws(panel: pd.DataFrame) -> pd.DataFrame:
    """Return the draws of a panel that agree with FULL in SAME, with FULL's means.

    If several groups of draws agree with a FULL of their own, the largest group counts.
    """
    draws, full = panel.iloc[:0], panel.iloc[:0]
    for _, alike in panel.groupby(SAME, sort=False, dropna=False):
        drawn, its_full = (alike[alike["selector"] == name] for name in ("untuned", "full"))
        if len(its_full) and len(drawn) > len(draws):
            draws, full = drawn, its_full
    accuracy = full["test_accuracy"].mean()
    return draws.assign(
        error=[relative_test_error(accuracy, reached) for reached in draws["test_accuracy"]],
        seconds=draws["total_seconds"].mask(disturbed(draws)),
        full_seconds=full["total_seconds"].mask(disturbed(full)).mean(),
        full_record=" ".join(full["record"]),
        not_comparable=int((panel["selector"] == "untuned").sum()) - len(draws),
    )
