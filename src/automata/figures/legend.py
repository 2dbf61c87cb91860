"""The legend of a figure of panels: what occurs in it, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from automata import names
from automata.figures.content import Content
from automata.figures.panel import BAND, FRONT, UNTUNED, front, look
from automata.figures.sheet import Sheet

_PER_ROW = 6


def add_legend(sheet: Sheet, contents: Sequence[Content], bottom: float) -> None:
    """Write the legend of the panels of `contents`; it ends `bottom` inches from the top."""
    entries = _entries([one for one in contents if one.absence is None])
    if entries:
        write_legend(sheet, entries, bottom)


def write_legend(sheet: Sheet, entries: Sequence[tuple[str, Artist]], bottom: float) -> None:
    """Write named artists in as few rows as fit; they end `bottom` inches from the top."""
    rows = math.ceil(len(entries) / _PER_ROW)
    sheet.figure.legend(
        [artist for _, artist in entries],
        [name for name, _ in entries],
        loc="lower center",
        bbox_to_anchor=(0.5, 1 - bottom / sheet.height),
        ncols=math.ceil(len(entries) / rows),
        frameon=False,
        borderpad=0.1,
        borderaxespad=0.0,
        handletextpad=0.4,
        columnspacing=1.2,
        handlelength=1.6,
        labelspacing=0.3,
    )


def _entries(drawn: Sequence[Content]) -> list[tuple[str, Artist]]:
    """Return names and artists in the order of the display names, then lines and areas."""
    selectors = {name for one in drawn for name in one.means["selector"]}
    entries: list[tuple[str, Artist]] = [
        (row.display, Line2D([], [], linestyle="none", **look(selector)))
        for selector, row in names.SELECTORS.items()
        if selector in selectors
    ]
    if any(len(one.untuned) for one in drawn):
        entries += [("untuned, median", Line2D([], [], **UNTUNED))]
        entries += [("untuned, best to worst", Patch(**BAND))]
    if any(len(front(one.means, one.ratio.name)) for one in drawn):
        entries += [("Pareto front", Line2D([], [], **FRONT))]
    return entries
