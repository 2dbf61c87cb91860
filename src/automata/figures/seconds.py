"""Where time goes: measured speedups against their ceiling, and the phases of a run."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, MaxNLocator

from automata import names
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Study, panels, selectors
from automata.analysis.tradeoff import PARTS, time_split
from automata.analysis.wording import count
from automata.figures import notes, style
from automata.figures.style import Look
from automata.names import ALL_DATA_CONTROLS

SIZE = 4.5


def ceiling_figure(study: Study) -> Figure:
    """Return speedup against ceiling, with a panel per scheduler and a point per combination."""
    table = study.tradeoff
    # The ceiling of controls on all data is 1.
    table = table[~table["selector"].isin(ALL_DATA_CONTROLS) & table["speedup"].notna()]
    schedulers = names.ordered(table["scheduler"], names.SCHEDULERS)
    width = min(style.PAGE_INCHES, 1.0 + 2.7 * max(1, len(schedulers)))
    figure, grid = style.axes_of(1, max(1, len(schedulers)), 3.8, width, sharex=True, sharey=True)
    if table.empty:
        style.write_instead(grid[0, 0], "no comparable run" if len(study.ratios) else "not run")
        return figure
    values = table[["speedup", "ceiling"]].to_numpy(dtype=float)
    ends = min(0.9, values.min() / 1.15), max(1.1, values.max() * 1.15)
    for axes, scheduler in zip(grid[0], schedulers, strict=True):
        _draw_points(axes, table[table["scheduler"] == scheduler], ends)
        axes.set_title(names.scheduler(scheduler))
        axes.set_xlabel(QUANTITIES["ceiling"].heading)
    grid[0, 0].set_ylabel(QUANTITIES["speedup"].label)
    handles = [style.handle(name, size=SIZE, linestyle="none") for name in selectors(table)]
    style.add_legend(figure, handles)
    notes.add_note(figure, _ceiling_note(table), study, panels(table))
    return figure


def _draw_points(axes: Axes, rows: pd.DataFrame, ends: tuple[float, float]) -> None:
    axes.plot(ends, ends, color="0.3", linewidth=0.8, zorder=1)
    order = selectors(rows)
    rows = rows.sort_values("selector", key=lambda column: column.map(order.index), kind="stable")
    look: Look = {"s": SIZE**2, "linewidth": 0.5, "zorder": 3, "gid": "points"}
    style.scatter(axes, rows, "ceiling", "speedup", "selector", **look)
    for xy in "xy":
        style.logarithmic(axes, xy, *ends)
    axes.set_aspect("equal")


def _ceiling_note(table: pd.DataFrame) -> list[str]:
    above = table[table["speedup"] > table["ceiling"]]
    explained = int((above["speedup"] <= above["final_ceiling"]).sum())
    explanation = (
        f"{len(above)} lie above the line. {explained} of these lie below the ceiling with the"
        " measured final training: the configuration that won is cheap to train."
    )
    return [
        f"Ceiling: {QUANTITIES['ceiling'].definition}",
        f"{count(len(table), 'point')}: means over seeds of a selector and subset size.",
        f"The median of speedup / ceiling is {table['efficiency'].median():.2f}.",
        *[explanation] * bool(len(above)),
    ]


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
