"""Measured speedups against the speedups that the saved epochs alone would give."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Study, panels, selectors
from automata.analysis.wording import count
from automata.figures.notes import protocol
from automata.figures.pieces import add_legend, add_note, axes_of, handle, logarithmic, marker, say
from automata.figures.style import PAGE_INCHES, Look, style
from automata.names import ALL_DATA_CONTROLS

SIZE = 4.5


def ceiling_figure(study: Study) -> Figure:
    """Return speedup against ceiling, a panel per scheduler, a point per combination.

    Points above the line of equality have a black edge; the note says how they can come about.
    """
    table = study.tradeoff
    # Both train what FULL trains: their ceiling is one.
    table = table[~table["selector"].isin(ALL_DATA_CONTROLS) & table["speedup"].notna()]
    schedulers = names.ordered(table["scheduler"], names.SCHEDULERS)
    columns = max(1, len(schedulers))
    with style():
        width = min(PAGE_INCHES, 1.0 + 2.7 * columns)
        figure, grid = axes_of(1, columns, 3.5, width, sharex=True, sharey=True)
        if table.empty:
            say(grid[0, 0], "no comparable run" if len(study.ratios) else "not run")
            return figure
        values = table[["speedup", "ceiling"]].to_numpy(dtype=float)
        ends = min(0.9, values.min() / 1.15), max(1.1, values.max() * 1.15)
        for axes, scheduler in zip(grid[0], schedulers, strict=True):
            _draw(axes, table[table["scheduler"] == scheduler], ends)
            axes.set_title(names.scheduler(scheduler))
            axes.set_xlabel(QUANTITIES["ceiling"].heading)
        grid[0, 0].set_ylabel(QUANTITIES["speedup"].label)
        add_legend(figure, _handles(table))
        add_note(figure, [*_note(table), *protocol(study.differences, panels(table))])
    return figure


def above(table: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows have a speedup above their ceiling."""
    return table["speedup"] > table["ceiling"]


def _draw(axes: Axes, rows: pd.DataFrame, ends: tuple[float, float]) -> None:
    axes.plot(ends, ends, color="0.3", linewidth=0.8, zorder=1)
    for selector in selectors(rows):
        own = rows[rows["selector"] == selector]
        edges = ["black" if over else "white" for over in above(own)]
        look = marker(selector)
        place: Look = {"s": SIZE**2, "linewidth": 0.5, "zorder": 3, "gid": f"points {selector}"}
        axes.scatter(
            own["ceiling"],
            own["speedup"],
            marker=look["marker"],
            color=look["color"],
            edgecolor=edges,
            **place,
        )
    for xy in "xy":
        logarithmic(axes, xy, *ends)
    axes.set_aspect("equal")


def _handles(table: pd.DataFrame) -> list[Line2D]:
    handles = [handle(name, size=SIZE, linestyle="none") for name in selectors(table)]
    look: Look = {"linestyle": "none", "markerfacecolor": "white", "markeredgecolor": "black"}
    look["markeredgewidth"] = 0.6
    edge = Line2D([], [], marker="o", markersize=SIZE, label="above its ceiling", **look)
    return [*handles, *([edge] if above(table).any() else [])]


def _note(table: pd.DataFrame) -> list[str]:
    over = table[above(table)]
    explained = int((over["speedup"] <= over["final_ceiling"]).sum())
    sentences = [
        f"Ceiling: {QUANTITIES['ceiling'].definition}",
        f"{count(len(table), 'point')}: means over seeds of a selector and subset size.",
        f"The median of speedup / ceiling is {table['efficiency'].median():.2f}.",
    ]
    if len(over):
        sentences += [
            f"{len(over)} lie above the line, {explained} of them because a configuration that is"
            " cheap to train won: they lie below the ceiling with the measured final training."
        ]
    return sentences
