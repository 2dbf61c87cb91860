"""Which selectors are on the fronts of speedup and error, and how much they cover."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.study import Study
from automata.analysis.tradeoff import fronts, summary
from automata.analysis.wording import percent
from automata.figures.notes import add_study_note
from automata.figures.pieces import add_legend, in_order, say
from automata.figures.style import PAGE_INCHES, style

SELECTOR_INCHES = 0.32
FRAME_INCHES = 0.9


def pareto_figure(tables: Study) -> Figure:
    """Return per selector, left, its shares of panels; right, its hypervolume in each panel.

    A panel is a data set, search and scheduler; see `tradeoff.fronts`.
    """
    table = fronts(tables.tradeoff)
    totals = summary(table)
    order = in_order(totals["selector"])
    with style():
        height = FRAME_INCHES + SELECTOR_INCHES * max(3, len(order))
        figure, (left, right) = plt.subplots(
            ncols=2, sharey=True, figsize=(PAGE_INCHES, height), layout="constrained"
        )
        if totals.empty:
            say(left)
            say(right)
        else:
            _draw_shares(left, totals.set_index("selector").loc[order])
            _draw_strips(right, table, order)
            left.set_yticks(range(len(order)), [names.selector(name) for name in order])
            left.set_ylim(len(order) - 0.5, -0.5)
            add_legend(figure, _handles(), 3)
            add_study_note(figure, _note(table, tables.tradeoff), tables, table)
        plt.close(figure)
    return figure


def _draw_shares(axes: Axes, totals: pd.DataFrame) -> None:
    y = np.arange(len(totals))
    on_front = totals["panels_on_front"] / totals["panels"]
    largest = totals["panels_largest"] / totals["panels"]
    axes.hlines(y, 0, 1, color="0.9", linewidth=0.8, zorder=1)
    axes.scatter(on_front, y - 0.14, s=26, color="0.2", marker="o", zorder=3)
    axes.scatter(largest, y + 0.14, s=26, color="0.2", facecolor="white", marker="D", zorder=3)
    for at, row in zip(y, totals.itertuples(), strict=True):
        for offset, count in ((-0.14, row.panels_on_front), (0.14, row.panels_largest)):
            text = f"{count}/{row.panels}"
            axes.text(1.06, at + offset, text, va="center", fontsize=6, color="0.35")
    axes.set_xlim(-0.04, 1.24)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    axes.set_xlabel("Share of panels (%)")
    axes.grid(visible=False, axis="y")


def _draw_strips(axes: Axes, table: pd.DataFrame, order: list[str]) -> None:
    for y, selector in enumerate(order):
        shares = table.loc[table["selector"] == selector, "share"].to_numpy(np.float64)
        # Points side by side where they are many; the order of panels, no random numbers.
        offsets = 0.5 * ((np.arange(len(shares)) * 0.618) % 1 - 0.5)
        axes.scatter(
            shares,
            y + offsets,
            s=12,
            marker=names.SELECTORS[selector].marker,
            color=names.SELECTORS[selector].colour,
            alpha=0.7,
            linewidth=0.3,
            label=names.selector(selector),
            zorder=3,
        )
        if np.isfinite(shares).any():
            mean = float(np.nanmean(shares))
            axes.plot([mean, mean], [y - 0.36, y + 0.36], color="black", linewidth=1.4, zorder=4)
    axes.set_xlim(-0.04, 1.04)
    axes.set_xlabel("Hypervolume, share of all selectors' together")
    axes.grid(visible=False, axis="y")


def _handles() -> list[Line2D]:
    look = {"linestyle": "none", "color": "0.2", "markersize": 4.5}
    return [
        Line2D([], [], marker="o", label="on the front", **look),  # type: ignore[arg-type]
        Line2D(
            [],
            [],
            marker="D",
            markerfacecolor="white",
            label="largest hypervolume",
            **look,  # type: ignore[arg-type]
        ),
        Line2D([], [], color="black", linewidth=1.4, label="mean over panels"),
    ]


def _note(table: pd.DataFrame, tradeoff: pd.DataFrame) -> list[str]:
    panels = table[["dataset", "search", "scheduler"]].drop_duplicates()
    used = tradeoff[tradeoff["selector"].isin(set(table["selector"]) - {"full"})]
    sizes = {
        name: tuple(sorted(group["fraction"].unique()))
        for name, group in used.groupby("selector", sort=True)
    }
    notes = [
        f"{len(panels)} panel{'s' * (len(panels) != 1)} (data set, search, scheduler), a dot each",
        "points: means over seeds of a subset size",
        "hypervolume against speedup 1 and the worst error of the panel",
        "FULL is the point (1, 0) and covers nothing",
    ]
    if len(set(sizes.values())) == 1:
        shown = ", ".join(percent(f) for f in next(iter(sizes.values())))
        notes += [f"subset sizes: {shown}"]
    elif sizes:
        notes += ["selectors were run with different subset sizes: more sizes cover more"]
    return notes
