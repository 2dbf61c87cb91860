"""Where the seconds of every combination of a data set go."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, MaxNLocator

from automata import names
from automata.analysis.study import Study
from automata.analysis.tradeoff import PARTS, time_split
from automata.analysis.wording import percent
from automata.figures.notes import add_study_note, counted
from automata.figures.pieces import add_legend, in_order, panel_title, panels, say
from automata.figures.style import PAGE_INCHES, style
from automata.names import CONTROLS

BAR_INCHES = 0.16

LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "training": ("training in the search", {"facecolor": "0.3"}),
    "selection": ("selection", {"facecolor": "white", "hatch": "//////"}),
    "evaluation": ("evaluation", {"facecolor": "0.6"}),
    "orchestration": ("orchestration", {"facecolor": "black"}),
    "final": ("final training", {"facecolor": "0.88"}),
}
"""Of each part, its name and how its bars look: greys and hatches, for there is no colour."""


def time_split_figure(tables: Study, dataset: str) -> Figure:
    """Return stacked bars of mean seconds per selector and subset size, a column per panel.

    Bars are rows of `tradeoff.time_split`; the number at the end of each is its speedup.
    """
    table = time_split(tables.runs[tables.runs["dataset"] == dataset], tables.ratios)
    bars = _bars(table)
    columns = panels(table)
    with style():
        figure, grid = plt.subplots(
            ncols=max(1, len(columns)),
            squeeze=False,
            sharey=True,
            figsize=(PAGE_INCHES, 0.9 + BAR_INCHES * max(6, len(bars))),
            layout="constrained",
        )
        for axes, (search, scheduler) in zip(grid[0], columns, strict=False):
            panel = table[(table["search"] == search) & (table["scheduler"] == scheduler)]
            _draw(axes, panel, bars, _untuned_speedup(tables, dataset, search, scheduler))
            axes.set_title(panel_title(search, scheduler))
        if columns:
            grid[0, 0].set_yticks(range(len(bars)), [_bar_name(*bar) for bar in bars])
            grid[0, 0].set_ylim(len(bars) - 0.4, -0.6)
            figure.supxlabel("Seconds, mean over seeds", fontsize=8)
            handles = [
                Patch(edgecolor="black", linewidth=0.4, label=name, **look)
                for name, look in LOOKS.values()
            ]
            add_legend(figure, handles, len(LOOKS), names.dataset(dataset))
            add_study_note(figure, _note(table), tables, table)
        else:
            say(grid[0, 0])
        plt.close(figure)
    return figure


def _bars(table: pd.DataFrame) -> list[tuple[str, float]]:
    """Return selectors and fractions from top to bottom."""
    present = set(zip(table["selector"], table["fraction"], strict=True))
    return [
        (selector, fraction)
        for selector in in_order(table["selector"])
        for fraction in sorted({f for name, f in present if name == selector})
    ]


def _bar_name(selector: str, fraction: float) -> str:
    name = names.selector(selector)
    return name if selector in CONTROLS else f"{name} {percent(fraction)}"


def _draw(
    axes: Axes, panel: pd.DataFrame, bars: list[tuple[str, float]], untuned: float | None
) -> None:
    rows = {(row["selector"], row["fraction"]): row for row in panel.to_dict("records")}
    widest = float(panel["total_seconds"].max())
    for y, bar in enumerate(bars):
        if bar not in rows:
            axes.text(0.02 * widest, y, "not run", va="center", fontsize=5, color="0.35")
            continue
        row = rows[bar]
        start = 0.0
        for part in PARTS:
            _, look = LOOKS[part]
            width = float(row[f"{part}_seconds"])
            axes.barh(
                y, width, 0.72, left=start, edgecolor="black", linewidth=0.3, zorder=2, **look
            )
            start += width
        gain = untuned if bar[0] == "untuned" else float(row["speedup"])
        if gain is not None and np.isfinite(gain):
            axes.text(
                start + 0.02 * widest,
                y,
                f"{gain:#.3g}\N{MULTIPLICATION SIGN}",
                va="center",
                fontsize=5,
            )
    axes.set_xlim(0, 1.4 * widest)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _untuned_speedup(tables: Study, dataset: str, search: str, scheduler: str) -> float | None:
    """Return the speedup of the panel's draws without tuning, None where there are none."""
    table = tables.untuned
    row = table[
        (table["dataset"] == dataset)
        & (table["search"] == search)
        & (table["scheduler"] == scheduler)
    ]
    return None if row.empty else float(row["speedup"].iloc[0])


def _note(table: pd.DataFrame) -> list[str]:
    drawn = table["selector"] == "untuned"
    return [
        *_counted(table[~drawn], "seed"),
        *(f"untuned: {draws}, a ratio of means" for draws in _counted(table[drawn], "draw")),
        "work inside trials counts for its share of the trials at once; orchestration is the rest"
        " of the search's wall time",
        "numbers: speedup over FULL, mean of the seeds' ratios",
    ]


def _counted(table: pd.DataFrame, unit: str) -> list[str]:
    """Return over how many seeds the rows are, e.g. 3 to 5 seeds; nothing without rows."""
    seeds = table["seeds"]
    return [] if table.empty else [counted(int(seeds.min()), int(seeds.max()), unit)]
