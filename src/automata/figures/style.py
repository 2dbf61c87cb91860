"""How every figure looks, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

from automata.files import replacing

Look = dict[str, Any]
"""Keyword arguments of matplotlib."""

COLUMN_INCHES = 3.4
"""Width of a column of the paper's class of journals."""

PAGE_INCHES = 6.5
"""Width of the paper's text."""

LABEL, TITLE, LEGEND, TICK, NOTE, SMALL = 7.5, 6.5, 6.5, 6.0, 6.0, 5.5
"""Sizes of text, in points: figures are printed as large as they are."""

PALETTE = 256
"""Colours of a PNG: charts have few, and the edges of letters some shades more."""

INK, FAINT, FAINTER = "0.15", "0.4", "0.75"
"""Greys of text, of remarks and of lines that guide the eye."""

_TICKS = {"size": 1.8, "width": 0.4, "pad": 1.5}
_AROUND = 0.03
"""Inches around what stands below the figure."""


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
        "figure.titlesize": LABEL,
        "figure.labelsize": LABEL,
        "font.size": LABEL,
        "axes.titlesize": TITLE,
        "axes.labelsize": LABEL,
        "legend.fontsize": LEGEND,
        "legend.title_fontsize": LABEL,
        "legend.frameon": False,
        "legend.handletextpad": 0.5,
        "legend.columnspacing": 1.4,
        "xtick.labelsize": TICK,
        "ytick.labelsize": TICK,
        "axes.linewidth": 0.5,
        "axes.edgecolor": FAINT,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlepad": 3.0,
        "axes.labelpad": 2.0,
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
        "ytick.minor.size": 0.0,
    }
    with mpl.rc_context(settings):
        yield


def save(figure: Figure, *paths: Path) -> None:
    """Write `figure` in the format of each path's suffix, atomically and without a date."""
    for text in figure.findobj(Text):  # words of one line stay letters, which a
        text.set_fontfeatures(["-liga"])  # reader can search, all of one font
    with style():  # fonts are chosen when a figure is written
        box = layout(figure)
        for path in paths:
            metadata = {"CreationDate": None} if path.suffix == ".pdf" else None
            with replacing(path) as temporary:
                figure.savefig(temporary, bbox_inches=box, metadata=metadata)
                if path.suffix == ".png":
                    _reduce_colours(temporary)


def layout(figure: Figure) -> Bbox:
    """Lay `figure` out, once for all formats, and return it with the note below it, in inches."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # each drawing would lay out anew, a little otherwise
    page = Bbox.from_bounds(0, 0, *figure.get_size_inches())
    return Bbox.union([page, figure.get_tightbbox().padded(0, _AROUND)])


def _reduce_colours(path: Path) -> None:
    """Give a PNG a palette, which makes it a third as large; what fills areas keeps its colour."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(
            PALETTE, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )
        dpi = image.info["dpi"]
    few.save(path, "PNG", dpi=dpi, optimize=True)
