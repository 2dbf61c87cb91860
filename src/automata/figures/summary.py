"""The paper's first figure: what AUTOMATA gains, loses and costs on five data sets."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from automata import names
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Panel, Study
from automata.figures.content import Content, content
from automata.figures.notes import bars, left_out, protocol, seeds, weaknesses
from automata.figures.panel import ERROR, ERROR_LABEL
from automata.figures.paper import COLUMNS
from automata.figures.pieces import (
    RATIO_TICKS,
    add_legend,
    add_note,
    axes_of,
    handle,
    logarithmic,
    sized,
)
from automata.figures.style import FAINT, FAINTER, TICK, Look, style
from automata.names import AUTOMATA

TIME = "total_seconds"

LABELS = {
    "speedup": QUANTITIES["speedup"].label,
    ERROR: ERROR_LABEL,
    TIME: QUANTITIES[TIME].words.capitalize(),
}
"""Columns of the tradeoff table, one panel each."""

LANE_INCHES = 0.15
LANES = len(COLUMNS) + 0.6
"""A data set's lanes and the space around them."""


def _times(**numbers: tuple[int, ...]) -> dict[float, str]:
    """Return seconds and how they are called, e.g. 600 and "10 min"."""
    seconds = {"s": 1, "min": 60, "h": 3600}
    return {n * seconds[unit]: f"{n} {unit}" for unit in numbers for n in numbers[unit]}


TIMES = (
    _times(s=(1,), min=(1,), h=(1, 10, 100)),
    _times(s=(1, 10), min=(1, 10), h=(1, 10, 100)),
    _times(s=(1, 2, 5, 10, 30), min=(1, 2, 5, 10, 30), h=(1, 2, 5, 10, 20, 50, 100)),
)
"""Ticks, from coarse to fine."""


def performance_summary(study: Study, *datasets: str) -> Figure:
    """Return AUTOMATA's performance summary (paper, figure 1): three panels, a row per data set.

    Each search and scheduler has a lane in the row; a marker is the mean of one fraction, as the
    tradeoff table has it, and the star is FULL. Speedup and time are on logarithmic axes. The
    time is what the speedup divides: the search and the final training. Lanes without runs stay.
    """
    drawn = ("full", AUTOMATA)
    lanes = [
        content(study, Panel(dataset, *column), QUANTITIES["speedup"], drawn)
        for dataset in datasets
        for column in COLUMNS
    ]
    heights = [i // len(COLUMNS) * LANES + i % len(COLUMNS) + 0.8 for i in range(len(lanes))]
    with style():
        height = 0.8 + len(datasets) * LANES * LANE_INCHES
        figure, grid = axes_of(1, len(LABELS), height, sharey=True)
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
        add_legend(figure, _handles([one for one in lanes if one.absence is None]))
        add_note(figure, _note(lanes, study))
    return figure


def _draw(axes: Axes, lanes: Sequence[Content], heights: Sequence[float], quantity: str) -> None:
    """Draw one quantity of all data sets into `axes`, and set its x axis up."""
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    for edge in range(len(COLUMNS), len(lanes), len(COLUMNS)):
        axes.axhline(edge // len(COLUMNS) * LANES, color=FAINTER, linewidth=0.5)
    _set_scale(axes, pd.concat([one.means for one in lanes]), quantity)
    for one, height in zip(lanes, heights, strict=True):
        if one.absence is None:
            _draw_lane(axes, one, quantity, height)
        elif quantity == "speedup":  # the first
            across = axes.get_yaxis_transform()
            place: Look = {"transform": across, "ha": "center", "va": "center"}
            axes.text(0.5, height, one.absence, fontsize=TICK, color=FAINT, **place)


def _set_scale(axes: Axes, means: pd.DataFrame, quantity: str) -> None:
    """Fit x to all values of `quantity`; a marker's width stays free at both ends."""
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
        logarithmic(axes, "x", values.min() / room, values.max() * room, ticks)


def _draw_lane(axes: Axes, one: Content, quantity: str, height: float) -> None:
    means = one.means
    reach = means[quantity].min(), means[quantity].max()
    axes.hlines(height, *reach, color="0.85", linewidth=0.6)
    subsets = means[means["selector"] == AUTOMATA]
    if f"{quantity}_low" in subsets:
        several = subsets[subsets["seeds"] > 1]
        low, high = several[f"{quantity}_low"], several[f"{quantity}_high"]
        colour = names.scheduler_look(one.panel.scheduler).colour
        axes.hlines([height] * len(several), low, high, color=colour, linewidth=0.6, gid="bars")
    for selector, x, fraction in means[["selector", quantity, "fraction"]].to_numpy():
        look = _look(one.panel.scheduler, selector, fraction)
        place: Look = {"zorder": 4 - fraction, "gid": f"mean {selector}"}  # small ones on top
        axes.plot([x], [height], linestyle="none", **look, **place)


def _look(scheduler: str, selector: str, fraction: float) -> Look:
    row = names.scheduler_look(scheduler) if selector == AUTOMATA else names.look(selector)
    size = sized(fraction) if selector == AUTOMATA else 6.0
    return {
        "marker": row.marker,
        "color": row.colour,
        "markersize": size,
        "markeredgecolor": "white",
        "markeredgewidth": 0.3,
    }


def _handles(drawn: Sequence[Content]) -> list[Line2D]:
    schedulers = dict.fromkeys(one.panel.scheduler for one in drawn)
    marks = [
        Line2D(
            [],
            [],
            linestyle="none",
            label=f"{names.selector(AUTOMATA)}, {names.scheduler_look(scheduler).short}",
            **_look(scheduler, AUTOMATA, 0.1),
        )
        for scheduler in schedulers
    ]
    return [*marks, handle("full", size=6.0, linestyle="none")] if marks else []


def _note(lanes: Sequence[Content], study: Study) -> list[str]:
    sentences = left_out(lanes)
    means = pd.concat([one.means for one in lanes])
    if len(means):
        several = means[(means["seeds"] > 1) & (means["selector"] == AUTOMATA)]
        sentences += [seeds(means), "Markers grow with the subset."]
        sentences += bars(several["interval"], "seeds")
        sentences += weaknesses(pd.concat([one.compared for one in lanes]))
    return sentences + protocol(study.differences, [one.panel for one in lanes if len(one.runs)])
