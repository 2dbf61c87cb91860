"""The paper's second figure: the components of AUTOMATA and what passes between them."""

from __future__ import annotations

from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from automata.analysis.study import Study
from automata.figures.style import INK, NOTE, PAGE_INCHES, TITLE, Look, style

HEIGHT = 2.72
LINE, EDGE = 0.125, 0.04
"""Of a line of text, and the radius of corners: all lengths are in inches."""


class Box(NamedTuple):
    """A box with a bold title and lines of text under it."""

    place: tuple[float, float, float, float]
    """Left, bottom, width and height."""
    title: str
    lines: str = ""
    grey: str = "1.0"


class Arrow(NamedTuple):
    """An arrow between two points, and what it carries."""

    ends: tuple[tuple[float, float], tuple[float, float]]
    label: str
    at: tuple[float, float]
    """Where the middle of the label is."""


BOXES = (
    Box(
        (0.02, 1.13, 1.26, 0.98),
        "1  Hyper-parameter\nsearch",
        "random or TPE, draws\nconfigurations from\nthe search space",
        "0.91",
    ),
    Box((2.0, 0.76, 2.5, 1.94), "2  Subset-based configuration evaluation", grey="0.96"),
    Box(
        (2.1, 1.7, 2.3, 0.74),
        "Gradient-based subset selection",
        "every R epochs, by OMP: few mini-batches\nand weights whose gradient matches that\n"
        "of all training data",
    ),
    Box(
        (2.1, 0.86, 2.3, 0.52),
        "Training",
        "on the weighted mini-batches only;\nscore on the validation set",
    ),
    Box(
        (5.22, 1.13, 1.26, 0.98),
        "3  Hyper-parameter\nscheduler",
        "Hyperband or ASHA,\nstops poor\nconfigurations early",
        "0.91",
    ),
    Box((2.0, 0.02, 2.5, 0.4), "Final training", "once, on all training data", "0.91"),
)

ARROWS = (
    Arrow(((1.28, 1.86), (2.0, 1.86)), "configurations", (1.63, 1.95)),
    Arrow(((2.0, 1.38), (1.28, 1.38)), "scores", (1.64, 1.29)),
    Arrow(((4.5, 1.86), (5.22, 1.86)), "scores", (4.86, 1.95)),
    Arrow(((5.22, 1.38), (4.5, 1.38)), "epochs,\nor stop", (4.86, 1.23)),
    Arrow(((2.45, 1.7), (2.45, 1.38)), "subset, weights", (2.87, 1.54)),
    Arrow(((4.05, 1.38), (4.05, 1.7)), "model", (3.83, 1.54)),
    Arrow(((3.25, 0.76), (3.25, 0.42)), "best configuration", (3.75, 0.59)),
)


def framework(study: Study) -> Figure:
    """Return the diagram of AUTOMATA (paper, figure 2), which needs no table.

    The search proposes configurations; each is trained on subsets that match the gradient of all
    data and scored; the scheduler says which go on. The best one is trained on all data.
    """
    with style():
        figure = Figure(figsize=(PAGE_INCHES, HEIGHT))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, PAGE_INCHES), ylim=(0, HEIGHT))
        axes.axis("off")
        for box in BOXES:
            _draw_box(axes, box)
        for arrow in ARROWS:
            _draw_arrow(axes, arrow)
    return figure


def _draw_box(axes: Axes, box: Box) -> None:
    """Draw a box with its text in the middle, or at the top where there are boxes in it."""
    left, bottom, width, height = box.place
    shape = f"round,pad=0,rounding_size={EDGE}"
    look: Look = {"facecolor": box.grey, "edgecolor": INK, "linewidth": 0.7, "gid": "box"}
    axes.add_patch(FancyBboxPatch((left, bottom), width, height, boxstyle=shape, **look))
    words: Look = {"ha": "center", "va": "top", "linespacing": 1.25}
    titles = box.title.count("\n") + 1
    lines = titles + box.lines.count("\n") + 1
    top = bottom + ((height + LINE * lines) / 2 if box.lines else height - 0.06)
    middle = left + width / 2
    axes.text(middle, top, box.title, fontsize=TITLE, fontweight="bold", **words)
    axes.text(middle, top - LINE * titles - 0.02, box.lines, fontsize=NOTE, **words)


def _draw_arrow(axes: Axes, arrow: Arrow) -> None:
    look: Look = {"shrinkA": 0, "shrinkB": 0, "color": INK, "linewidth": 0.8}
    axes.add_patch(FancyArrowPatch(*arrow.ends, arrowstyle="-|>", mutation_scale=7, **look))
    axes.text(*arrow.at, arrow.label, fontsize=NOTE, ha="center", va="center", style="italic")
