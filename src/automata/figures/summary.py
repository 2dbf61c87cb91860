"""The paper's first figure: what AUTOMATA gains, loses and costs on five data sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator
from scipy.optimize import isotonic_regression

from automata import names
from automata.analysis.quantities import RATIOS
from automata.analysis.study import Panel, Study
from automata.figures.content import Content, content
from automata.figures.grid import ERROR_LABEL
from automata.figures.legend import write_legend
from automata.figures.notes import note
from automata.figures.panel import ERROR, look
from automata.figures.paper import COLUMNS
from automata.figures.sheet import RIGHT, Sheet
from automata.figures.style import FAINT, FAINTER, IN_MARKER, LABEL, PAGE_INCHES, TICK, style
from automata.views import PAPER

DATASETS = PAPER["performance-summary"].datasets
AUTOMATA = "gradmatch"
TIME = "total_seconds"

LABELS = {
    "speedup": RATIOS["speedup"].label,
    ERROR: ERROR_LABEL,
    TIME: "Time of tuning and final training",
}
"""Columns of the tradeoff table, one panel each."""

_SECONDS = {"s": 1, "min": 60, "h": 3600}


def _times(**numbers: tuple[int, ...]) -> dict[float, str]:
    """Return seconds and how they are called, e.g. 600 and "10 min"."""
    return {n * _SECONDS[unit]: f"{n} {unit}" for unit in numbers for n in numbers[unit]}


def _numbers(*values: float) -> dict[float, str]:
    return {value: f"{value:g}" for value in values}


_TICKS = {
    "speedup": (
        _numbers(0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128),
        _numbers(0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 2, 3, 4, 6, 8),
    ),
    TIME: (
        _times(s=(1, 10), min=(1, 10), h=(1, 10, 100, 1000)),
        _times(s=(1, 2, 5, 10, 20, 30), min=(1, 2, 5, 10, 20, 30), h=(1, 2, 5, 10, 20, 50, 100)),
    ),
}
"""Where a logarithmic axis has ticks: the first if there is room for three of them."""
_FEWEST_TICKS, _MOST_TICKS = 3, 5

# In inches.
_LEFT, _GAP, _LEGEND, _LANE, _BELOW = 1.32, 0.14, 0.2, 0.155, 0.32
_LANES = len(COLUMNS) + 0.6
"""A data set's lanes and the space around them."""

# In points.
_MARKER, _ABOVE, _DIGIT, _SPACE = 4.2, 4.9, 3.05, 2.0


def performance_summary(tables: Study) -> Figure:
    """Return AUTOMATA's performance summary (paper, figure 1): three panels, a row per data set.

    Each search and scheduler has a lane in the row; a marker is the mean of one fraction, as the
    tradeoff table has it, and the star is FULL. Speedup and time are on logarithmic axes. The
    time is what the speedup divides: the search and the final training. Lanes without runs stay.
    """
    rows = [
        [
            content(tables, Panel(dataset, *lane), RATIOS["speedup"], ("full", AUTOMATA))
            for lane in COLUMNS
        ]
        for dataset in DATASETS
    ]
    every = [one for lanes in rows for one in lanes]
    height = len(rows) * _LANES * _LANE
    width = (PAGE_INCHES - _LEFT - RIGHT - 2 * _GAP) / len(LABELS)
    with style():
        sheet = Sheet(_LEGEND + height + _BELOW, note(every, tables.differences, scatter=False))
        for i, (quantity, label) in enumerate(LABELS.items()):
            axes = sheet.axes(_LEFT + i * (width + _GAP), _LEGEND, width, height)
            _draw(axes, rows, quantity)
            axes.set_xlabel(label, labelpad=2)
            if i:
                axes.tick_params(left=False, labelleft=False)
        for i, dataset in enumerate(DATASETS):
            middle = _LEGEND + (i + 0.5) * _LANES * _LANE
            sheet.write(
                0.02, middle, names.dataset(dataset), ha="left", va="center", fontsize=LABEL
            )
        write_legend(sheet, _entries(every), _LEGEND)
    return sheet.figure


