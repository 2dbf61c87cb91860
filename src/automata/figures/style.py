"""How every figure looks, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from automata.files import replacing

COLUMN_INCHES = 3.4
"""Width of a column of the paper's class of journals."""

PAGE_INCHES = 6.5
"""Width of the paper's text."""

LABEL, TITLE, LEGEND, TICK, NOTE, IN_MARKER = 7.0, 6.5, 6.5, 5.5, 5.5, 4.8
"""Sizes of text, in points: figures are printed as large as they are."""

PALETTE = 256
"""Colours of a PNG: charts have few, and the edges of letters some shades more."""

INK, FAINT, FAINTER = "0.15", "0.45", "0.75"
"""Greys of text, of remarks and of lines that guide the eye."""


def ink_on(colour: str) -> str:
    """Return "black" or "white", whichever contrasts more with `colour` (WCAG 2 luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


@contextmanager
def style() -> Iterator[None]:
    """Apply the style to the figures made in the body."""
    settings: Any = {
        **sns.axes_style("ticks"),
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same figure everywhere
        "pdf.fonttype": 42,  # fonts as text, embedded
        "svg.fonttype": "none",
        "figure.dpi": 200,
        "savefig.dpi": 200,
        "font.size": LABEL,
        "axes.titlesize": TITLE,
        "axes.labelsize": LABEL,
        "legend.fontsize": LEGEND,
        "xtick.labelsize": TICK,
        "ytick.labelsize": TICK,
        "axes.linewidth": 0.5,
        "axes.edgecolor": FAINT,
        "axes.titlepad": 3.0,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "0.92",
        "grid.linewidth": 0.4,
        "text.color": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        **{f"{axis}tick.major.{key}": value for axis in "xy" for key, value in _TICKS.items()},
        "xtick.minor.size": 0.0,
    }
    with mpl.rc_context(settings):
        yield


_TICKS = {"size": 1.8, "width": 0.4, "pad": 1.5}
_AROUND = 0.02
"""Inches."""


def save(figure: Figure, *paths: Path) -> None:
    """Write `figure` in the format of each path's suffix, atomically and without a date."""
    for text in figure.findobj(Text):  # words of one line stay letters, which a
        text.set_fontfeatures(["-liga"])  # reader can search, all of one font
    with style():  # fonts are chosen when a figure is written
        engine, box = figure.get_layout_engine(), None
        if engine is not None:
            engine.execute(figure)  # a layout is made when a figure is drawn,
            figure.set_layout_engine(None)  # and another one when it is drawn again
            box = figure.get_tightbbox().padded(_AROUND)  # the note stands below the layout
        for path in paths:
            metadata = {"CreationDate": None} if path.suffix == ".pdf" else None
            with replacing(path) as temporary:
                figure.savefig(temporary, bbox_inches=box, metadata=metadata)
                if path.suffix == ".png":
                    _reduce_colours(temporary)


def _reduce_colours(path: Path) -> None:
    """Give a PNG a palette, which makes it a third as large; what fills areas keeps its colour."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(
            PALETTE, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
        dpi = image.info["dpi"]
    few.save(path, "PNG", dpi=dpi, optimize=True)
