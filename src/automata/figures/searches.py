"""Inside searches: how well subsets rank configurations."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.search_studies import agreements, rank_agreement
from automata.analysis.statistics import FEWEST_PAIRS
from automata.analysis.study import Study, fractions, panels, selectors
from automata.analysis.wording import count, percent
from automata.figures import notes, style
from automata.figures.style import Look
from automata.names import AUTOMATA

TAUS_INCHES = 1.7
TAU_SIZE = 3.5
NOISE: Look = {"color": "0.45", "linestyle": "--", "marker": "1", "linewidth": 1.0, "markersize": 5}
RUNG_TICKS = [{float(tick): f"{tick}" for tick in (1, 3, 10, 30, 100)}]


def rank_agreement_figure(study: Study) -> Figure:
    """Return Kendall's tau-b against the rung, a row per scheduler and a column per subset size.

    Markers are rows of `search_studies.rank_agreement`; grey is FULL's repeat.
    Means over fewer than half of the data sets are left out, because they do not compare.
    """
    taus, table = agreements(study), rank_agreement(study)
    table = table[2 * table["datasets"] >= table["datasets"].max()]
    repeat = table["selector"] == "full-again"
    noise, drawn = table[repeat], table[~repeat]
    subsets = taus[taus["selector"] != "full-again"]
    sizes, schedulers = fractions(subsets), names.ordered(subsets["scheduler"], names.SCHEDULERS)
    rows, columns = max(1, len(schedulers)), max(1, len(sizes))
    figure, grid = style.axes_of(rows, columns, 0.7 + TAUS_INCHES * rows, sharex=True, sharey=True)
    if not schedulers:
        style.write_instead(grid[0, 0])
        return figure
    for row, scheduler in zip(grid, schedulers, strict=True):
        for axes, size in zip(row, sizes, strict=True):
            here = drawn[(drawn["scheduler"] == scheduler) & (drawn["fraction"] == size)]
            _draw_taus(axes, here, noise[noise["scheduler"] == scheduler])
        row[0].set_ylabel(f"{names.scheduler_look(scheduler).short}: Kendall's tau-b")
    for axes, size in zip(grid[0], sizes, strict=True):
        axes.set_title(f"subset {percent(size)}")
    if len(drawn):  # all axes share these scales
        style.logarithmic(grid[0, 0], "x", table["percent"].min() / 1.5, 150, RUNG_TICKS)
        grid[0, 0].set_ylim(min(-0.05, table["tau_low"].min() - 0.05), 1.05)
        figure.supxlabel("Rung (% of all epochs)")
    handles = [style.handle(name, size=TAU_SIZE, **_taus_look(name)) for name in selectors(drawn)]
    if len(noise):
        handles.append(Line2D([], [], label=names.selector("full-again"), **NOISE))
    style.add_legend(figure, handles)
    notes.add_note(figure, _taus_note(taus, table), study, panels(taus))
    return figure


def _draw_taus(axes: Axes, here: pd.DataFrame, noise: pd.DataFrame) -> None:
    """Draw the taus of all selectors, AUTOMATA's with bars, and those of FULL's repeat."""
    axes.axhline(0, color="0.3", linewidth=0.6, zorder=1)
    if len(noise):
        rows = noise.sort_values("percent")
        axes.fill_between(rows["percent"], rows["tau_low"], rows["tau_high"], color="0.9", zorder=1)
        axes.plot(rows["percent"], rows["tau"], zorder=2, gid="noise", **NOISE)
    if here.empty:
        text = f"no rung with\n{FEWEST_PAIRS} common configurations"
        place: Look = {"transform": axes.transAxes, "ha": "center", "va": "center"}
        axes.text(0.5, 0.5, text, fontsize=style.SMALL, **place)
    for selector in selectors(here):
        rows = here[here["selector"] == selector].sort_values("percent")
        look = style.marker(selector, TAU_SIZE, **_taus_look(selector))
        axes.plot(rows["percent"], rows["tau"], gid=f"taus {selector}", **look)
        if selector == AUTOMATA:
            ends = rows["tau_low"], rows["tau_high"]
            axes.vlines(rows["percent"], *ends, color=look["color"], linewidth=0.8, zorder=4)


def _taus_look(selector: str) -> Look:
    strong = selector == AUTOMATA
    return {"linewidth": 1.4 if strong else 0.6, "zorder": 5 if strong else 3}


def _taus_note(agreements: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    warm = agreements["epoch"] <= agreements["warm_start_epochs"]
    noise = "full-again" in set(agreements["selector"])
    spread = table[table["selector"].isin([AUTOMATA, "full-again"]) & (table["units"] > 1)]
    pairs = agreements.loc[agreements["tau"].notna(), "pairs"].astype(int)
    seeds = count(agreements["seed"].nunique(), "seed")
    no_noise = f"{names.selector('full-again')} was not run."
    return [
        "A tau compares the validation accuracies that the same configurations reach at the same"
        " rung on subsets and in FULL's search.",
        "Only similar configurations survive to late rungs, so a lower tau there need not mean"
        " worse subsets.",
        *(
            [
                f"A tau is a mean over {notes.counted(table['datasets'], 'data set')} and up to "
                f"{seeds}; it rests on {notes.counted(pairs, 'configuration')}."
            ]
            if len(pairs)
            else []
        ),
        *notes.bars(spread, f"Bars ({names.selector(AUTOMATA)}){' and the grey band' * noise}"),
        *["Rungs within the warm start on all data are left out."] * bool(warm.any()),
        *[no_noise] * (not noise),
    ]