def _entries(every: Sequence[Content]) -> list[tuple[str, Line2D]]:
    schedulers = dict.fromkeys(one.panel.scheduler for one in every)
    marks = [
        (
            f"AUTOMATA, {names.SCHEDULERS[scheduler].short}",
            Line2D([], [], linestyle="none", **_look(scheduler)),
        )
        for scheduler in schedulers
    ]
    return [*marks, (names.selector("full"), Line2D([], [], linestyle="none", **look("full")))]


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
        first = i * _LANES + 0.8
        for j, one in enumerate(lanes):
            heights.append(first + j)
            search, scheduler = one.panel.search, one.panel.scheduler
            labels.append(f"{names.search(search)}, {names.SCHEDULERS[scheduler].short}")
            if one.absence is None:
                _draw_lane(axes, one, quantity, heights[-1])
        _write_absences(axes, [one.absence for one in lanes], first)
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
    left, right = axes.get_xlim()
    coarse, fine = (
        {x: t for x, t in ticks.items() if left <= x <= right} for ticks in _TICKS[quantity]
    )
    ticks = coarse if len(coarse) >= _FEWEST_TICKS else fine
    step = max(math.ceil(len(ticks) / _MOST_TICKS), 1)
    axes.set_xticks(list(ticks)[::step], list(ticks.values())[::step])
    axes.xaxis.set_minor_locator(NullLocator())
    if quantity == "speedup":
        axes.axvline(1, color=FAINT, linewidth=0.5)


def _write_absences(axes: Axes, absences: Sequence[str | None], first: float) -> None:
    """Write why lanes are empty, once where it is the same for all of a data set."""
    alone = len(set(absences)) == 1
    middle = first + (len(absences) - 1) / 2
    shown = {middle: absences[0]} if alone else {first + i: why for i, why in enumerate(absences)}
    for height, why in shown.items():
        if why is not None:
            axes.text(
                0.5,
                height,
                why,
                transform=axes.get_yaxis_transform(),
                ha="center",
                va="center",
                fontsize=TICK,
                color=FAINT,
            )


def _draw_lane(axes: Axes, one: Content, quantity: str, height: float) -> None:
    axes.hlines(
        height, one.means[quantity].min(), one.means[quantity].max(), color="0.85", linewidth=0.6
    )
    scheduler = one.panel.scheduler
    subsets = one.means[one.means["selector"] == AUTOMATA].sort_values("fraction")
    if f"{quantity}_low" in subsets:
        several = subsets[subsets["seeds"] > 1]
        low, high = several[f"{quantity}_low"], several[f"{quantity}_high"]
        bars: dict[str, Any] = {"linewidth": 0.6, "zorder": 2, "gid": "bars"}
        axes.hlines(
            [height] * len(several), low, high, color=_look(scheduler)["markerfacecolor"], **bars
        )
    for x in one.means[one.means["selector"] == "full"][quantity]:
        axes.plot([x], [height], linestyle="none", zorder=2.5, gid="mean full", **_FULL)
    for x in subsets[quantity]:
        axes.plot(
            [x], [height], linestyle="none", zorder=3, gid="mean gradmatch", **_look(scheduler)
        )
    _write_fractions(axes, subsets["fraction"], subsets[quantity], height)


def _write_fractions(axes: Axes, fractions: pd.Series, values: pd.Series, height: float) -> None:
    """Write percents above their markers, moved sideways as little as keeps them apart."""
    labels = [f"{100 * fraction:g}" for fraction in fractions]
    pixels = axes.transData.transform([(x, height) for x in values])[:, 0]
    points = (pixels * 72 / axes.figure.dpi).tolist()
    for i, moved in zip(
        *spread(points, [_DIGIT * len(label) + _SPACE for label in labels]), strict=True
    ):
        axes.annotate(
            labels[i],
            (values.iloc[i], height),
            xytext=(moved - points[i], _ABOVE),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=IN_MARKER,
            zorder=4,
        )


def spread(centres: Sequence[float], widths: Sequence[float]) -> tuple[list[int], list[float]]:
    """Return an order of labels on a line and centres that keep them apart.

    `centres` and `widths` are in one unit, a width includes the space around a label. The new
    centres are the nearest to the old ones (least squares) at which no two labels overlap.
    """
    order = np.argsort(centres, kind="stable")
    wide = np.asarray(widths, dtype=float)[order]
    offsets = np.concatenate([[0.0], np.cumsum((wide[1:] + wide[:-1]) / 2)])
    moved = isotonic_regression(np.asarray(centres)[order] - offsets).x + offsets
    return order.tolist(), moved.tolist()


def _look(scheduler: str) -> dict[str, Any]:
    return {
        "marker": names.SCHEDULERS[scheduler].marker,
        "markersize": _MARKER,
        "markerfacecolor": names.SCHEDULERS[scheduler].colour,
        "markeredgecolor": "white",
        "markeredgewidth": 0.3,
    }


_FULL = {**look("full"), "markersize": 6.0}
