"""What all figures share: their layout, legends, notes, markers, and logarithmic axes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator

from automata import names
from automata.figures.style import FAINT, NOTE, PAGE_INCHES, SMALL, Look

UNFILLED = ("_", "|", "x", "+")
"""Markers without a face: only their edge shows."""

NOTE_CHARACTERS_PER_INCH = 22
LEGEND_ENTRY_INCHES = 1.25

RATIO_TICKS = [
    {value: f"{value:g}" for value in values}
    for values in (
        (0.01, 0.1, 1, 10, 100),
        (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100),
        (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 3, 4, 6, 8, 12, 16),
        (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.7, 2),
    )
]
"""Of logarithmic axes, from coarse to fine."""


def axes_of(
    rows: int, columns: int, height: float, width: float = PAGE_INCHES, **settings: Any
) -> tuple[Figure, Any]:
    """Return a figure, sizes in inches, and its axes, an array (rows, columns)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **settings)


def say(axes: Axes, text: str = "not run") -> None:
    """Write `text` into axes that have nothing to show, and hide their ticks."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=FAINT)
    # Hidden, not taken away: axes that share theirs would lose them too.
    axes.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)
    axes.grid(visible=False)


def add_legend(figure: Figure, handles: Sequence[Artist], title: str | None = None) -> None:
    """Put a legend above all axes, in as few rows as fit, under `title`."""
    if handles:
        rows = math.ceil(len(handles) / (figure.get_figwidth() // LEGEND_ENTRY_INCHES))
        columns = math.ceil(len(handles) / rows)
        figure.legend(handles=handles, loc="outside upper center", ncols=columns, title=title)


def add_note(figure: Figure, sentences: Sequence[str]) -> None:
    """Write what a reader must know under the figure, which `save` makes longer."""
    width = int(NOTE_CHARACTERS_PER_INCH * figure.get_figwidth())
    text = textwrap.fill(" ".join(sentences), width)
    figure.text(0.01, -0.01, text, va="top", fontsize=NOTE, color=FAINT, gid="note")


def marker(selector: str, size: float = 4.0, **changes: Any) -> Look:
    """Return how the marker of `selector` looks, as properties of a line."""
    row = names.look(selector)
    repeat = selector == "full-again"  # it has FULL's colour
    edged = repeat or row.marker in UNFILLED
    return {
        "marker": row.marker,
        "markersize": size,
        "markerfacecolor": "white" if repeat else row.colour,
        "markeredgecolor": row.colour if edged else "white",
        "markeredgewidth": 0.6 if edged else 0.3,
        "color": row.colour,
        **changes,
    }


def handle(selector: str, label: str = "", **look: Any) -> Line2D:
    """Return a selector's entry of a legend; `look` as in `marker`."""
    return Line2D([], [], label=label or names.selector(selector), **marker(selector, **look))


def sized(fraction: float) -> float:
    """Return the width of a marker, in points, that grows with the subset: 1 % 2.8, 30 % 4.6."""
    return max(2.4, 5.2 + 1.2 * math.log10(fraction))


def annotate(axes: Axes, text: str, at: tuple[float, float], **settings: Any) -> None:
    """Write small `text` near a point, on a white edge so that lines below do not cross it."""
    axes.annotate(
        text,
        at,
        textcoords="offset points",
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        **{"fontsize": SMALL, "zorder": 10, **settings},
    )


def logarithmic(
    axes: Axes, xy: str, low: float, high: float, ticks: Sequence[Mapping[float, str]] = RATIO_TICKS
) -> None:
    """Make the `xy` axis logarithmic, with the coarsest of `ticks` of which it shows three.

    Ticks are values and how they are called, from coarse to fine.
    """
    shown = [{at: name for at, name in each.items() if low <= at <= high} for each in ticks]
    chosen = next((each for each in shown if len(each) >= 3), shown[-1])
    axes.set(**{f"{xy}scale": "log", f"{xy}lim": (low, high)})
    axis: Axis = getattr(axes, f"{xy}axis")
    axis.set_ticks(list(chosen), labels=list(chosen.values()))
    axis.set_minor_locator(NullLocator())
