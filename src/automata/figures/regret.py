"""What ways of tuning lose against FULL, and how much faster they are, by simulated searches."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.figures.pieces import (
    add_legend,
    add_note,
    axes_of,
    handle,
    logarithmic,
    marker,
    sized,
)
from automata.figures.style import FAINTER, Look, style

PANEL_INCHES = 1.5
LINEAR_POINTS = 2.0
"""Up to so many points the axis of regret is linear, beyond it logarithmic."""

APART = 1.03
"""Between two marks with the same speedup, which are drawn side by side."""

OTHERS: dict[str, Look] = {
    "one epoch": {"marker": "P", "markerfacecolor": "#D55E00", "markersize": 5.5},
    "untuned": {"marker": "X", "markerfacecolor": "0.4", "markersize": 5},
}
"""Methods without subsets."""


def regret_figure(table: pd.DataFrame) -> Figure:
    """Return the figure of a table of `automata simulate`: data sets by schedulers."""
    datasets = names.ordered(table["dataset"].unique(), names.DATASETS)
    schedulers = names.ordered(table["scheduler"].unique(), names.SCHEDULERS)
    with style():
        height = 0.8 + PANEL_INCHES * len(datasets)
        figure, grid = axes_of(len(datasets), len(schedulers), height, sharey=True)
        for row, dataset in zip(grid, datasets, strict=True):
            for axes, scheduler in zip(row, schedulers, strict=True):
                here = (table["dataset"] == dataset) & (table["scheduler"] == scheduler)
                _draw(axes, table[here])
                axes.set_title(f"{names.dataset(dataset)}, {names.scheduler(scheduler)}")
        for axes in grid[:, 0]:
            axes.set_ylabel("Regret (points)")
        for axes in grid[-1]:
            axes.set_xlabel("Speedup, by samples")
        selectors = names.ordered(table["selector"].unique(), names.METHODS)
        add_legend(
            figure,
            [
                *(handle(name) for name in selectors if name != "full"),
                handle("rs2", "3 finalists", markerfacecolor="white", markeredgecolor="0.4"),
                *(_entry(name) for name in OTHERS),
                Line2D([], [], color=FAINTER, linewidth=6, label="FULL (repeat)"),
            ],
        )
        add_note(
            figure,
            [
                f"Means over {table['searches'].max():,} simulated searches, with 95 % intervals "
                "over the choice of configurations and training seeds.",
                "Regret is how much test accuracy the chosen configuration, trained on all data, "
                "loses against FULL's choice; the band is that of FULL under another seed.",
                "Larger marks have larger subsets. Subsets with about the same speedup stand "
                "side by side.",
            ],
        )
    return figure


def _entry(name: str) -> Line2D:
    return Line2D([], [], linestyle="none", markeredgecolor="white", label=name, **OTHERS[name])


def _draw(axes: Axes, rows: pd.DataFrame) -> None:
    axes.axhline(0, color=FAINTER, linewidth=0.6)
    repeat = rows[rows["method"] == "FULL, repeated"]
    for low, high in repeat[["regret_low", "regret_high"]].to_numpy():
        axes.axhspan(low, high, color="0.9", zorder=0)
    usual = (rows["warm_start"] == 0) & (rows["horizon_exponent"] == 0)
    for row, x in _side_by_side(rows[usual & rows["method"].map(_is_shown)]):
        _point(axes, row, x, _look(row))
    logarithmic(axes, "x", 0.9, 1.3 * max(2.0, rows["speedup_samples"].max()))
    axes.set_yscale("symlog", linthresh=LINEAR_POINTS)
    axes.set_yticks([-1, 0, 1, 2, 5, 10, 20], ["-1", "0", "1", "2", "5", "10", "20"])


def _is_shown(method: str) -> bool:
    """Say whether a method is in the figure: the plain ones, and those with finalists."""
    return not method.startswith("FULL") and "by loss" not in method


def _side_by_side(rows: pd.DataFrame) -> Iterator[tuple[dict[Hashable, Any], float]]:
    """Yield rows and where they are drawn: subsets of one speedup beside each other."""
    alone = rows["method"].isin(list(OTHERS))
    yield from ((row, row["speedup_samples"]) for row in rows[alone].to_dict("records"))
    rows = rows[~alone]
    groups = rows.groupby(np.log(rows["speedup_samples"]).round(1), sort=True)
    for _, group in groups:
        middle = (len(group) - 1) / 2
        for place, row in enumerate(group.to_dict("records")):
            yield row, row["speedup_samples"] * APART ** (place - middle)


def _look(row: Mapping[Hashable, Any]) -> Look:
    name = str(row["method"])
    if name in OTHERS:
        return {"markeredgecolor": "white", **OTHERS[name]}
    look = marker(row["selector"], sized(row["fraction"]))
    if "finalists" in name:
        look |= {"markerfacecolor": "white", "markeredgecolor": look["color"]}
    return look


def _point(axes: Axes, row: Mapping[Hashable, Any], x: float, look: Look) -> None:
    colour = look.get("color", look["markerfacecolor"])
    ends = [row["regret_low"], row["regret_high"]]
    axes.plot([x, x], ends, color=colour, linewidth=0.6, alpha=0.6, zorder=2)
    axes.plot([x], [row["regret"]], linestyle="none", zorder=3, **look)
