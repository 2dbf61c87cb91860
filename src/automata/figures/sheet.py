"""A figure laid out in inches from its top left corner."""

from __future__ import annotations

from functools import cache
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from automata.figures.style import FAINT, NOTE, PAGE_INCHES

RIGHT = 0.12
"""Inches right of the last panel: half the label of its last tick stands there."""

_NOTE_GAP = 0.06
_NOTE_LINE = 1.3 * NOTE / 72
_NOTE_MARGIN = 0.05


class Sheet:
    """A page of the paper's width: a body of `body` inches, and a note below it.

    The note makes the page longer and moves nothing: lengths are explicit, so that the figure of
    half an experiment has the geometry of the whole one.
    """

    def __init__(self, body: float, note: str = "") -> None:
        lines = wrapped(note, PAGE_INCHES - 2 * _NOTE_MARGIN, NOTE)
        self.height = body + _NOTE_GAP + len(lines) * _NOTE_LINE
        self.figure = Figure(figsize=(PAGE_INCHES, self.height))
        if lines:
            middle, top = PAGE_INCHES / 2, body + _NOTE_GAP
            words = "\n".join(lines)
            self.write(middle, top, words, va="top", fontsize=NOTE, color=FAINT, gid="note")

    def axes(self, left: float, top: float, width: float, height: float, **settings: Any) -> Axes:
        """Add axes; `top` is the distance of their upper edge from that of the page."""
        bottom = self.height - top - height
        return self.figure.add_axes(
            (
                left / PAGE_INCHES,
                bottom / self.height,
                width / PAGE_INCHES,
                height / self.height,
            ),
            **settings,
        )

    def write(self, x: float, y: float, words: str, **settings: Any) -> Text:
        """Write text at `x` from the left and `y` from the top; centred if not told otherwise."""
        return self.figure.text(
            x / PAGE_INCHES, 1 - y / self.height, words, **{"ha": "center", **settings}
        )


def wrapped(words: str, width: float, size: float) -> list[str]:
    """Return `words` in lines of at most `width` inches, at `size` points; spaces break them."""
    lines: list[str] = []
    for word in words.split(" ") if words else []:
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _points(longer, size) <= 72 * width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


@cache
def _points(words: str, size: float) -> float:
    """Return the width of `words` at `size` points: figures of an experiment share their note."""
    font = FontProperties(size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(words, font, ismath=False)
    return float(width)
