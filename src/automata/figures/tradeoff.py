"""Test error against a ratio: the paper's figures 3 to 7, and figures of one data set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from automata import names
from automata.analysis.energy import ways
from automata.analysis.quantities import ERROR, QUANTITIES, Quantity
from automata.analysis.statistics import interval
from automata.analysis.study import Panel, Study, compared, panels
from automata.analysis.views import PAPERS_SCHEDULERS
from automata.figures import notes, style
from automata.figures.style import COLUMN_INCHES, FAINT, PAGE_INCHES, SMALL, Look
from automata.names import ALL_DATA_CONTROLS, AUTOMATA

COLUMNS = [(search, scheduler) for scheduler in PAPERS_SCHEDULERS for search in ("random", "tpe")]
"""Search and scheduler of each column in the paper's figures."""

SIZES = {1: (COLUMN_INCHES, 2.3), 2: (4.9, 1.85), 4: (PAGE_INCHES, 1.45)}
"""Number of panels in a row -> width of the figure and height of a row, in inches."""

LEAST_SPAN = 0.5
"""Minimum span of the y axis in percentage points, so that noise does not fill a panel."""

UNTUNED: Look = {"color": "0.6", "linewidth": 1.4, "solid_capstyle": "butt"}
EDGE, LINE = 0.02, 0.1
"""Distance of the untuned bar from the left edge, and height of a text line, in panels."""

CONTROL_SIZES = {"full": 8.0, "full-again": 5.0}
"""Widths of markers in points; markers of subsets grow with the subset."""

HALO = [withStroke(linewidth=1.5, foreground="white")]
"""Keeps text readable above lines."""

LAYERS = {AUTOMATA: 6, "full": 7}
"""Drawing order of selectors; small markers are above large ones."""


@dataclass(frozen=True)
class Content:
    """The rows of an experiment's tables that a panel shows for one ratio."""

    panel: Panel
    ratio: Quantity
    runs: pd.DataFrame
    """Rows of the ratios, including refused ones."""
    measured: pd.DataFrame
    """Runs that compare with their FULL and have the ratio."""
    means: pd.DataFrame
    """Rows of the tradeoff table that have the ratio."""
    untuned: pd.DataFrame
    """The row of the untuned table, or none."""

    @property
    def absence(self) -> str | None:
        """The reason why the panel is empty; None if it is not."""
        if len(self.means):
            return None
        if self.runs.empty:
            return "not run"
        return "no comparable run" if compared(self.runs).empty else f"no {self.ratio.words}"


def content(
    study: Study, panel: Panel, ratio: Quantity, selectors: Collection[str] | None = None
) -> Content:
    """Return the rows of `panel` with all selectors, or with `selectors` without `untuned`."""
    runs, means, untuned = map(panel.rows, (study.ratios, study.tradeoff, study.untuned))
    if selectors is not None:
        runs = runs[runs["selector"].isin(selectors)]
        means = means[means["selector"].isin(selectors)]
        untuned = untuned.iloc[:0]
    means = means[means[ratio.name].notna()]
    with_ratio = means[ratio.seeds].astype(int)  # some seeds may lack the ratio
    means = means.assign(seeds=with_ratio, interval=with_ratio.map(interval), over="seeds")
    measured = compared(runs[runs[ratio.name].notna()])
    return Content(panel, ratio, runs, measured, means, untuned)


def speedups(study: Study, *datasets: str) -> Figure:
    """Return the speedups of `datasets`, with a row of the paper's panels for each."""
    return _grid(study, [(papers(dataset), QUANTITIES["speedup"]) for dataset in datasets])


def energy_co2(study: Study, of_energy: str, of_co2: str) -> Figure:
    """Return the energy ratios of one data set, and the CO2 ratios of another."""
    ratios = {of_energy: "energy_ratio", of_co2: "co2_time_ratio"}  # as in the paper
    return _grid(study, [(papers(name), QUANTITIES[ratio]) for name, ratio in ratios.items()])


def papers(dataset: str) -> list[Panel]:
    """Return a data set's panels in the paper's figures."""
    return [Panel(dataset, *column) for column in COLUMNS]


def tradeoff(study: Study, dataset: str, ratio: str) -> Figure:
    """Return the experiment's panels of `dataset`, two in a row, with a ratio on x."""
    every = panels(study.runs.assign(dataset=dataset))
    columns = min(2, len(every))
    rows = [every[i : i + columns] for i in range(0, len(every), columns)]
    return _grid(study, [(row, QUANTITIES[ratio]) for row in rows])


