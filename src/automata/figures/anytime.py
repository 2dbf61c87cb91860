"""How good the best configuration so far is, against the time and energy of the search."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from automata import names
from automata.analysis.energy import ways
from automata.analysis.search_studies import CLOCKS, anytime, comparable
from automata.analysis.study import Study, panels, selectors
from automata.analysis.wording import count
from automata.figures.notes import protocol
from automata.figures.pieces import add_legend, add_note, axes_of, handle, marker, say
from automata.figures.style import Look, style
from automata.names import AUTOMATA

FRACTION = 0.1
"""Every selector is drawn at its subset size nearest to this."""

STRONG = ("full", AUTOMATA)
"""Their ranges are shaded: more could not be told apart."""

LABELS = {
    "elapsed_seconds": "Seconds of the search",
    "elapsed_joules": "Joules of the search",
}
ROW_INCHES = 1.8


def anytime_figure(study: Study, dataset: str) -> Figure:
    """Return the best validation accuracy so far, a row per clock, a column per panel.

    Steps are rows of `search_studies.anytime`: the median over seeds, their range shaded.
    """
    trials = study.trials[study.trials["dataset"] == dataset]
    columns, sizes = panels(trials), main_sizes(trials)
    with style():
        height = 0.5 + ROW_INCHES * len(CLOCKS)
        figure, grid = axes_of(len(CLOCKS), max(1, len(columns)), height, sharey="row")
        for row, clock in zip(grid, CLOCKS, strict=True):
            curves = anytime(comparable(trials, study.ratios, clock), clock)
            for axes, panel in zip(row, columns, strict=False):
                here = panel.rows(curves)
                _draw(axes, here, sizes)
                axes.set_title(names.tuner(panel.search, panel.scheduler))
                if here.empty:
                    say(axes, "no energy known")
            row[0].set_ylabel("Best validation accuracy")
            row[len(row) // 2].set_xlabel(LABELS[clock])
            if not columns:
                say(row[0])
        if columns:
            handles = [
                handle(name, names.method(name, size), **_look(name))
                for name, size in sizes.items()
            ]
            add_legend(figure, handles, names.dataset(dataset))
            runs = study.runs[study.runs["record"].isin(set(trials["record"]))]
            own = [*_note(trials, runs), *_left_out(trials, study.ratios)]
            add_note(figure, [*own, *protocol(study.differences, columns)])
    return figure


def main_sizes(table: pd.DataFrame) -> dict[str, float]:
    """Return the subset size at which each selector of `table` is drawn."""
    sizes = table[["selector", "fraction"]].drop_duplicates()
    return {
        selector: float(min(sizes.loc[sizes["selector"] == selector, "fraction"], key=_distance))
        for selector in selectors(sizes)
    }


def _distance(fraction: float) -> tuple[float, float]:
    return abs(fraction - FRACTION), fraction


def _look(selector: str) -> Look:
    strong = selector in STRONG
    return {
        "linewidth": 1.4 if strong else 0.7,
        "linestyle": "--" if selector == "full-again" else "-",
        "zorder": 4 if strong else 3,
    }


def _draw(axes: Axes, here: pd.DataFrame, sizes: dict[str, float]) -> None:
    """Draw the steps of each selector, with a marker at the last evaluation."""
    for selector, size in sizes.items():
        curve = here[(here["selector"] == selector) & (here["fraction"] == size)]
        if curve.empty:
            continue
        look = {**marker(selector), **_look(selector), "markevery": [-1]}
        step: Look = {"drawstyle": "steps-post", "gid": f"steps {selector}"}
        axes.plot(curve["at"], curve["median"], **step, **look)
        if selector in STRONG and (curve["seeds"] > 1).all():
            shade: Look = {"step": "post", "color": look["color"], "alpha": 0.15, "linewidth": 0}
            axes.fill_between(curve["at"], curve["low"], curve["high"], zorder=1, **shade)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=5))
    axes.xaxis.set_minor_locator(NullLocator())


def _left_out(trials: pd.DataFrame, ratios: pd.DataFrame) -> list[str]:
    """Say how many runs do not compare with FULL, in either row."""
    notes = []
    for clock, of in zip(CLOCKS, ("time", "energy"), strict=True):
        apart = trials["record"].nunique() - comparable(trials, ratios, clock)["record"].nunique()
        words = f"The {of} of {count(apart, 'run')} does not compare with FULL's."
        notes += [words] * (apart > 0)
    return notes


def _note(trials: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    seeds = trials["seed"].nunique()
    strong = " and ".join(names.selector(selector) for selector in STRONG)
    median = f"Lines are medians over {seeds} seeds; shaded are the ranges of {strong}."
    return [
        median if seeds > 1 else "One seed.",
        "Markers are the last evaluations.",
        "Heights do not compare: models that are trained on subsets score lower before the final"
        " training.",
        f"Joules are the energy of the search, spread evenly over its time. Energy: {ways(runs)}.",
    ]
