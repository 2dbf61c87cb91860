"""What figures show, read back from their artists."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection, LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from automata.figures.style import layout, style
from support.stored import digest

PIXEL = 1.0
"""Tolerance: edges of boxes are rounded to pixels."""


def points(axes: Axes, gid: str) -> list[tuple[float, float]]:
    """Return the points of the lines and markers that `gid` names, in the order of drawing."""
    lines = [line.get_xydata() for line in axes.lines if line.get_gid() == gid]
    markers = [one.get_offsets() for one in axes.collections if one.get_gid() == gid]
    return [(float(x), float(y)) for drawn in (*lines, *markers) for x, y in np.asarray(drawn)]


def bars(axes: Axes) -> list[np.ndarray[Any, Any]]:
    """Return the segments of each collection of bars: horizontal, then vertical."""
    return [
        np.array(drawn.get_segments())
        for drawn in axes.collections
        if isinstance(drawn, LineCollection) and drawn.get_gid() == "bars"
    ]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def note_of(figure: Figure) -> str:
    """Return the note at the bottom, in one line."""
    found = [text.get_text() for text in figure.texts if text.get_gid() == "note"]
    return " ".join(found).replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def boxes(figure: Figure) -> dict[str, Bbox]:
    """Return the extents, in pixels, of all axes with their labels, of texts and legends."""
    with style():
        layout(figure)
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        drawn = {f"axes {i} {a.get_title()}": a for i, a in enumerate(figure.axes)}
        drawn |= {f"text {t.get_text()}": t for t in figure.texts if t.get_text()}
        drawn |= {f"legend {i}": legend for i, legend in enumerate(figure.legends)}
        return {name: artist.get_tightbbox(renderer) for name, artist in drawn.items()}


def content(figure: Figure) -> list[str]:
    """Return what a figure shows once `boxes` has drawn it: its words, and digests of artists.

    There is a digest for each kind of artist and `gid`.
    """
    artists: dict[str, list[Any]] = {}
    words: dict[str, None] = {}
    for kind, values in SHOWN.items():
        for artist in figure.findobj(kind, include_self=False):
            if artist.get_visible():
                name = f"{kind.__name__} {artist.get_gid() or ''}".strip()
                artists.setdefault(name, []).append(values(artist))
                if isinstance(artist, Text):
                    words |= dict.fromkeys(artist.get_text().split("\n"))
    digests = [f"{name}: {digest(values)}" for name, values in sorted(artists.items())]
    return [*filter(None, words), "", *digests]


SHOWN: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Axes: lambda it: (it.get_xlim(), it.get_ylim(), it.get_xscale(), it.get_yscale()),
    Text: lambda it: (it.get_text(), it.get_position(), it.get_fontsize(), it.get_color()),
    Line2D: lambda it: (
        it.get_xydata(),
        [it.get_color(), it.get_linestyle(), it.get_linewidth()],
        [it.get_marker(), it.get_markersize(), it.get_markerfacecolor()],
    ),
    Collection: lambda it: (
        it.get_offsets(),
        [path.vertices for path in it.get_paths()],
        [it.get_facecolor(), it.get_edgecolor(), it.get_linewidths()],
        getattr(it, "get_sizes", list)(),
    ),
    Patch: lambda it: (
        it.get_patch_transform().transform(it.get_path().vertices),
        it.get_facecolor(),
    ),
}
"""Kind of artist -> what is read of it."""


def overlaps(extents: dict[str, Bbox]) -> list[tuple[str, str]]:
    """Return the pairs that overlap by more than a pixel."""
    return [
        (one, other)
        for (one, a), (other, b) in combinations(extents.items(), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > PIXEL and min(a.y1, b.y1) - max(a.y0, b.y0) > PIXEL
    ]


def outside(figure: Figure, extents: dict[str, Bbox]) -> list[str]:
    """Return what reaches beyond the figure, or below what is written of it: notes are there."""
    with style():
        written = layout(figure)
    page = Bbox([[0, written.y0 * figure.dpi], figure.bbox.max]).padded(PIXEL)
    return [
        name
        for name, box in extents.items()
        if (Bbox.union([page, box]).extents != page.extents).any()
    ]
