"""One scatter of the paper's figures: a ratio to FULL against relative test error."""

from __future__ import annotations

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from automata import names
from automata.figures.content import Content
from automata.figures.style import FAINT, FAINTER, IN_MARKER, LABEL, ink_on
from automata.names import ALL_DATA

ERROR = "relative_test_error"

SIZES = {"full": 8.0, "full-again": 5.0, "s": 6.6, "o": 7.4, "D": 6.4, "^": 8.8, "v": 8.8}
"""Widths of markers in points, so that two digits fit into each."""

_OTHER_SIZE = 8.4
_LIFT = {"^": -1.3, "v": 1.0}
"""Where the middle of a triangle's room for text is, in points above that of its box."""

_LEAST_SPAN = 0.5
"""Percentage points: what the y axis spans at least, so that noise does not fill a panel."""

UNTUNED: dict[str, Any] = {"color": "0.35", "linewidth": 0.6, "dashes": (4, 2)}
BAND: dict[str, Any] = {"color": "0.94", "linewidth": 0}
FRONT: dict[str, Any] = {"color": FAINTER, "linewidth": 0.9}
CORNER: dict[str, Any] = {"color": "#CFE3CF", "linewidth": 0}
"""How lines and areas look, here and in the legend."""


def draw_panel(axes: Axes, content: Content) -> None:
    """Draw `content`: its ratio on x, relative test error in percentage points on y.

    A marker is a mean of the tradeoff table and carries its fraction in percent; its bars reach
    from `_low` to `_high`; a dot is one seed. FULL is the star at (1, 0). The dashed line and
    the band are what single untuned configurations reach: median, best and worst. The grey steps
    are the Pareto front, where the table knows it. The bottom right corner is the best. Without
    anything to draw the panel says why. (Paper, figures 3 to 7.)
    """
    column = content.ratio.name
    sns.despine(ax=axes)
    if content.absence is not None:
        _draw_absence(axes, content.absence)
        return
    _set_limits(axes, content, column)
    axes.axhline(0, color=FAINT, linewidth=0.5, zorder=1)
    axes.axvline(1, color=FAINT, linewidth=0.5, zorder=1)
    _draw_corner(axes)
    _draw_untuned(axes, content.untuned)
    _draw_front(axes, content.means, column)
    means = dict(iter(content.means.sort_values("fraction").groupby("selector")))
    seeds = dict(iter(content.compared.groupby("selector")))
    for rank, selector in enumerate(names.SELECTORS):
        if selector in means:
            _draw_selector(axes, selector, means[selector], seeds[selector], column, rank)


def _draw_absence(axes: Axes, words: str) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(
        0.5,
        0.5,
        words,
        transform=axes.transAxes,
        ha="center",
        va="center",
        fontsize=LABEL,
        color=FAINT,
    )


def _set_limits(axes: Axes, content: Content, column: str) -> None:
    """Fit the axes to all that is drawn.

    What untuned configurations reach may double the span of y, no more: where their band takes
    more it is cut and only their median gets room, and none does where that lies beyond, too.
    Where it would be cut a line is left free above all that is drawn, for what is written of it.
    """
    xs = _reach(content, column)
    ys = _reach(content, ERROR)
    left, right = min(1.0, *xs), max(1.0, *xs)
    low, high = min(0.0, *ys), max(0.0, *ys)
    span = max(high - low, _LEAST_SPAN)
    for best, worst in _untuned_reaches(content.untuned):
        wider = min(low, best), max(high, worst)
        if wider[1] - wider[0] <= high - low + span:
            low, high = wider
            break
    wide, tall = max(right - left, 0.2), max(high - low, _LEAST_SPAN)
    axes.set_xlim(left - 0.08 * wide, left + 1.09 * wide)
    bottom, top = low - 0.1 * tall, low + 1.1 * tall
    if _is_cut(content.untuned, bottom, top):
        top += 0.1 * tall
    axes.set_ylim(bottom, top)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))


def _reach(content: Content, quantity: str) -> list[float]:
    """Return all values of `quantity` that a panel shows."""
    means = content.means[[quantity, f"{quantity}_low", f"{quantity}_high"]]
    return [*means.to_numpy().ravel(), *content.compared[quantity]]


def _untuned_reaches(untuned: pd.DataFrame) -> list[tuple[float, float]]:
    """Return what the axes may make room for, from most to least."""
    if untuned.empty:
        return []
    median = _untuned_median(untuned)
    return [_untuned_bounds(untuned), (median, median)]


def _untuned_median(untuned: pd.DataFrame) -> float:
    return float(untuned[f"{ERROR}_median"].iloc[0])


def _untuned_bounds(untuned: pd.DataFrame) -> tuple[float, float]:
    row = untuned.iloc[0]
    return float(row[f"{ERROR}_low"]), float(row[f"{ERROR}_high"])


