"""The paper's first figure: what AUTOMATA gains, loses and costs on five data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from automata.analysis.experiment import Tables
from automata.figures import names
from automata.figures.content import Content, Panel, content
from automata.figures.grid import ERROR_LABEL
from automata.figures.legend import write_legend
from automata.figures.notes import note
from automata.figures.panel import ERROR, look, write_fraction
from automata.figures.paper import COLUMNS
from automata.figures.ratio import RATIOS
from automata.figures.sheet import Sheet
from automata.figures.style import (
    FAINT,
    FAINTER,
    LABEL,
    PAGE_INCHES,
    SCHEDULER_COLOURS,
    SCHEDULER_MARKERS,
    TICK,
    style,
)

DATASETS = ("sst2", "glue-sst2", "cifar10", "cifar100", "connect4")
AUTOMATA = "gradmatch"
TIME = "total_seconds"

LABELS = {
    "speedup": RATIOS["speedup"].label,
    ERROR: ERROR_LABEL,
    TIME: "Tuning time, final training included",
}
"""Columns of the tradeoff table, one panel each."""

TIMES = {
    1: "1 s",
    10: "10 s",
    60: "1 min",
    600: "10 min",
    3600: "1 h",
    36_000: "10 h",
    360_000: "100 h",
    3_600_000: "1000 h",
}
"""Seconds, and what the axis calls them."""

SPEEDUPS = {value: f"{value:g}" for value in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128)}

# In inches.
_LEFT, _RIGHT, _GAP, _LEGEND, _LANE, _BELOW = 1.32, 0.06, 0.14, 0.2, 0.14, 0.32
_LANES = len(COLUMNS) + 0.6
"""A data set's lanes and the space around them."""
_MARKER = 6.6


def performance_summary(tables: Tables) -> Figure:
    """Return AUTOMATA's performance summary (paper, figure 1): three panels, a row per data set.

    Each search and scheduler has a lane in the row; a marker is the mean of one fraction, as the
    tradeoff table has it, and the star is FULL. Speedup and time are on logarithmic axes. The
    time is what the speedup divides: the search and the final training. Lanes without runs stay.
    """
    rows = [
        [content(tables, Panel(dataset, *lane), RATIOS["speedup"], ("full", AUTOMATA)) for lane in COLUMNS]
        for dataset in DATASETS
    ]
    every = [one for lanes in rows for one in lanes]
    height = len(rows) * _LANES * _LANE
    width = (PAGE_INCHES - _LEFT - _RIGHT - 2 * _GAP) / len(LABELS)
    with style():
        sheet = Sheet(_LEGEND + height + _BELOW, note(every, tables.differences, dots=False))
        for i, (quantity, label) in enumerate(LABELS.items()):
            axes = sheet.axes(_LEFT + i * (width + _GAP), _LEGEND, width, height)
            _draw(axes, rows, quantity)
            axes.set_xlabel(label, labelpad=2)
            if i:
                axes.tick_params(left=False, labelleft=False)
        for i, dataset in enumerate(DATASETS):
            middle = _LEGEND + (i + 0.5) * _LANES * _LANE
            sheet.write(0.02, middle, names.dataset(dataset), ha="left", va="center", fontsize=LABEL)
        write_legend(sheet, _entries(every), _LEGEND)
    return sheet.figure


def _entries(every: Sequence[Content]) -> list[tuple[str, Line2D]]:
    schedulers = dict.fromkeys(one.panel.scheduler for one in every)
    marks = [
        (
            f"AUTOMATA, {names.SCHEDULERS[scheduler]}",
            Line2D([], [], linestyle="none", **_look(scheduler)),
        )
        for scheduler in schedulers
    ]
    return [*marks, (names.SELECTORS["full"], Line2D([], [], linestyle="none", **look("full")))]


