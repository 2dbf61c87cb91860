"""How good the best configuration so far is, against the time and energy of the search."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from automata import names
from automata.analysis.energy import ways
from automata.analysis.search_studies import CLOCKS, anytime, comparable
from automata.analysis.study import Study
from automata.analysis.wording import percent
from automata.figures.notes import add_study_note
from automata.figures.pieces import add_legend, in_order, panel_title, panels, say
from automata.figures.style import PAGE_INCHES, style
from automata.names import ALL_DATA

FRACTION = 0.1
"""Every selector is drawn at its subset size nearest to this."""
ALL_SIZES = "gradmatch"
"""The selector that is drawn at all its subset sizes."""
SHADED = ("full", ALL_SIZES)
"""More ranges than these cannot be told apart."""
LABELS = {
    "elapsed_seconds": "Seconds of the search",
    "elapsed_joules": "Joules of the search",
}
ROW_INCHES = 2.1


def anytime_figure(tables: Study, dataset: str) -> Figure:
    """Return the best validation accuracy so far, a row per clock, a column per panel.

    Steps are rows of `search_studies.anytime`: the median over seeds, their range shaded.
    """
    trials = tables.trials[tables.trials["dataset"] == dataset]
    columns, sizes = panels(trials), main_sizes(trials)
    with style():
        figure, grid = plt.subplots(
            len(CLOCKS),
            max(1, len(columns)),
            squeeze=False,
            sharey="row",
            figsize=(PAGE_INCHES, 0.9 + ROW_INCHES * len(CLOCKS)),
            layout="constrained",
        )
        for i, clock in enumerate(CLOCKS):
            curves = anytime(comparable(trials, tables.ratios, clock), clock)
            for axes, (search, scheduler) in zip(grid[i], columns, strict=False):
                here = curves[(curves["search"] == search) & (curves["scheduler"] == scheduler)]
                _draw(axes, here, sizes)
                if here.empty:
                    say(axes, "no energy known")
                if i == 0:
                    axes.set_title(panel_title(search, scheduler))
                axes.set_xlabel(LABELS[clock])
            if not columns:
                say(grid[i, 0])
            grid[i, 0].set_ylabel("Best validation accuracy")
        if columns:
            add_legend(figure, _handles(sizes), title=names.dataset(dataset))
            runs = tables.runs[tables.runs["record"].isin(set(trials["record"]))]
            own = [*_note(trials, runs), *_left_out(trials, tables.ratios)]
            add_study_note(figure, own, tables, trials)
        plt.close(figure)
    return figure


def main_sizes(table: pd.DataFrame) -> dict[str, float]:
    """Return the subset size at which each selector of `table` is drawn in full."""
    sizes = table[["selector", "fraction"]].drop_duplicates()
    return {
        selector: float(min(sizes.loc[sizes["selector"] == selector, "fraction"], key=_distance))
        for selector in in_order(sizes["selector"])
    }


def _distance(fraction: float) -> tuple[float, float]:
    return abs(fraction - FRACTION), fraction


def _draw(axes: Axes, here: pd.DataFrame, sizes: dict[str, float]) -> None:
    for selector, size in sizes.items():
        own = here[here["selector"] == selector]
        colour = names.SELECTORS[selector].colour
        line = "--" if selector == "full-again" else "-"
        for fraction, curve in own.groupby("fraction", sort=True):
            if fraction == size:
                width = 1.4 if selector in ALL_DATA else 1.1
                axes.plot(
                    curve["at"],
                    curve["median"],
                    drawstyle="steps-post",
                    color=colour,
                    linestyle=line,
                    linewidth=width,
                    label=names.selector(selector),
                    zorder=3,
                )
                axes.plot(
                    curve["at"].iloc[-1:],
                    curve["median"].iloc[-1:],
                    marker=names.SELECTORS[selector].marker,
                    color=colour,
                    markersize=4,
                    label="_end",
                    zorder=4,
                )
                if selector in SHADED and (curve["seeds"] > 1).all():
                    axes.fill_between(
                        curve["at"],
                        curve["low"],
                        curve["high"],
                        step="post",
                        color=colour,
                        alpha=0.15,
                        linewidth=0,
                        zorder=1,
                    )
            elif selector == ALL_SIZES:
                axes.plot(
                    curve["at"],
                    curve["median"],
                    drawstyle="steps-post",
                    color=colour,
                    linewidth=0.5,
                    label=f"_{percent(float(str(fraction)))}",
                    zorder=2,
                )
                axes.annotate(
                    percent(float(str(fraction))),
                    (curve["at"].iloc[-1], curve["median"].iloc[-1]),
                    textcoords="offset points",
                    xytext=(2, 0),
                    va="center",
                    fontsize=4.5,
                    color=colour,
                )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=5))
    axes.xaxis.set_minor_locator(NullLocator())


def _handles(sizes: dict[str, float]) -> list[Line2D]:
    return [
        Line2D(
            [],
            [],
            color=names.SELECTORS[selector].colour,
            marker=names.SELECTORS[selector].marker,
            markersize=4,
            linewidth=1.2,
            linestyle="--" if selector == "full-again" else "-",
            label=names.selector(selector)
            + ("" if selector in ALL_DATA else f" {percent(fraction)}"),
        )
        for selector, fraction in sizes.items()
    ]


def _left_out(trials: pd.DataFrame, ratios: pd.DataFrame) -> list[str]:
    """Return how many runs do not compare with FULL, in either row."""
    notes = []
    for clock, of in zip(CLOCKS, ("time", "energy"), strict=True):
        count = trials["record"].nunique() - comparable(trials, ratios, clock)["record"].nunique()
        notes += (
            [f"left out: {count} runs whose {of} does not compare with FULL's"] if count else []
        )
    return notes


def _note(trials: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    seeds = trials["seed"].nunique()
    shaded = " and ".join(names.selector(selector) for selector in SHADED)
    notes = [f"{seeds} seed{'s' * (seeds != 1)}"]
    if seeds > 1:
        notes += [
            "lines: their median, from when all have a first score",
            f"shaded: their range, of {shaded}",
        ]
    notes += [
        "the score of a search with subsets is of models trained on subsets:"
        " heights do not compare before the final training",
        "markers: the last evaluation",
    ]
    if (trials["selector"] == ALL_SIZES).any():
        notes += [f"thin: {names.selector(ALL_SIZES)} with other subset sizes"]
    notes += [
        "joules: the energy of the whole search spread evenly over its time, so that a run has the"
        f" same steps in both rows; energy: {ways(runs)}"
    ]
    return notes