def _is_cut(untuned: pd.DataFrame, low: float, high: float) -> bool:
    """Return whether untuned configurations reach beyond y from `low` to `high`."""
    if untuned.empty:
        return False
    best, worst = _untuned_bounds(untuned)
    return best < low or worst > high


def _draw_corner(axes: Axes) -> None:
    """Mark the corner of the best tradeoff, behind everything."""
    axes.add_patch(
        Polygon(
            [(0.86, 0), (1, 0), (1, 0.16)],
            transform=axes.transAxes,
            zorder=0.5,
            gid="best corner",
            **CORNER,
        )
    )


def _draw_untuned(axes: Axes, untuned: pd.DataFrame) -> None:
    if untuned.empty:
        return
    median = _untuned_median(untuned)
    best, worst = _untuned_bounds(untuned)
    axes.axhspan(best, worst, zorder=0.4, gid="untuned band", **BAND)
    axes.axhline(median, zorder=1.1, gid="untuned", **UNTUNED)
    if _is_cut(untuned, *axes.get_ylim()):
        axes.text(
            0.03,
            0.98,
            f"untuned: {median:.1f} ({best:.1f} to {worst:.1f})",
            transform=axes.transAxes,
            ha="left",
            va="top",
            fontsize=IN_MARKER,
            color=FAINT,
            zorder=5,
            path_effects=[withStroke(linewidth=1.2, foreground="white")],
        )


def front(means: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the means on the Pareto front by rising `column`; the table knows the speedup's."""
    if column != "speedup":
        return means.iloc[:0]
    return means[means["on_front"].astype(bool)].sort_values(column)


def _draw_front(axes: Axes, means: pd.DataFrame, column: str) -> None:
    """Draw the best error to be had at each ratio or more."""
    best = front(means, column)
    if len(best):
        axes.step(best[column], best[ERROR], where="pre", zorder=1.5, gid="front", **FRONT)


def _draw_selector(
    axes: Axes, selector: str, means: pd.DataFrame, seeds: pd.DataFrame, column: str, rank: int
) -> None:
    colour = names.SELECTORS[selector].colour
    several = means[means["seeds"] > 1]
    if len(several):
        low, high = several[f"{column}_low"], several[f"{column}_high"]
        bars: dict[str, Any] = {
            "color": colour,
            "linewidth": 0.6,
            "zorder": 2,
            "gid": f"bars {selector}",
        }
        axes.hlines(several[ERROR], low, high, **bars)
        axes.vlines(several[column], several[f"{ERROR}_low"], several[f"{ERROR}_high"], **bars)
        axes.plot(
            seeds[column],
            seeds[ERROR],
            linestyle="none",
            marker="o",
            markersize=1.3,
            markeredgewidth=0,
            color=colour,
            alpha=0.55,
            zorder=2,
            gid=f"seeds {selector}",
        )
    axes.plot(means[column], means[ERROR], color=colour, linewidth=0.5, alpha=0.4, zorder=1.8)
    points = zip(means["fraction"], means[column], means[ERROR], strict=True)
    for place, (fraction, x, y) in enumerate(points):
        # A marker hides what lies under it together with its label: no two labels mix.
        height = 3 + rank / 10 + place / 100
        axes.plot(
            [x], [y], linestyle="none", zorder=height, gid=f"mean {selector}", **look(selector)
        )
        if selector not in ALL_DATA:
            _write_fraction(axes, x, y, fraction, selector, height)


def look(selector: str) -> dict[str, Any]:
    """Return how the marker of `selector` looks, as properties of a line."""
    marker = names.SELECTORS[selector].marker
    repeat = selector == "full-again"
    return {
        "marker": marker,
        "markersize": SIZES.get(selector, SIZES.get(marker, _OTHER_SIZE)),
        "markerfacecolor": "white" if repeat else names.SELECTORS[selector].colour,
        "markeredgecolor": names.SELECTORS[selector].colour if repeat else "white",
        "markeredgewidth": 0.6 if repeat else 0.4,
    }


def _write_fraction(
    axes: Axes, x: float, y: float, fraction: float, selector: str, height: float
) -> None:
    """Write `fraction` in percent into the marker at (x, y), above it where it is too long."""
    text, colour = f"{100 * fraction:g}", names.SELECTORS[selector].colour
    inside = len(text) <= 2
    axes.annotate(
        text,
        (x, y),
        xytext=(0, _LIFT.get(names.SELECTORS[selector].marker, -0.1) if inside else 6),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=IN_MARKER,
        color=ink_on(colour) if inside else colour,
        zorder=height + 0.001,
        path_effects=[] if inside else [withStroke(linewidth=1.2, foreground="white")],
    )
