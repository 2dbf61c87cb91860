"""How every figure looks, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import seaborn as sns
from matplotlib.figure import Figure

from automata.files import replacing

COLUMN_INCHES = 3.4
"""Width of a column of the paper's class of journals."""

PAGE_INCHES = 6.5
"""Width of the paper's text."""

# Okabe and Ito's colours: distinct for the colour-blind; the markers tell them apart in grey.
# Grey stands for their yellow, in which no fraction could be read.
COLOURS = {
    "full": "#000000",
    "full-again": "#000000",
    "untuned": "#000000",
    "random": "#E69F00",
    "adaptive-random": "#56B4E9",
    "rs2": "#009E73",
    "craig": "#CC79A7",
    "gradmatch": "#D55E00",
    "gradmatch-adaptive": "#0072B2",
    "glister": "#7F7F7F",
}
MARKERS = {
    "full": "*",
    "full-again": "1",
    "untuned": "_",
    "random": "s",
    "adaptive-random": "D",
    "rs2": "^",
    "craig": "v",
    "gradmatch": "o",
    "gradmatch-adaptive": "P",
    "glister": "X",
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the style to the figures made in the body."""
    settings: Any = {
        **sns.axes_style("whitegrid"),
        "pdf.fonttype": 42,  # fonts as text, embedded
        "svg.fonttype": "none",
        "figure.dpi": 200,
        "axes.grid": True,
        "grid.linewidth": 0.4,
        "font.size": 8,
        "axes.titlesize": 9,
        "axes.labelsize": 8,
        "legend.fontsize": 7,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
    }
    with mpl.rc_context(settings):
        yield


def save(figure: Figure, path: Path) -> None:
    """Write `figure` in the format of `path`'s suffix, atomically and without a date."""
    metadata = {"CreationDate": None} if path.suffix == ".pdf" else None
    with replacing(path) as temporary, style():  # fonts are chosen when a figure is written
        figure.savefig(temporary, bbox_inches="tight", metadata=metadata)