def _draw(axes: Axes, rows: Sequence[Sequence[Content]], quantity: str) -> None:
    """Draw one quantity of all data sets into `axes`, and set its axes up."""
    sns.despine(ax=axes)
    axes.set_ylim(len(rows) * _LANES, 0)
    axes.yaxis.grid(visible=False)
    for edge in range(1, len(rows)):
        axes.axhline(edge * _LANES, color=FAINTER, linewidth=0.5)
    means = pd.concat([one.means for lanes in rows for one in lanes])
    _set_scale(axes, means, quantity)
    heights, labels = [], []
    for i, lanes in enumerate(rows):
        for j, one in enumerate(lanes):
            heights.append(i * _LANES + 0.8 + j)
            labels.append(f"{names.SEARCHES[one.panel.search]}, {names.SCHEDULERS[one.panel.scheduler]}")
            _draw_lane(axes, one, quantity, heights[-1])
    axes.set_yticks(heights, labels, fontsize=TICK)


def _set_scale(axes: Axes, means: pd.DataFrame, quantity: str) -> None:
    """Fit x to all values of `quantity`; a marker's width stays free at both ends."""
    columns = [name for name in (quantity, f"{quantity}_low", f"{quantity}_high") if name in means]
    values = means[columns].to_numpy(dtype=float).ravel()
    if not len(values):
        axes.set_xticks([])
        return
    if quantity == ERROR:
        low, high = min(0.0, values.min()), max(0.0, values.max(), 0.5)
        axes.set_xlim(low - 0.07 * (high - low), high + 0.07 * (high - low))
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.axvline(0, color=FAINT, linewidth=0.5)
        return
    low, high = np.log(values.min()), np.log(values.max())
    room = 0.07 * max(high - low, 0.5)
    axes.set_xscale("log")
    axes.set_xlim(np.exp(low - room), np.exp(high + room))
    ticks = TIMES if quantity == TIME else SPEEDUPS
    axes.xaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: ticks[round(value, 2)]))
    axes.xaxis.set_minor_locator(NullLocator())
    if quantity == "speedup":
        axes.axvline(1, color=FAINT, linewidth=0.5)


def _draw_lane(axes: Axes, one: Content, quantity: str, height: float) -> None:
    if one.absence is not None:
        axes.text(
            0.5,
            height,
            one.absence,
            transform=axes.get_yaxis_transform(),
            ha="center",
            va="center",
            fontsize=TICK,
            color=FAINT,
        )
        return
    axes.hlines(height, one.means[quantity].min(), one.means[quantity].max(), color="0.85", linewidth=0.6)
    scheduler = one.panel.scheduler
    colour = SCHEDULER_COLOURS[scheduler]
    subsets = one.means[one.means["selector"] == AUTOMATA].sort_values("fraction")
    if f"{quantity}_low" in subsets:
        several = subsets[subsets["seeds"] > 1]
        low, high = several[f"{quantity}_low"], several[f"{quantity}_high"]
        bars: dict[str, Any] = {"color": colour, "linewidth": 0.6, "zorder": 2, "gid": "bars"}
        axes.hlines([height] * len(several), low, high, **bars)
    for x in one.means[one.means["selector"] == "full"][quantity]:
        axes.plot([x], [height], linestyle="none", zorder=2.5, gid="mean full", **look("full"))
    for place, (fraction, x) in enumerate(zip(subsets["fraction"], subsets[quantity], strict=True)):
        above = 3 + place / 100
        axes.plot([x], [height], linestyle="none", zorder=above, gid="mean gradmatch", **_look(scheduler))
        write_fraction(axes, x, height, fraction, SCHEDULER_MARKERS[scheduler], colour, above)


def _look(scheduler: str) -> dict[str, Any]:
    return {
        "marker": SCHEDULER_MARKERS[scheduler],
        "markersize": _MARKER,
        "markerfacecolor": SCHEDULER_COLOURS[scheduler],
        "markeredgecolor": "white",
        "markeredgewidth": 0.4,
    }
