"""Which selectors are on the fronts of speedup and error, and how much they cover."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.study import Study, panels, selectors
from automata.analysis.tradeoff import fronts, summary
from automata.analysis.wording import count, percent
from automata.figures.notes import protocol
from automata.figures.pieces import add_legend, add_note, axes_of, marker, say
from automata.figures.style import FAINT, SMALL, Look, style

SELECTOR_INCHES = 0.3
FRAME_INCHES = 0.8

MARKS: dict[str, Look] = {
    "panels_on_front": {"marker": "o", "label": "on the front"},
    "panels_largest": {
        "marker": "D",
        "markerfacecolor": "white",
        "label": "largest hypervolume",
    },
}
"""Of the shares of panels: columns of the summary, and how they look."""
MARK: Look = {"linestyle": "none", "color": "0.2", "markersize": 4.5}
MEAN: Look = {"color": "black", "linewidth": 1.4}


def pareto_figure(study: Study) -> Figure:
    """Return per selector, left, its shares of panels; right, its hypervolume in each panel.

    A panel is a data set, search and scheduler; see `automata.analysis.tradeoff.fronts`.
    """
    table = fronts(study.tradeoff)
    totals = summary(table)
    order = selectors(totals)
    with style():
        height = FRAME_INCHES + SELECTOR_INCHES * max(3, len(order))
        figure, grid = axes_of(1, 2, height, sharey=True)
        left, right = grid[0]
        if totals.empty:
            why = "no comparable run" if len(study.ratios) else "not run"
            say(left, why)
            say(right, why)
            return figure
        _draw_shares(left, totals.set_index("selector").loc[order])
        _draw_strips(right, table, order)
        left.set_yticks(range(len(order)), [names.selector(name) for name in order])
        left.set_ylim(len(order) - 0.5, -0.5)
        mean = Line2D([], [], label="mean over panels", **MEAN)
        marks = [Line2D([], [], **{**MARK, **look}) for look in MARKS.values()]
        add_legend(figure, [*marks, mean])
        notes = [*_note(table, study.tradeoff), *protocol(study.differences, panels(table))]
        add_note(figure, notes)
    return figure


def _draw_shares(axes: Axes, totals: pd.DataFrame) -> None:
    y = np.arange(len(totals))
    axes.hlines(y, 0, 1, color="0.9", linewidth=0.8, zorder=1)
    for offset, (column, look) in zip((-0.16, 0.16), MARKS.items(), strict=True):
        shares = totals[column] / totals["panels"]
        axes.plot(shares, y + offset, zorder=3, gid=column, **{**MARK, **look})
        for at, number, of in zip(y, totals[column], totals["panels"], strict=True):
            place: Look = {"va": "center", "fontsize": SMALL, "color": FAINT}
            axes.text(1.06, at + offset, f"{number}/{of}", **place)
    axes.set_xlim(-0.04, 1.24)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    axes.set_xlabel("Share of panels (%)")
    axes.grid(visible=False, axis="y")


def _draw_strips(axes: Axes, table: pd.DataFrame, order: list[str]) -> None:
    for y, selector in enumerate(order):
        shares = table.loc[table["selector"] == selector, "share"].to_numpy(np.float64)
        # Points side by side where they are many; the order of panels, no random numbers.
        offsets = 0.5 * ((np.arange(len(shares)) * 0.618) % 1 - 0.5)
        look = marker(selector, 3.5, linestyle="none", alpha=0.75)
        axes.plot(shares, y + offsets, gid=f"shares {selector}", zorder=3, **look)
        if np.isfinite(shares).any():
            axes.plot([np.nanmean(shares)] * 2, [y - 0.36, y + 0.36], zorder=4, **MEAN)
    axes.set_xlim(-0.04, 1.04)
    axes.set_xlabel("Hypervolume, share of all selectors' together")
    axes.grid(visible=False, axis="y")


def _note(table: pd.DataFrame, tradeoff: pd.DataFrame) -> list[str]:
    used = tradeoff[tradeoff["selector"].isin(set(table["selector"]) - {"full"})]
    sizes = {tuple(sorted(group.unique())) for _, group in used.groupby("selector")["fraction"]}
    equal = f"Subset sizes: {', '.join(percent(size) for size in max(sizes, default=()))}."
    return [
        f"A point is a data set, search and scheduler, of {count(len(panels(table)), 'panel')}.",
        "Fronts and areas are of means over seeds, a point per subset size.",
        "The hypervolume is the area that they dominate, from speedup 1 and the panel's worst"
        " error.",
        "FULL is the point (1, 0) and dominates nothing.",
        equal
        if len(sizes) <= 1
        else "Selectors were run with different subset sizes: more sizes dominate more.",
    ]
