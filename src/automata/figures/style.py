"""What all figures share: style, layout, legends, notes, markers, logarithmic axes, files."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib.style
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import NullLocator
from matplotlib.transforms import Bbox
from PIL import Image

from automata import names
from automata.files import replacing

Look = dict[str, Any]
"""Keyword arguments of matplotlib."""

COLUMN_INCHES, PAGE_INCHES = 3.4, 6.5
"""Widths of a column and of the text in the paper."""

TITLE, TICK, NOTE, SMALL = 6.5, 6.0, 6.0, 5.5
"""Text sizes in points; paper.mplstyle has the others."""

FAINT, FAINTER = "0.4", "0.75"
"""Greys of remarks and of guide lines."""

COLOURS = 256
"""Number of colours in a PNG."""

NOTE_CHARACTERS_PER_INCH = 22
NOTE_PADDING_INCHES = 0.03
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
"""Ticks of logarithmic axes with their labels, from coarse to fine."""


def style() -> AbstractContextManager[None]:
    """Return a context in which figures get the project's style."""
    paper = Path(__file__).with_name("paper.mplstyle")
    return matplotlib.style.context([sns.axes_style("ticks"), paper])


def axes_of(
    rows: int, columns: int, height: float, width: float = PAGE_INCHES, **settings: Any
) -> tuple[Figure, Any]:
    """Return a figure of a size in inches and its axes, an array (rows, columns)."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **settings)


def write_instead(axes: Axes, text: str = "not run") -> None:
    """Write `text` into empty axes, and hide their ticks."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=FAINT)
    # Removing the ticks would also remove them from axes that share them.
    axes.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)
    axes.grid(visible=False)


def hide_lines(axes: Axes) -> None:
    """Hide ticks and grid lines of a y axis with names instead of numbers."""
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def add_legend(figure: Figure, handles: Sequence[Artist], title: str | None = None) -> None:
    """Put a legend above all axes, in as few rows as fit, under `title`."""
    if handles:
        rows = math.ceil(len(handles) / (figure.get_figwidth() // LEGEND_ENTRY_INCHES))
        columns = math.ceil(len(handles) / rows)
        figure.legend(handles=handles, loc="outside upper center", ncols=columns, title=title)


def add_note(figure: Figure, sentences: Sequence[str]) -> None:
    """Write a note under the figure; `save` makes room for it."""
    width = int(NOTE_CHARACTERS_PER_INCH * figure.get_figwidth())
    text = textwrap.fill(" ".join(sentences).replace(" %", "\N{NO-BREAK SPACE}%"), width)
    figure.text(0.01, -0.01, text, va="top", fontsize=NOTE, color=FAINT, gid="note")


def marker(selector: str, size: float = 4.0, **changes: Any) -> Look:
    """Return the look of a selector's marker, as properties of a line."""
    look = names.look(selector)
    repeat = selector == "full-again"  # has FULL's colour
    edged = repeat or selector == "untuned"  # untuned's marker has no face
    return {
        "marker": look.marker,
        "markersize": size,
        "markerfacecolor": "white" if repeat else look.colour,
        "markeredgecolor": look.colour if edged else "white",
        "markeredgewidth": 0.6 if edged else 0.3,
        "color": look.colour,
        **changes,
    }


def handle(selector: str, label: str = "", **look: Any) -> Line2D:
    """Return a selector's entry of a legend; `look` as in `marker`."""
    return Line2D([], [], label=label or names.selector(selector), **marker(selector, **look))


def scatter(axes: Axes, rows: pd.DataFrame, x: str, y: str, by: str, **settings: Any) -> None:
    """Draw a marker per row, with the look of the selector or scheduler in the column `by`.

    `settings` are other arguments of `seaborn.scatterplot`.
    """
    look = {"selector": names.look, "scheduler": names.scheduler_look}[by]
    looks = {name: look(name) for name in rows[by].unique()}
    colours = {name: one.colour for name, one in looks.items()}
    markers = {name: one.marker for name, one in looks.items()}
    by_name: Look = {"hue": by, "palette": colours, "style": by, "markers": markers}
    sns.scatterplot(rows, x=x, y=y, ax=axes, legend=False, **by_name, **settings)


def sized(fraction: float) -> float:
    """Return the width of a subset's marker in points: 2.8 for 1 %, 4.6 for 30 %."""
    return max(2.4, 5.2 + 1.2 * math.log10(fraction))


def logarithmic(
    axes: Axes, xy: str, low: float, high: float, ticks: Sequence[Mapping[float, str]] = RATIO_TICKS
) -> None:
    """Make the `xy` axis logarithmic, with the coarsest of `ticks` that shows three of them."""
    inside = [{at: name for at, name in each.items() if low <= at <= high} for each in ticks]
    chosen = next((each for each in inside if len(each) >= 3), inside[-1])
    axes.set(**{f"{xy}scale": "log", f"{xy}lim": (low, high)})
    axis: Axis = getattr(axes, f"{xy}axis")
    axis.set_ticks(list(chosen), labels=list(chosen.values()))
    axis.set_minor_locator(NullLocator())


def save(figure: Figure, *paths: Path) -> None:
    """Write `figure` in the format of each path's suffix, atomically and without a date."""
    for text in figure.findobj(Text):  # without ligatures, so that a reader can search the PDF
        text.set_fontfeatures(["-liga"])
    with style():  # matplotlib chooses fonts when it writes a figure
        box = layout(figure)
        for path in paths:
            metadata = {"CreationDate": None} if path.suffix == ".pdf" else None
            with replacing(path) as temporary:
                figure.savefig(temporary, bbox_inches=box, metadata=metadata)
                if path.suffix == ".png":
                    _reduce_colours(temporary)


def layout(figure: Figure) -> Bbox:
    """Lay `figure` out, once for all formats, and return its box with the note, in inches."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # each drawing would lay out again, slightly differently
    page = Bbox.from_bounds(0, 0, *figure.get_size_inches())
    return Bbox.union([page, figure.get_tightbbox().padded(0, NOTE_PADDING_INCHES)])


def _reduce_colours(path: Path) -> None:
    """Give a PNG a palette, which reduces it to a third; filled areas keep their colours."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(
            COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
        dpi = image.info["dpi"]
    few.save(path, "PNG", dpi=dpi, optimize=True)
