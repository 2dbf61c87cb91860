"""The paper's first figure: what AUTOMATA gains, loses and costs on five data sets."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from automata import names
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Panel, Study
from automata.analysis.wording import seconds
from automata.figures import style
from automata.figures.style import FAINT, RATIO_TICKS, Look
from automata.figures.tradeoff import COLUMNS, ERROR, Content, add_note, content
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

    Each search and scheduler has a lane in the row. A marker is the mean of one fraction in the
    tradeoff table; the star is FULL. Time includes the final training. Empty lanes remain.
    """
    lanes = [
        content(study, Panel(dataset, *column), QUANTITIES["speedup"], ("full", AUTOMATA))
        for dataset in datasets
        for column in COLUMNS
    ]
    heights = [i // len(COLUMNS) * LANES + i % len(COLUMNS) + 0.8 for i in range(len(lanes))]
    height = 0.8 + len(datasets) * LANES * LANE_INCHES
    figure, grid = style.axes_of(1, len(LABELS), height, sharey=True)
    for axes, (quantity, label) in zip(grid[0], LABELS.items(), strict=True):
        _draw(axes, lanes, heights, quantity)
        axes.set_xlabel(label)
    first = grid[0, 0]
    first.set_yticks(heights, [names.tuner(*one.panel[1:]) for one in lanes])
    first.set_ylim(len(datasets) * LANES, 0)
    for i, dataset in enumerate(datasets):
        place: Look = {"xycoords": first.get_yaxis_transform(), "va": "center", "ha": "right"}
        at = (-0.5, (i + 0.5) * LANES)
        first.annotate(names.dataset(dataset), at, annotation_clip=False, **place)
    schedulers = dict.fromkeys(one.panel.scheduler for one in lanes if one.absence is None)
    handles = [
        style.handle(AUTOMATA, f"AUTOMATA, {names.scheduler_look(it).short}", **_look(it))
        for it in schedulers
    ]
    style.add_legend(figure, [*handles, style.handle("full", **FULL)] if handles else [])
    add_note(figure, lanes, study)
    return figure


def _draw(axes: Axes, lanes: Sequence[Content], heights: Sequence[float], quantity: str) -> None:
    """Draw one quantity of all data sets."""
    style.hide_lines(axes)
    for edge in range(len(COLUMNS), len(lanes), len(COLUMNS)):
        axes.axhline(edge // len(COLUMNS) * LANES, color=style.FAINTER, linewidth=0.5)
    _set_scale(axes, pd.concat([one.means for one in lanes]), quantity)
    for one, height in zip(lanes, heights, strict=True):
        if one.absence is None:
            _draw_lane(axes, one, quantity, height)
        elif quantity == "speedup":  # the first panel says it for all
            place: Look = {"transform": axes.get_yaxis_transform(), "ha": "center", "va": "center"}
            axes.text(0.5, height, one.absence, fontsize=style.TICK, color=FAINT, **place)


def _set_scale(axes: Axes, means: pd.DataFrame, quantity: str) -> None:
    """Fit x to all values of `quantity`, with room for a marker at both ends."""
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


def _draw_lane(axes: Axes, one: Content, quantity: str, height: float) -> None:
    means = one.means
    axes.hlines(height, means[quantity].min(), means[quantity].max(), color="0.85", linewidth=0.6)
    subsets = means[means["selector"] == AUTOMATA]
    if f"{quantity}_low" in subsets:
        several = subsets[subsets["seeds"] > 1]
        low, high = several[f"{quantity}_low"], several[f"{quantity}_high"]
        colour = names.scheduler_look(one.panel.scheduler).colour
        axes.hlines([height] * len(several), low, high, color=colour, linewidth=0.6, gid="bars")
    for selector, x, fraction in means[["selector", quantity, "fraction"]].to_numpy():
        look = _look(one.panel.scheduler, fraction) if selector == AUTOMATA else FULL
        axes.plot(
            [x],
            [height],
            gid=f"mean {selector}",
            zorder=4 - fraction,
            **style.marker(selector, **look),
        )


def _look(scheduler: str, fraction: float = 0.1) -> Look:
    """Return what differs between AUTOMATA's marker and its marker with `scheduler`."""
    row = names.scheduler_look(scheduler)
    colours = {"color": row.colour, "markerfacecolor": row.colour}
    return {"size": style.sized(fraction), "marker": row.marker, "linestyle": "none", **colours}