def _grid(study: Study, rows: Sequence[tuple[Sequence[Panel], Quantity]]) -> Figure:
    """Return a figure of `rows` of one, two or four panels with a ratio on x.

    Panels without runs say so. Rows without any run are left out unless all are. If ratios differ,
    each row has its own x label.
    """
    every = [[content(study, panel, ratio) for panel in row] for row, ratio in rows]
    drawn = [row for row in every if any(len(one.runs) for one in row)] or every
    contents = [one for row in every for one in row]
    columns = max(map(len, drawn))
    width, height = SIZES[columns]
    ratios = list(dict.fromkeys(row[0].ratio.label for row in drawn))
    letters = iter(ascii_lowercase)
    height = 0.6 + len(drawn) * (height + 0.15 * (len(ratios) > 1))
    figure, grid = style.axes_of(len(drawn), columns, height, width)
    for row, line in zip(drawn, grid, strict=True):
        for axes in line[len(row) :]:
            axes.remove()
        for axes, one in zip(line, row, strict=False):
            draw_panel(axes, one)
            axes.set_title(f"({next(letters)}) {one.panel.title}")
            if len(ratios) > 1:
                axes.set_xlabel(one.ratio.heading, fontsize=style.TITLE)
    if len(ratios) == 1:
        figure.supxlabel(ratios[0])
    figure.supylabel(QUANTITIES[ERROR].label)
    style.add_legend(figure, _handles([one for one in contents if one.absence is None]))
    add_note(figure, contents, study)
    return figure


def _handles(drawn: Sequence[Content]) -> list[Line2D]:
    """Return the entries of the legend, in the order of the names."""
    handles = []
    present = {selector for one in drawn for selector in one.means["selector"]}
    for selector in names.ordered(present, names.METHODS):
        line: Look = {"linewidth": 1.4} if selector == AUTOMATA else {"linestyle": "none"}
        handles.append(style.handle(selector, size=CONTROL_SIZES.get(selector, 4.0), **line))
    if any(len(one.untuned) for one in drawn):
        look: Look = {"marker": "|", "linestyle": "none", "markeredgewidth": 1.4, "color": "0.6"}
        handles.append(Line2D([], [], label="untuned: best, median, worst", **look))
    return handles


def add_note(figure: Figure, contents: Sequence[Content], study: Study) -> None:
    """Write what the figure shows and leaves out, and reasons to doubt its comparisons."""
    sentences = _left_out(contents)
    drawn = [one for one in contents if len(one.measured)]
    if drawn:
        for ratio in dict.fromkeys(one.ratio for one in drawn):
            runs = pd.concat([one.measured for one in drawn if one.ratio == ratio])
            energy = f" Energy: {ways(runs)}." if ratio.of_energy else ""
            sentences.append(f"{ratio.title}: {ratio.definition}{energy}")
        means = pd.concat([one.means for one in drawn])
        several = means[(means["seeds"] > 1) & (means["selector"] == AUTOMATA)]
        sentences.append(notes.seeds(means))
        sentences += notes.bars(several, f"Bars ({names.selector(AUTOMATA)})")
        sizes = sorted(set(means.loc[~means["selector"].isin(ALL_DATA_CONTROLS), "fraction"]))
        if sizes:
            percentages = ", ".join(f"{100 * size:g}" for size in sizes)
            sentences.append(f"Markers grow with the subset: {percentages} %.")
        draws = pd.concat([one.untuned["draws"] for one in drawn])
        if len(draws):
            number = notes.counted(draws, "configuration")
            sentences.append(f"Untuned: {number} drawn at random, trained on all data.")
        sentences += notes.weaknesses(pd.concat([one.measured for one in drawn]))
    notes.add_note(figure, sentences, study, [one.panel for one in contents if len(one.runs)])


def _left_out(contents: Sequence[Content]) -> list[str]:
    """Return how many panels and runs the figure does not show."""
    runs = pd.concat([one.runs for one in contents])
    refused = len(runs) - len(compared(runs))
    unmeasured = len(runs) - refused - sum(len(one.measured) for one in contents)
    words = " or ".join(dict.fromkeys(one.ratio.words for one in contents))
    ran = {one.panel.dataset for one in contents if len(one.runs)}
    absent = {one.panel.dataset: None for one in contents if one.panel.dataset not in ran}
    none_of = f" (none of {', '.join(map(names.dataset, absent))})" * bool(absent)
    counts = {
        f"panels were not run{none_of}": (sum(one.runs.empty for one in contents), len(contents)),
        "runs do not compare with FULL": (refused, len(runs)),
        f"runs have no {words}": (unmeasured, len(runs)),
    }
    return [f"{count} of {total} {what}." for what, (count, total) in counts.items() if count]


