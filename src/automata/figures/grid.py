"""Panels in rows and columns, with one legend and one note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from matplotlib.figure import Figure

from automata.analysis.quantities import Quantity
from automata.analysis.study import Panel, Study
from automata.figures.content import content
from automata.figures.legend import add_legend
from automata.figures.notes import note
from automata.figures.panel import draw_panel
from automata.figures.sheet import RIGHT, Sheet
from automata.figures.style import LABEL, PAGE_INCHES, style

COLUMNS = 4
"""Panels in a row of the paper."""

ERROR_LABEL = "Relative test error (pp)"

# In inches.
_LEFT, _GAP = 0.4, 0.32
_LEGEND, _TITLE, _TICKS, _AXIS_LABEL = 0.36, 0.17, 0.15, 0.15
_HEIGHTS = {1: 1.9, 2: 1.7, 3: 1.35, 4: 1.14}
"""Of panels, by how many stand in a row."""
_WIDEST = 2.8

_LONGEST_NAME = 10
"""Letters of a user's own data set that fit above a panel; the paper's have fewer."""


@dataclass(frozen=True)
class Row:
    """One row of panels, all with the same ratio on x."""

    panels: Sequence[Panel]
    ratio: Quantity


def grid_figure(tables: Study, rows: Sequence[Row]) -> Figure:
    """Return a figure of `rows` of one to four panels, titled "(a) SST5 (Random, HB)" and so on.

    Panels without runs stay in it and say so; the note at the bottom is `notes.note`. The x
    label stands under each row where ratios differ, else once under the last.
    """
    columns = max(len(row.panels) for row in rows)
    width, height = _panel_width(columns), _HEIGHTS[columns]
    left = (PAGE_INCHES + _LEFT - RIGHT - columns * width - (columns - 1) * _GAP) / 2
    middle = left + (columns * (width + _GAP) - _GAP) / 2
    labelled = [i + 1 == len(rows) or row.ratio != rows[i + 1].ratio for i, row in enumerate(rows)]
    body = _LEGEND + len(rows) * (_TITLE + height + _TICKS) + sum(labelled) * _AXIS_LABEL
    shown = [[content(tables, panel, row.ratio) for panel in row.panels] for row in rows]
    every = [one for contents in shown for one in contents]
    letters = iter(ascii_lowercase)
    with style():
        sheet = Sheet(body, note(every, tables.differences))
        top = _LEGEND
        for row, contents, with_label in zip(rows, shown, labelled, strict=True):
            top += _TITLE
            for i, one in enumerate(contents):
                axes = sheet.axes(left + i * (width + _GAP), top, width, height)
                draw_panel(axes, one)
                axes.set_title(f"({next(letters)}) {_title(one.panel)}")
            top += height + _TICKS
            if with_label:
                sheet.write(middle, top, row.ratio.label, va="top", fontsize=LABEL)
                top += _AXIS_LABEL
        add_legend(sheet, every, _LEGEND)
        beside = {"rotation": 90, "va": "center", "fontsize": LABEL}
        sheet.write(left - _LEFT + 0.1, (_LEGEND + body) / 2, ERROR_LABEL, **beside)
    return sheet.figure


def _panel_width(columns: int) -> float:
    return min((PAGE_INCHES - _LEFT - RIGHT - (columns - 1) * _GAP) / columns, _WIDEST)


def _title(panel: Panel) -> str:
    name = panel.dataset
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
    return panel._replace(dataset=name).short_title
