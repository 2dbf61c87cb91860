"""Measured speedups against the speedups that the saved epochs alone would give."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from automata import names
from automata.analysis.study import Study
from automata.figures.notes import add_study_note
from automata.figures.pieces import add_legend, in_order, say
from automata.figures.style import PAGE_INCHES, style
from automata.names import ALL_DATA


def ceiling_figure(tables: Study) -> Figure:
    """Return speedup against ceiling, a panel per scheduler, a point per combination.

    Points above the line of equality have a black edge; the note says how they can come about.
    """
    table = tables.tradeoff
    # Both train what FULL trains: their ceiling is one.
    table = table[~table["selector"].isin(ALL_DATA) & table["speedup"].notna()]
    schedulers = [name for name in names.SCHEDULERS if name in set(table["scheduler"])]
    order = in_order(table["selector"])
    with style():
        figure, grid = plt.subplots(
            ncols=max(1, len(schedulers)),
            squeeze=False,
            sharex=True,
            sharey=True,
            figsize=(min(PAGE_INCHES, 1.2 + 2.7 * max(1, len(schedulers))), 3.4),
            layout="constrained",
        )
        if table.empty:
            say(grid[0, 0])
        else:
            ends = [min(0.9, _least(table)), max(1.1, _most(table))]
            for axes, scheduler in zip(grid[0], schedulers, strict=True):
                _draw(axes, table[table["scheduler"] == scheduler], order, ends)
                axes.set_title(names.SCHEDULERS[scheduler].short)
                axes.set_xlabel("Ceiling of the speedup (\N{MULTIPLICATION SIGN})")
            grid[0, 0].set_ylabel("Measured speedup (\N{MULTIPLICATION SIGN})")
            add_legend(figure, _handles(order, bool(above(table).any())))
            add_study_note(figure, _note(table), tables, table)
        plt.close(figure)
    return figure


def above(table: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows have a speedup above their ceiling."""
    return table["speedup"] > table["ceiling"]


def _least(table: pd.DataFrame) -> float:
    return float(table[["speedup", "ceiling"]].min().min()) / 1.15


def _most(table: pd.DataFrame) -> float:
    return float(table[["speedup", "ceiling"]].max().max()) * 1.15


def _draw(axes: Axes, rows: pd.DataFrame, order: list[str], ends: list[float]) -> None:
    axes.plot(ends, ends, color="0.3", linewidth=0.8, zorder=1)
    for selector in order:
        own = rows[rows["selector"] == selector]
        axes.scatter(
            own["ceiling"],
            own["speedup"],
            s=20,
            marker=names.SELECTORS[selector].marker,
            color=names.SELECTORS[selector].colour,
            edgecolor=["black" if over else "white" for over in above(own)],
            linewidth=0.5,
            label=names.selector(selector),
            zorder=3,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _handles(order: list[str], with_edge: bool) -> list[Line2D]:
    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=names.SELECTORS[name].marker,
            color=names.SELECTORS[name].colour,
            markersize=4,
            label=names.selector(name),
        )
        for name in order
    ]
    edge = Line2D(
        [],
        [],
        linestyle="none",
        marker="o",
        markersize=4.5,
        markerfacecolor="white",
        markeredgecolor="black",
        markeredgewidth=0.6,
        label="above its ceiling",
    )
    return [*handles, *([edge] if with_edge else [])]


def _note(table: pd.DataFrame) -> list[str]:
    over = table[above(table)]
    explained = int((over["speedup"] <= over["final_ceiling"]).sum())
    efficiency = np.median(table["efficiency"].to_numpy(np.float64))
    notes = [
        "ceiling: an epoch costs its share of the samples, a selection by gradients one forward"
        " pass, nothing else anything",
        f"{len(table)} combinations, means over seeds, median of speedup / ceiling"
        f" {efficiency:.2f}",
    ]
    if len(over):
        notes += [
            f"{len(over)} above the line: epochs are not equally dear; a winning configuration with"
            " large batches or a small model makes the final training cheaper than the ceiling"
            " counts",
            f"of these, {explained} below the ceiling with the final training at what it took",
        ]
    return notes
