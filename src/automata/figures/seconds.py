"""Where time goes: the phases of a run."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, MaxNLocator

from automata import names
from automata.analysis.study import Study, panels, selectors
from automata.analysis.tradeoff import PARTS, time_split
from automata.figures import notes, style
from automata.figures.style import Look

BAR_INCHES = 0.15

LOOKS: dict[str, tuple[str, Look]] = {
    "training": ("training in the search", {"facecolor": "0.3"}),
    "selection": ("selection", {"facecolor": "white", "hatch": "//////"}),
    "evaluation": ("evaluation", {"facecolor": "0.6"}),
    "orchestration": ("orchestration", {"facecolor": "black"}),
    "final": ("final training", {"facecolor": "0.88"}),
}
"""Part -> name and look of its bars: greys and hatches, because colours stand for selectors."""
EDGE: Look = {"edgecolor": "black", "linewidth": 0.3}


def time_split_figure(study: Study, dataset: str) -> Figure:
    """Return stacked bars of mean seconds per selector and subset size, with a column per panel.

    Bars are rows of `tradeoff.time_split`, each with its speedup at the end.
    """
    table = time_split(study.runs[study.runs["dataset"] == dataset], study.ratios)
    columns, order = panels(table), selectors(table)
    present = set(zip(table["selector"], table["fraction"], strict=True))
    bars = sorted(present, key=lambda bar: (order.index(bar[0]), bar[1]))
    height = 0.7 + BAR_INCHES * max(6, len(bars))
    figure, grid = style.axes_of(1, max(1, len(columns)), height, sharey=True)
    if not columns:
        style.write_instead(grid[0, 0])
        return figure
    for axes, panel in zip(grid[0], columns, strict=True):
        rows = panel.rows(table)
        untuned = panel.rows(study.untuned)["speedup"]
        if len(untuned):  # this speedup is a ratio of means, which single runs lack
            speedups = rows["speedup"].where(rows["selector"] != "untuned", untuned.iloc[0])
            rows = rows.assign(speedup=speedups)
        _draw_bars(axes, rows, bars)
        axes.set_title(panel.tuner)
    grid[0, 0].set_yticks(range(len(bars)), [names.method(*bar) for bar in bars])
    grid[0, 0].set_ylim(len(bars) - 0.4, -0.6)
    figure.supxlabel("Seconds, mean over seeds")
    handles = [Patch(label=name, **EDGE, **look) for name, look in LOOKS.values()]
    style.add_legend(figure, handles, names.dataset(dataset))
    notes.add_note(figure, _split_note(table), study, columns)
    return figure


def _draw_bars(axes: Axes, rows: pd.DataFrame, bars: list[tuple[str, float]]) -> None:
    rows = rows.set_index(["selector", "fraction"]).reindex(bars)
    ends = pd.Series(0.0, rows.index)
    for part in PARTS:
        widths = rows[f"{part}_seconds"].fillna(0)
        drawn = axes.barh(range(len(bars)), widths, 0.72, left=ends, **EDGE, **LOOKS[part][1])
        ends += widths
    speedups = rows["speedup"].map("{:#.3g}\N{MULTIPLICATION SIGN}".format, na_action="ignore")
    labels = speedups.fillna("").where(rows["total_seconds"].notna(), "not run")
    axes.bar_label(drawn, labels, padding=1.5, fontsize=style.SMALL)
    axes.set_xlim(0, 1.45 * rows["total_seconds"].max())
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    style.hide_lines(axes)


def _split_note(table: pd.DataFrame) -> list[str]:
    drawn = table["selector"] == "untuned"
    draws = table.loc[drawn, "seeds"]
    return [
        *([notes.seeds(table[~drawn], "Bars")] if (~drawn).any() else []),
        *([f"Untuned: {notes.counted(draws, 'draw')}."] if len(draws) else []),
        "Numbers are speedups over FULL: means of the seeds' ratios, for untuned a ratio of means.",
        "Times inside trials are divided by the number of trials that run at once; orchestration"
        " is the rest of the search's wall time.",
    ]
