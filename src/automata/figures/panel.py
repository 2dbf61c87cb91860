"""One trade-off: error against a ratio. AUTOMATA's line, and all other selectors around it."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from automata import names
from automata.analysis.quantities import QUANTITIES
from automata.figures.content import Content
from automata.figures.pieces import annotate, logarithmic, marker, say, sized
from automata.figures.style import FAINT, SMALL, Look
from automata.names import AUTOMATA

ERROR = "relative_test_error"
ERROR_LABEL = QUANTITIES[ERROR].label

LEAST_SPAN = 0.5
"""Percentage points: what the y axis spans at least, so that noise does not fill a panel."""

UNTUNED: Look = {"color": "0.6", "linewidth": 1.4, "solid_capstyle": "butt"}
EDGE = 0.02
"""Where the bar of untuned configurations stands, in widths of the panel from its left edge."""

LINE = 0.1
"""Height of a line of text, in heights of the panel."""
UP, DOWN = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"

CONTROL_SIZES = {"full": 8.0, "full-again": 5.0}
"""Widths of markers, in points; those of subsets grow with them."""

HEIGHTS = {AUTOMATA: 6, "full": 7}
"""What is drawn above all others; of one selector, small markers lie above large ones."""


def draw_panel(axes: Axes, content: Content) -> None:
    """Draw `content`: its ratio on x (logarithmic), relative test error on y.

    Markers are means of the tradeoff table and grow with the subset. AUTOMATA has a line through
    them, which names the first and the last size, and bars from `_low` to `_high`. FULL is the
    star at (1, 0). The bar at the left edge is what single untuned configurations reach. Without
    anything to draw the panel says why. (Paper, figures 3 to 7.)
    """
    if content.absence is not None:
        say(axes, content.absence)
        return
    column = content.ratio.name
    _set_limits(axes, content.means, column)
    if len(content.untuned):
        _draw_untuned(axes, content.untuned.iloc[0])
    axes.axhline(0, color=FAINT, linewidth=0.5, zorder=1)
    for selector, rows in content.means.groupby("selector"):
        if selector == AUTOMATA:
            _draw_line(axes, rows.sort_values("fraction"), column)
        for x, y, fraction in zip(rows[column], rows[ERROR], rows["fraction"], strict=True):
            size = CONTROL_SIZES.get(str(selector), sized(fraction))
            place: Look = {"zorder": HEIGHTS.get(str(selector), 3) - fraction, "linestyle": "none"}
            look = marker(str(selector), size)
            axes.plot([x], [y], gid=f"mean {selector}", **place, **look)


def _set_limits(axes: Axes, means: pd.DataFrame, column: str) -> None:
    """Fit the axes to all means, and to the bars of those that have them."""
    bars = means[means["selector"] == AUTOMATA]
    xs, ys = (
        [*means[name], *bars[f"{name}_low"].dropna(), *bars[f"{name}_high"].dropna()]
        for name in (column, ERROR)
    )
    left, right = min(1.0, *xs), max(1.0, *xs)
    reach = max(right / left, 1.5)
    logarithmic(axes, "x", left / reach**0.14, right * reach**0.1)
    low, high = min(0.0, *ys), max(0.0, *ys)
    room = 0.12 * max(high - low, LEAST_SPAN)
    middle, half = (low + high) / 2, max(high - low, LEAST_SPAN) / 2 + room
    axes.set_ylim(middle - half, middle + half)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))


def _draw_line(axes: Axes, rows: pd.DataFrame, column: str) -> None:
    """Join the means of AUTOMATA, with their bars, and name the ends of the line."""
    colour = names.METHODS[AUTOMATA].colour
    several = rows[rows["seeds"] > 1]
    bars: Look = {"color": colour, "alpha": 0.6, "linewidth": 0.8, "zorder": 4, "gid": "bars"}
    axes.hlines(several[ERROR], several[f"{column}_low"], several[f"{column}_high"], **bars)
    axes.vlines(several[column], several[f"{ERROR}_low"], several[f"{ERROR}_high"], **bars)
    axes.plot(rows[column], rows[ERROR], color=colour, linewidth=1.4, zorder=5, gid="line")
    ends = rows.iloc[[0, -1]].drop_duplicates("fraction").sort_values(ERROR, ascending=False)
    for i, (fraction, x, y) in enumerate(ends[["fraction", column, ERROR]].to_numpy()):
        # The higher end has it above, the lower one below: away from the line.
        place: Look = {"xytext": (0, 4 * (-1) ** i), "va": ("bottom", "top")[i]}
        annotate(axes, f"{100 * fraction:g} %", (x, y), ha="center", color=colour, **place)


def _draw_untuned(axes: Axes, row: pd.Series) -> None:
    """Draw what untuned configurations reach; a median out of sight is written in a free line."""
    best, median, worst = (row[f"{ERROR}_{name}"] for name in ("low", "median", "high"))
    across = axes.get_yaxis_transform()
    axes.plot([EDGE] * 2, [best, worst], transform=across, zorder=2, gid="untuned", **UNTUNED)
    low, high = axes.get_ylim()
    if low < median < high:
        tick: Look = {**UNTUNED, "color": FAINT}
        axes.plot([0, 2 * EDGE], [median] * 2, transform=across, zorder=2, gid="median", **tick)
        return
    above, room = median >= high, LINE * (high - low)
    axes.set_ylim((low, high + room) if above else (low - room, high))
    words = f"{UP if above else DOWN} untuned {median:.1f}"
    place: Look = {"y": 0.99, "va": "top"} if above else {"y": 0.01, "va": "bottom"}
    look: Look = {"fontsize": SMALL, "color": FAINT, "transform": axes.transAxes}
    axes.text(2 * EDGE, s=words, **place, **look)
