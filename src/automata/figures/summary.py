"""The paper's first figure: AUTOMATA's speedup, error and time on five data sets."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from automata import names
from automata.analysis.quantities import ERROR, QUANTITIES
from automata.analysis.study import Study
from automata.analysis.wording import seconds
from automata.figures import style
from automata.figures.style import FAINT, RATIO_TICKS, Look
from automata.figures.tradeoff import COLUMNS, add_note, content, papers
from automata.names import AUTOMATA

TIME = "total_seconds"
LABELS = {name: QUANTITIES[name].label for name in ("speedup", ERROR, TIME)}
"""Column of the tradeoff table -> label of its panel."""

FULL: Look = {"size": 6.0, "linestyle": "none"}
LANE_INCHES = 0.15
LANES = len(COLUMNS) + 0.6
"""Lanes of a data set with the space around them."""

MINUTE, HOUR = 60, 3600
TIMES = [
    {float(tick): seconds(tick) for tick in ticks}
    for ticks in (
        (1, MINUTE, HOUR, 10 * HOUR, 100 * HOUR),
        (1, 10, MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, 100 * HOUR),
        [n * unit for unit in (1, MINUTE) for n in (1, 2, 5, 10, 30)]
        + [n * HOUR for n in (1, 2, 5, 10, 20, 50, 100)],
    )
]
"""Ticks in seconds with their labels, from coarse to fine."""


def performance_summary(study: Study, *datasets: str) -> Figure:
    """Return AUTOMATA's performance summary (paper, figure 1): three panels, a row per data set.

    Each search and scheduler has a lane in the row. A marker is a row of the tradeoff table; the
    star is FULL. Data sets without runs are left out, single lanes are not.
    """
    contents = [
        content(study, panel, QUANTITIES["speedup"], ("full", AUTOMATA))
        for dataset in datasets
        for panel in papers(dataset)
    ]
    ran = {one.panel.dataset for one in contents if len(one.runs)}
    datasets = tuple(name for name in datasets if name in ran) or datasets
    lanes = [one for one in contents if one.panel.dataset in datasets]
    heights = [i // len(COLUMNS) * LANES + i % len(COLUMNS) + 0.8 for i in range(len(lanes))]
    height = 0.8 + len(datasets) * LANES * LANE_INCHES
    figure, grid = style.axes_of(1, len(LABELS), height, sharey=True)
    placed = [one.means.assign(height=at) for one, at in zip(lanes, heights, strict=True)]
    for axes, (quantity, label) in zip(grid[0], LABELS.items(), strict=True):
        _draw(axes, pd.concat(placed), quantity)
        for edge in range(1, len(datasets)):
            axes.axhline(edge * LANES, color=style.FAINTER, linewidth=0.5)
        axes.set(xlabel=label, ylabel="")
        style.hide_lines(axes)
    first = grid[0, 0]
    for one, at in zip(lanes, heights, strict=True):
        if one.absence is not None:
            place: Look = {"transform": first.get_yaxis_transform(), "ha": "center", "va": "center"}
            first.text(0.5, at, one.absence, fontsize=style.TICK, color=FAINT, **place)
    first.set_yticks(heights, [one.panel.tuner for one in lanes])
    first.set_ylim(len(datasets) * LANES, 0)
    for i, dataset in enumerate(datasets):
        place = {"xycoords": first.get_yaxis_transform(), "va": "center", "ha": "right"}
        middle = (-0.5, (i + 0.5) * LANES)
        first.annotate(names.dataset(dataset), middle, annotation_clip=False, **place)
    schedulers = dict.fromkeys(one.panel.scheduler for one in lanes if one.absence is None)
    handles = [
        style.handle(AUTOMATA, f"AUTOMATA, {names.scheduler_look(name).short}", **_look(name))
        for name in schedulers
    ]
    style.add_legend(figure, [*handles, style.handle("full", **FULL)] if handles else [])
    add_note(figure, contents, study)
    return figure


def _draw(axes: Axes, means: pd.DataFrame, quantity: str) -> None:
    """Draw one quantity of all data sets, small subsets above large ones."""
    _set_scale(axes, means, quantity)
    ends = means.groupby("height")[quantity].agg(["min", "max"])
    axes.hlines(ends.index, ends["min"], ends["max"], color="0.85", linewidth=0.6)
    means = means.sort_values("fraction", ascending=False)
    subsets = means[means["selector"] == AUTOMATA]
    if f"{quantity}_low" in subsets:
        several = subsets[subsets["seeds"] > 1]
        low, high = several[f"{quantity}_low"], several[f"{quantity}_high"]
        colours = [names.scheduler_look(name).colour for name in several["scheduler"]]
        axes.hlines(several["height"], low, high, color=colours, linewidth=0.6, gid="bars")
    look: Look = {"edgecolor": "white", "linewidth": 0.3, "zorder": 4}
    for selector, rows in means.groupby("selector"):
        by = "scheduler" if selector == AUTOMATA else "selector"
        sizes = rows["fraction"].map(style.sized) if selector == AUTOMATA else FULL["size"]
        look |= {"s": sizes**2, "gid": f"mean {selector}"}
        style.scatter(axes, rows, quantity, "height", by, **look)


def _set_scale(axes: Axes, means: pd.DataFrame, quantity: str) -> None:
    """Fit x to all values of `quantity`, with room for markers at both ends."""
    columns = [name for name in (quantity, f"{quantity}_low", f"{quantity}_high") if name in means]
    values = means[columns].to_numpy(dtype=float)
    if not values.size:
        axes.set_xticks([])
    elif quantity == ERROR:
        low, high = min(0.0, values.min()), max(0.5, values.max())
        axes.set_xlim(low - 0.07 * (high - low), high + 0.07 * (high - low))
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.axvline(0, color=FAINT, linewidth=0.5)
    else:
        room = (max(values.max() / values.min(), 1.5)) ** 0.07
        ticks = TIMES if quantity == TIME else RATIO_TICKS
        style.logarithmic(axes, "x", values.min() / room, values.max() * room, ticks)


def _look(scheduler: str) -> Look:
    """Return what distinguishes AUTOMATA's marker with `scheduler`."""
    row = names.scheduler_look(scheduler)
    colours = {"color": row.colour, "markerfacecolor": row.colour}
    return {"size": style.sized(0.1), "marker": row.marker, "linestyle": "none", **colours}
