"""Whether scores from subsets rank configurations as FULL's do, rung by rung."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.search_studies import agreements, by_rung
from automata.analysis.statistics import FEWEST_PAIRS
from automata.analysis.study import Study, fractions, panels, selectors
from automata.analysis.wording import count, percent
from automata.figures.notes import bars, counted, protocol
from automata.figures.pieces import add_legend, add_note, axes_of, handle, logarithmic, marker, say
from automata.figures.style import SMALL, Look, style
from automata.names import AUTOMATA

ROW_INCHES = 1.7
SIZE = 3.5
NOISE: Look = {"color": "0.45", "linestyle": "--", "marker": "1", "linewidth": 1.0, "markersize": 5}
TICKS = [{float(tick): f"{tick}" for tick in (1, 3, 10, 30, 100)}]


def rank_agreement_figure(study: Study) -> Figure:
    """Return Kendall's tau-b against the rung, a row per scheduler, a column per subset size.

    Markers are rows of `by_rung`; grey is the noise ceiling, two FULL runs. See
    `automata.analysis.search_studies` for what late rungs compare.
    """
    taus = study.once(agreements)
    table = by_rung(taus)
    noise = table[table["selector"] == "full-again"]
    drawn = table[table["selector"] != "full-again"]
    subsets = taus[taus["selector"] != "full-again"]
    sizes, schedulers = fractions(subsets), names.ordered(subsets["scheduler"], names.SCHEDULERS)
    with style():
        rows = max(1, len(schedulers))
        height = 0.7 + ROW_INCHES * rows
        figure, grid = axes_of(rows, max(1, len(sizes)), height, sharex=True, sharey=True)
        if not schedulers:
            say(grid[0, 0])
            return figure
        for row, scheduler in zip(grid, schedulers, strict=True):
            for axes, size in zip(row, sizes, strict=True):
                here = drawn[(drawn["scheduler"] == scheduler) & (drawn["fraction"] == size)]
                _draw(axes, here, noise[noise["scheduler"] == scheduler])
            row[0].set_ylabel(f"{names.scheduler_look(scheduler).short}: Kendall's tau-b")
        for axes, size in zip(grid[0], sizes, strict=True):
            axes.set_title(f"subset {percent(size)}")
        if len(drawn):
            _set_scales(grid[0, 0], table)
            figure.supxlabel("Rung, in % of all epochs T")
        add_legend(figure, _handles(selectors(drawn), len(noise) > 0))
        add_note(figure, [*_note(taus, table), *protocol(study.differences, panels(taus))])
    return figure


def _draw(axes: Axes, here: pd.DataFrame, noise: pd.DataFrame) -> None:
    """Draw the taus of all selectors, with bars of AUTOMATA, above the noise ceiling."""
    axes.axhline(0, color="0.3", linewidth=0.6, zorder=1)
    if len(noise):
        ordered = noise.sort_values("percent")
        x = ordered["percent"]
        axes.fill_between(x, ordered["tau_low"], ordered["tau_high"], color="0.9", zorder=1)
        axes.plot(x, ordered["tau"], zorder=2, gid="noise", **NOISE)
    if here.empty:
        text = f"no rung with\n{FEWEST_PAIRS} common configurations"
        place: Look = {"transform": axes.transAxes, "ha": "center", "va": "center"}
        axes.text(0.5, 0.5, text, fontsize=SMALL, **place)
    for selector in selectors(here):
        rows = here[here["selector"] == selector].sort_values("percent")
        look = {**marker(selector, SIZE), **_line(selector)}
        axes.plot(rows["percent"], rows["tau"], gid=f"taus {selector}", **look)
        if selector == AUTOMATA:
            ends = rows["tau_low"], rows["tau_high"]
            axes.vlines(rows["percent"], *ends, color=look["color"], linewidth=0.8, zorder=4)


def _line(selector: str) -> Look:
    strong = selector == AUTOMATA
    return {"linewidth": 1.4 if strong else 0.6, "zorder": 5 if strong else 3}


def _set_scales(axes: Axes, table: pd.DataFrame) -> None:
    """Set the scales that all axes share."""
    logarithmic(axes, "x", table["percent"].min() / 1.5, 150, TICKS)
    axes.set_ylim(min(-0.05, table["tau_low"].min() - 0.05), 1.05)


def _handles(order: list[str], with_noise: bool) -> list[Line2D]:
    label = f"{names.selector('full-again')}: noise ceiling"
    noise = Line2D([], [], label=label, **NOISE)
    lines = [handle(name, size=SIZE, **_line(name)) for name in order]
    return [*lines, *([noise] if with_noise else [])]


def _note(agreements: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    datasets, seeds = (agreements[column].nunique() for column in ("dataset", "seed"))
    warm = agreements["epoch"] <= agreements["warm_start_epochs"]
    own = table[(table["selector"] == AUTOMATA) & (table["units"] > 1)]
    units = " or ".join(sorted(set(own["over"])))
    pairs = agreements.loc[agreements["tau"].notna(), "pairs"]
    lacking = f"There is no noise ceiling: {names.selector('full-again')} was not run."
    return [
        "Each tau compares validation accuracies of the same configurations at the same rung, in"
        " the search with subsets and in FULL's.",
        "Late rungs compare the few survivors of both searches, which are alike: a lower tau there"
        " need not mean worse subsets.",
        f"Taus are means over {count(datasets, 'data set')} and {count(seeds, 'seed')}.",
        *([f"A tau rests on {counted(map(int, pairs), 'configuration')}."] if len(pairs) else []),
        *bars(own["interval"], units, f"Bars ({names.selector(AUTOMATA)})"),
        *(["Rungs within the warm start on all data are left out."] * bool(warm.any())),
        *([lacking] * ("full-again" not in set(agreements["selector"]))),
    ]
