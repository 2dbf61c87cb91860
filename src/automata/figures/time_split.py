"""Where the seconds of every combination of a data set go."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, MaxNLocator

from automata import names
from automata.analysis.study import Study, panels, selectors
from automata.analysis.tradeoff import PARTS, time_split
from automata.figures.notes import counted, protocol
from automata.figures.pieces import add_legend, add_note, axes_of, say
from automata.figures.style import FAINT, SMALL, Look, style

BAR_INCHES = 0.15

LOOKS: dict[str, tuple[str, Look]] = {
    "training": ("training in the search", {"facecolor": "0.3"}),
    "selection": ("selection", {"facecolor": "white", "hatch": "//////"}),
    "evaluation": ("evaluation", {"facecolor": "0.6"}),
    "orchestration": ("orchestration", {"facecolor": "black"}),
    "final": ("final training", {"facecolor": "0.88"}),
}
"""Of each part, its name and how its bars look: greys and hatches, for there is no colour."""
EDGE: Look = {"edgecolor": "black", "linewidth": 0.3}


def time_split_figure(study: Study, dataset: str) -> Figure:
    """Return stacked bars of mean seconds per selector and subset size, a column per panel.

    Bars are rows of `tradeoff.time_split`; the number at the end of each is its speedup.
    """
    table = time_split(study.runs[study.runs["dataset"] == dataset], study.ratios)
    bars = _bars(table)
    columns = panels(table)
    with style():
        height = 0.7 + BAR_INCHES * max(6, len(bars))
        figure, grid = axes_of(1, max(1, len(columns)), height, sharey=True)
        if not columns:
            say(grid[0, 0])
            return figure
        for axes, panel in zip(grid[0], columns, strict=True):
            untuned = panel.rows(study.untuned)["speedup"]
            gain = None if untuned.empty else float(untuned.iloc[0])
            _draw(axes, panel.rows(table), bars, gain)
            axes.set_title(names.tuner(panel.search, panel.scheduler))
        grid[0, 0].set_yticks(range(len(bars)), [names.method(*bar) for bar in bars])
        grid[0, 0].set_ylim(len(bars) - 0.4, -0.6)
        figure.supxlabel("Seconds, mean over seeds")
        handles = [Patch(label=name, **EDGE, **look) for name, look in LOOKS.values()]
        add_legend(figure, handles, names.dataset(dataset))
        add_note(figure, [*_note(table), *protocol(study.differences, columns)])
    return figure


def _bars(table: pd.DataFrame) -> list[tuple[str, float]]:
    """Return selectors and fractions from top to bottom."""
    present = set(zip(table["selector"], table["fraction"], strict=True))
    order = selectors(table)
    return sorted(present, key=lambda bar: (order.index(bar[0]), bar[1]))


def _draw(
    axes: Axes, panel: pd.DataFrame, bars: list[tuple[str, float]], untuned: float | None
) -> None:
    rows = {(row["selector"], row["fraction"]): row for row in panel.to_dict("records")}
    widest = float(panel["total_seconds"].max())
    words: Look = {"va": "center", "fontsize": SMALL}
    for y, bar in enumerate(bars):
        if bar not in rows:
            axes.text(0.02 * widest, y, "not run", color=FAINT, **words)
            continue
        row = rows[bar]
        start = 0.0
        for part in PARTS:
            width = float(row[f"{part}_seconds"])
            axes.barh(y, width, 0.72, left=start, zorder=2, **EDGE, **LOOKS[part][1])
            start += width
        gain = untuned if bar[0] == "untuned" else float(row["speedup"])
        if gain is not None and np.isfinite(gain):
            shown = f"{gain:#.3g}\N{MULTIPLICATION SIGN}"
            axes.text(start + 0.02 * widest, y, shown, **words)
    axes.set_xlim(0, 1.45 * widest)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _note(table: pd.DataFrame) -> list[str]:
    drawn = table["selector"] == "untuned"
    seeds, draws = table.loc[~drawn, "seeds"], table.loc[drawn, "seeds"]
    return [
        *([f"Bars are means over {counted(seeds, 'seed')}."] if len(seeds) else []),
        *([f"Untuned: {counted(draws, 'draw')}."] if len(draws) else []),
        "Numbers are speedups over FULL: means of the seeds' ratios, of untuned a ratio of means.",
        "Work inside of trials counts for its share of the trials that run at once; orchestration"
        " is the rest of the wall time of the search.",
    ]
