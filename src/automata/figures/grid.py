"""Trade-offs in rows and columns, with one legend and one note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.energy import ways
from automata.analysis.quantities import RATIOS, Quantity
from automata.analysis.study import Panel, Study, panels
from automata.figures.content import Content, content
from automata.figures.notes import bars, counted, left_out, protocol, seeds, weaknesses
from automata.figures.panel import CONTROL_SIZES, ERROR_LABEL, draw_panel
from automata.figures.pieces import add_legend, add_note, axes_of, handle
from automata.figures.style import COLUMN_INCHES, PAGE_INCHES, TITLE, Look, style
from automata.names import ALL_DATA_CONTROLS, AUTOMATA

WIDTHS = {1: COLUMN_INCHES, 2: 4.9, 4: PAGE_INCHES}
HEIGHTS = {1: 2.3, 2: 1.85, 4: 1.45}
"""Of a figure and of a row of it, in inches, by panels in a row."""


@dataclass(frozen=True)
class Row:
    """One row of panels, all with the same ratio on x."""

    panels: Sequence[Panel]
    ratio: Quantity


def grid_figure(study: Study, rows: Sequence[Row]) -> Figure:
    """Return a figure of `rows` of one, two or four panels, titled "(a) SST5 (Random, HB)" etc.

    Panels without runs stay in it and say so. Each row has its x label where ratios differ.
    """
    columns = max(len(row.panels) for row in rows)
    shown = [[content(study, panel, row.ratio) for panel in row.panels] for row in rows]
    every = [one for contents in shown for one in contents]
    letters = iter(ascii_lowercase)
    ratios = list(dict.fromkeys(row.ratio.label for row in rows))
    with style():
        height = 0.6 + len(rows) * (HEIGHTS[columns] + 0.15 * (len(ratios) > 1))
        figure, grid = axes_of(len(rows), columns, height, WIDTHS[columns])
        for row, contents, line in zip(rows, shown, grid, strict=True):
            for axes in line[len(contents) :]:
                axes.remove()
            for axes, one in zip(line, contents, strict=False):
                draw_panel(axes, one)
                axes.set_title(f"({next(letters)}) {one.panel.short_title}")
                if len(ratios) > 1:
                    axes.set_xlabel(row.ratio.heading, fontsize=TITLE)
        if len(ratios) == 1:
            figure.supxlabel(ratios[0])
        figure.supylabel(ERROR_LABEL)
        add_legend(figure, _handles([one for one in every if one.absence is None]))
        add_note(figure, note(every, study.differences))
    return figure


def tradeoff(study: Study, dataset: str) -> Figure:
    """Return the speedups of `dataset`."""
    return dataset_figure(study, dataset, "speedup")


def energy(study: Study, dataset: str) -> Figure:
    """Return the energy ratios of `dataset`."""
    return dataset_figure(study, dataset, "energy_ratio")


def dataset_figure(study: Study, dataset: str, ratio: str) -> Figure:
    """Return the panels of `dataset` with `ratio` on x, two in a row, in the paper's order."""
    of_dataset = panels(study.runs.assign(dataset=dataset))
    columns = min(2, len(of_dataset))
    rows = [of_dataset[i : i + columns] for i in range(0, len(of_dataset), columns)]
    return grid_figure(study, [Row(row, RATIOS[ratio]) for row in rows])


def _handles(drawn: Sequence[Content]) -> list[Line2D]:
    """Return what occurs in the panels, in the order of the names."""
    present = {name for one in drawn for name in one.means["selector"]}
    handles = []
    for selector in names.ordered(present, names.METHODS):
        line: Look = {"linewidth": 1.4} if selector == AUTOMATA else {"linestyle": "none"}
        handles.append(handle(selector, size=CONTROL_SIZES.get(selector, 4.0), **line))
    untuned = Line2D([], [], marker="|", linestyle="none", markeredgewidth=1.4, color="0.6")
    untuned.set_label("untuned: best, median, worst")
    return [*handles, *([untuned] if any(len(one.untuned) for one in drawn) else [])]


def note(contents: Sequence[Content], differences: pd.DataFrame) -> list[str]:
    """Return what a reader must know of the runs behind the panels of one figure.

    `differences` is the table of differences from the paper.
    """
    drawn = [one for one in contents if len(one.compared)]
    sentences = left_out(contents)
    if drawn:
        sentences += _definitions(drawn)
        sentences += _points(pd.concat([one.means for one in drawn]))
        sentences += _untuned(drawn)
        sentences += weaknesses(pd.concat([one.compared for one in drawn]))
    return sentences + protocol(differences, [one.panel for one in contents if len(one.runs)])


def _definitions(drawn: Sequence[Content]) -> list[str]:
    """Return what each ratio of the figure is, and how the energies behind it were obtained."""
    compared: dict[Quantity, list[pd.DataFrame]] = {}
    for one in drawn:
        compared.setdefault(one.ratio, []).append(one.compared)
    return [
        f"{ratio.title}: {ratio.note(ways(pd.concat(runs)))}" for ratio, runs in compared.items()
    ]


def _points(means: pd.DataFrame) -> list[str]:
    """Return what markers, bars and numbers are."""
    several = means[(means["seeds"] > 1) & (means["selector"] == AUTOMATA)]
    subject = f"Bars ({names.selector(AUTOMATA)})"
    sentences = [seeds(means), *bars(several["interval"], "seeds", subject)]
    sizes = sorted(means.loc[~means["selector"].isin(ALL_DATA_CONTROLS), "fraction"].unique())
    shown = ", ".join(f"{100 * size:g}" for size in sizes)
    grow = f"Markers grow with the subset: {shown}\N{NO-BREAK SPACE}%."
    return [*sentences, *([grow] if sizes else [])]


def _untuned(drawn: Sequence[Content]) -> list[str]:
    draws = pd.concat([one.untuned["draws"] for one in drawn])
    if draws.empty:
        return []
    return [f"Untuned: {counted(draws, 'configuration')} drawn at random, trained on all data."]
