"""The paper's second figure: the components of AUTOMATA and what passes between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from automata.analysis.study import Study
from automata.figures.sheet import Sheet
from automata.figures.style import INK, PAGE_INCHES, TITLE, style

_HEIGHT = 2.72
_LINE = 0.125
_SMALL = 6.0


@dataclass(frozen=True)
class Box:
    """A box with a bold title and lines of text under it; inches from the bottom left corner."""

    left: float
    bottom: float
    width: float
    height: float
    title: str
    lines: Sequence[str] = ()
    grey: str = "1.0"


@dataclass(frozen=True)
class Arrow:
    """An arrow between two points, in inches, and what it carries."""

    ends: tuple[tuple[float, float], tuple[float, float]]
    label: str
    at: tuple[float, float]
    """Where the middle of the label is."""


BOXES = (
    Box(
        0.02,
        1.13,
        1.26,
        0.98,
        "1  Hyper-parameter\nsearch",
        ("random or TPE, draws", "configurations from", "the search space"),
        "0.91",
    ),
    Box(2.0, 0.76, 2.5, 1.94, "2  Subset-based configuration evaluation", (), "0.96"),
    Box(
        2.1,
        1.7,
        2.3,
        0.74,
        "Gradient-based subset selection",
        (
            "every R epochs, by OMP: few mini-batches",
            "and weights whose gradient matches that",
            "of all training data",
        ),
    ),
    Box(
        2.1,
        0.86,
        2.3,
        0.52,
        "Training",
        ("on the weighted mini-batches only;", "score on the validation set"),
    ),
    Box(
        5.22,
        1.13,
        1.26,
        0.98,
        "3  Hyper-parameter\nscheduler",
        ("Hyperband or ASHA,", "stops poor", "configurations early"),
        "0.91",
    ),
    Box(2.0, 0.02, 2.5, 0.4, "Final training", ("once, on all training data",), "0.91"),
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


def framework(tables: Study) -> Figure:
    """Return the diagram of AUTOMATA (paper, figure 2), which needs no table.

    The search proposes configurations; each is trained on subsets that match the gradient of all
    data and scored; the scheduler says which go on. The best one is trained on all data.
    """
    with style():
        sheet = Sheet(_HEIGHT)
        axes = sheet.axes(0, 0, PAGE_INCHES, _HEIGHT)
        axes.set(xlim=(0, PAGE_INCHES), ylim=(0, _HEIGHT))
        axes.axis("off")
        for box in BOXES:
            _draw_box(axes, box)
        for arrow in ARROWS:
            _draw_arrow(axes, arrow)
    return sheet.figure


def _draw_box(axes: Axes, box: Box) -> None:
    """Draw a box with its text in the middle, or at the top where there are boxes in it."""
    edge = 0.04
    axes.add_patch(
        FancyBboxPatch(
            (box.left + edge, box.bottom + edge),
            box.width - 2 * edge,
            box.height - 2 * edge,
            boxstyle=f"round,pad={edge}",
            facecolor=box.grey,
            edgecolor=INK,
            linewidth=0.7,
            gid="box",
        )
    )
    titles = box.title.count("\n") + 1
    if box.lines:
        top = box.bottom + (box.height + _LINE * (titles + len(box.lines))) / 2
    else:
        top = box.bottom + box.height - 0.06
    words: dict[str, Any] = {"ha": "center", "va": "top", "linespacing": 1.25}
    middle = box.left + box.width / 2
    axes.text(middle, top, box.title, fontsize=TITLE, fontweight="bold", **words)
    below = top - _LINE * titles - 0.02
    axes.text(middle, below, "\n".join(box.lines), fontsize=_SMALL, **words)


def _draw_arrow(axes: Axes, arrow: Arrow) -> None:
    axes.add_patch(
        FancyArrowPatch(
            *arrow.ends,
            arrowstyle="-|>",
            mutation_scale=7,
            shrinkA=0,
            shrinkB=0,
            color=INK,
            linewidth=0.8,
        )
    )
    axes.text(*arrow.at, arrow.label, fontsize=_SMALL, ha="center", va="center", style="italic")
