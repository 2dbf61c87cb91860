"""Whether scores from subsets rank configurations as FULL's do, rung by rung."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from automata import names
from automata.analysis.search_studies import BASE, agreements, by_rung
from automata.analysis.statistics import FEWEST_PAIRS
from automata.analysis.study import Study
from automata.analysis.wording import percent
from automata.figures.notes import add_study_note
from automata.figures.pieces import add_legend, bars, in_order, say
from automata.figures.style import PAGE_INCHES, style

ROW_INCHES = 1.9
SHIFT = 1.045
"""Selectors stand side by side by this factor, so that their bars can be told apart."""


def rank_agreement_figure(tables: Study) -> Figure:
    """Return Kendall's tau-b against the rung, a row per scheduler, a column per subset size.

    Markers are rows of `by_rung`, moved sideways a little; grey is the noise ceiling, two FULL
    runs. See `search_studies.rank_agreement` for what late rungs compare.
    """
    taus = tables.once(agreements)
    table = by_rung(taus)
    subsets = taus[taus["selector"] != "full-again"]
    fractions = sorted(subsets["fraction"].unique())
    schedulers = [name for name in names.SCHEDULERS if name in set(subsets["scheduler"])]
    with style():
        figure, grid = plt.subplots(
            max(1, len(schedulers)),
            max(1, len(fractions)),
            sharex=True,
            sharey=True,
            squeeze=False,
            figsize=(PAGE_INCHES, 0.9 + ROW_INCHES * max(1, len(schedulers))),
            layout="constrained",
        )
        if not schedulers:
            say(grid[0, 0])
        drawn = table[table["selector"] != "full-again"]
        order = in_order(drawn["selector"])
        for i, scheduler in enumerate(schedulers):
            for j, fraction in enumerate(fractions):
                axes = grid[i, j]
                here = drawn[(drawn["scheduler"] == scheduler) & (drawn["fraction"] == fraction)]
                noise = table[
                    (table["scheduler"] == scheduler) & (table["selector"] == "full-again")
                ]
                _draw(axes, here, noise, order)
                if i == 0:
                    axes.set_title(f"subset {percent(fraction)}")
            grid[i, 0].set_ylabel(f"{names.SCHEDULERS[scheduler].short}\nKendall's tau-b")
        if len(drawn):
            _set_scales(grid[0, 0], pd.concat([drawn, table]))
            figure.supxlabel("Rung, in % of all epochs T", fontsize=8)
        add_legend(figure, _handles(order, "full-again" in set(table["selector"])))
        if schedulers:
            add_study_note(figure, _note(taus, table), tables, taus)
        plt.close(figure)
    return figure


def _draw(axes: Axes, here: pd.DataFrame, noise: pd.DataFrame, order: list[str]) -> None:
    axes.axhline(0, color="0.3", linewidth=0.6, zorder=1)
    if len(noise):
        ordered = noise.sort_values("percent")
        x = ordered["percent"]
        axes.fill_between(x, ordered["tau_low"], ordered["tau_high"], color="0.85", zorder=1)
        axes.plot(x, ordered["tau"], color="0.45", linestyle="--", linewidth=1, zorder=2)
        axes.scatter(x, ordered["tau"], color="0.45", marker="1", s=24, zorder=2)
    if here.empty:
        text = f"no rung with\n{FEWEST_PAIRS} common configurations"
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", fontsize=6)
    for i, selector in enumerate(order):
        rows = here[here["selector"] == selector].sort_values("percent")
        x = rows["percent"] * SHIFT ** (i - (len(order) - 1) / 2)
        y, colour = rows["tau"], names.SELECTORS[selector].colour
        axes.vlines(x, rows["tau_low"], rows["tau_high"], color=colour, linewidth=0.7, zorder=3)
        axes.plot(x, y, color=colour, linewidth=0.8, zorder=3)
        axes.scatter(
            x,
            y,
            s=16,
            marker=names.SELECTORS[selector].marker,
            color=colour,
            edgecolor="white",
            linewidth=0.3,
            label=names.selector(selector),
            zorder=4,
        )


def _set_scales(axes: Axes, table: pd.DataFrame) -> None:
    """Set the scales that all axes share."""
    axes.set_xscale("log")
    axes.set_xlim(table["percent"].min() / 1.5, 150)
    axes.set_xticks([tick for tick in (1, 3, 10, 30, 100) if tick > table["percent"].min() / 1.5])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(min(-0.05, table["tau_low"].min() - 0.05), 1.05)


def _handles(order: list[str], with_noise: bool) -> list[Line2D]:
    noise = Line2D(
        [],
        [],
        color="0.45",
        linestyle="--",
        marker="1",
        label=f"{names.SELECTORS['full-again']}: noise ceiling",
    )
    return [
        *(
            Line2D(
                [],
                [],
                color=names.SELECTORS[name].colour,
                marker=names.SELECTORS[name].marker,
                markersize=4,
                linewidth=0.8,
                label=names.selector(name),
            )
            for name in order
        ),
        *([noise] if with_noise else []),
    ]


def _note(agreements: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    known = agreements[agreements["tau"].notna()]
    datasets, seeds = agreements["dataset"].nunique(), agreements["seed"].nunique()
    warm = agreements[agreements["epoch"] <= agreements["warm_start_epochs"]]
    notes = [
        "validation accuracies of the same configurations at the same rung, in the search with"
        " subsets and in FULL's",
        "late rungs compare only survivors of both searches, which are alike:"
        " a lower tau there need not mean worse subsets",
        f"rungs grouped by the nearest of T, T/{BASE}, T/{BASE**2}, ...",
        f"{datasets} data set{'s' * (datasets != 1)}, {seeds} seed{'s' * (seeds != 1)}",
    ]
    if len(table):
        smallest, largest = int(known["pairs"].min()), int(known["pairs"].max())
        notes += [
            bars(table),
            f"{smallest} to {largest} configurations per tau, none below {FEWEST_PAIRS}",
        ]
    if len(warm):
        notes += ["rungs within the warm start on all data are left out"]
    if "full-again" not in set(agreements["selector"]):
        notes += [f"no noise ceiling: {names.SELECTORS['full-again']} was not run"]
    return notes