def draw_panel(axes: Axes, content: Content) -> None:
    """Draw the ratio on a logarithmic x axis, and the relative test error on y.

    Markers are means of the tradeoff table and grow with the subset. A line joins AUTOMATA's, names
    the smallest and the largest size, and has bars from `_low` to `_high`. The star at (1, 0) is
    FULL. The bar at the left edge is the range of untuned configurations.
    """
    if content.absence is not None:
        style.write_instead(axes, content.absence)
        return
    column = content.ratio.name
    _set_limits(axes, content.means, column)
    if len(content.untuned):
        _draw_untuned(axes, content.untuned.iloc[0])
    axes.axhline(0, color=FAINT, linewidth=0.5, zorder=1)
    for name, rows in content.means.groupby("selector"):
        selector = str(name)
        if selector == AUTOMATA:
            _draw_line(axes, rows.sort_values("fraction"), column)
        for x, y, fraction in rows[[column, ERROR, "fraction"]].to_numpy():
            look = style.marker(
                selector, CONTROL_SIZES.get(selector, style.sized(fraction)), linestyle="none"
            )
            layer = LAYERS.get(selector, 3) - fraction
            axes.plot([x], [y], gid=f"mean {selector}", zorder=layer, **look)


def _set_limits(axes: Axes, means: pd.DataFrame, column: str) -> None:
    """Fit the axes to all means and bars."""
    bars = means[means["selector"] == AUTOMATA]
    xs, ys = (
        [*means[name], *bars[f"{name}_low"].dropna(), *bars[f"{name}_high"].dropna()]
        for name in (column, ERROR)
    )
    left, right = min(1.0, *xs), max(1.0, *xs)
    reach = max(right / left, 1.5)
    style.logarithmic(axes, "x", left / reach**0.14, right * reach**0.1)
    low, high = min(0.0, *ys), max(0.0, *ys)
    room = 0.12 * max(high - low, LEAST_SPAN)
    middle, half = (low + high) / 2, max(high - low, LEAST_SPAN) / 2 + room
    axes.set_ylim(middle - half, middle + half)
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))


def _draw_line(axes: Axes, rows: pd.DataFrame, column: str) -> None:
    """Join AUTOMATA's means, draw their bars, and name the ends of the line."""
    colour = names.look(AUTOMATA).colour
    several = rows[rows["seeds"] > 1]
    bars: Look = {"color": colour, "alpha": 0.6, "linewidth": 0.8, "zorder": 4, "gid": "bars"}
    axes.hlines(several[ERROR], several[f"{column}_low"], several[f"{column}_high"], **bars)
    axes.vlines(several[column], several[f"{ERROR}_low"], several[f"{ERROR}_high"], **bars)
    axes.plot(rows[column], rows[ERROR], color=colour, linewidth=1.4, zorder=5, gid="line")
    ends = rows.iloc[[0, -1]].drop_duplicates("fraction").sort_values(ERROR, ascending=False)
    for i, (fraction, x, y) in enumerate(ends[["fraction", column, ERROR]].to_numpy()):
        # Above the higher end of the line, below its lower end.
        place: Look = {"xytext": (0, 4 * (-1) ** i), "va": ("bottom", "top")[i], "ha": "center"}
        look: Look = {"color": colour, "fontsize": SMALL, "zorder": 10, "path_effects": HALO}
        axes.annotate(f"{100 * fraction:g} %", (x, y), textcoords="offset points", **place, **look)


def _draw_untuned(axes: Axes, row: pd.Series) -> None:
    """Draw the range and median of untuned configurations, or write a median beyond the y axis."""
    best, median, worst = (row[f"{ERROR}_{name}"] for name in ("low", "median", "high"))
    across = axes.get_yaxis_transform()
    axes.plot([EDGE] * 2, [best, worst], transform=across, zorder=2, gid="untuned", **UNTUNED)
    low, high = axes.get_ylim()
    if low < median < high:
        tick: Look = {**UNTUNED, "color": FAINT}
        axes.plot([0, 2 * EDGE], [median] * 2, transform=across, zorder=2, gid="median", **tick)
        return
    above, room = median >= high, LINE * (high - low)
    axes.set_ylim((low, high + room) if above else (low - room, high))
    arrow = "\N{UPWARDS ARROW}" if above else "\N{DOWNWARDS ARROW}"
    place: Look = {"y": 0.99, "va": "top"} if above else {"y": 0.01, "va": "bottom"}
    look: Look = {"fontsize": SMALL, "color": FAINT, "transform": axes.transAxes}
    axes.text(2 * EDGE, s=f"{arrow} untuned {median:.1f}", **place, **look)
