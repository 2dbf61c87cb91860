"""The paper's scatter: speedup against relative test error, one panel."""

from __future__ import annotations

import math
import textwrap

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from automata.analysis.tradeoff import SEEDS_FOR_INTERVAL, tradeoff
from automata.figures import names
from automata.figures.style import COLOURS, COLUMN_INCHES, MARKERS, style

DISTURBED_SHARE = 0.1
"""Above this share of the host's CPU time for other work, a run's times are not its own."""


def tradeoff_figure(ratios: pd.DataFrame, dataset: str, search: str, scheduler: str) -> Figure:
    """Return the scatter of one data set, search and scheduler (paper, figure 3).

    `ratios` has one row per run. A marker is the mean over seeds and carries its fraction in
    percent; a small dot is one seed; a bar is the spread of the tradeoff table. The bottom
    right corner is the best.
    """
    panel = ratios[
        (ratios["dataset"] == dataset)
        & (ratios["search"] == search)
        & (ratios["scheduler"] == scheduler)
    ]
    with style():
        figure, axes = plt.subplots(figsize=(1.5 * COLUMN_INCHES, 1.15 * COLUMN_INCHES))
        draw_panel(axes, panel[panel["refused"].isna()])
        axes.set_title(names.combination(dataset, search, scheduler))
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=3,
            frameon=False,
        )
        figure.text(0.5, -0.13, _note(panel), ha="center", va="top", fontsize=6, color="0.35")
        plt.close(figure)
    return figure


def draw_panel(axes: Axes, panel: pd.DataFrame) -> None:
    """Draw the compared runs of one panel into `axes`; without any, say so."""
    axes.set_xlabel("Speedup over FULL (\N{MULTIPLICATION SIGN})")
    axes.set_ylabel("Relative test error (pp)")
    if panel.empty:
        axes.text(0.5, 0.5, "not run", transform=axes.transAxes, ha="center", va="center")
        axes.set_xticks([])
        axes.set_yticks([])
        return
    axes.axhline(0, color="0.3", linewidth=0.6, zorder=1)
    axes.axvline(1, color="0.3", linewidth=0.6, zorder=1)
    summary = tradeoff(panel)
    for selector in (name for name in COLOURS if name in set(panel["selector"])):
        means = summary[summary["selector"] == selector].sort_values("fraction")
        _draw_selector(axes, selector, means, panel[panel["selector"] == selector])
    axes.margins(0.1, 0.14)
    axes.text(
        0.99,
        0.01,
        "best \N{SOUTH EAST ARROW}",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        fontsize=6,
        color="0.5",
    )
    sns.despine(ax=axes)


def _draw_selector(axes: Axes, selector: str, means: pd.DataFrame, seeds: pd.DataFrame) -> None:
    colour = COLOURS[selector]
    x, y = means["speedup"], means["relative_test_error"]
    if (means["seeds"] > 1).any():
        axes.errorbar(
            x,
            y,
            xerr=[x - means["speedup_low"], means["speedup_high"] - x],
            yerr=[y - means["relative_test_error_low"], means["relative_test_error_high"] - y],
            fmt="none",
            ecolor=colour,
            elinewidth=0.7,
            zorder=2,
        )
        axes.scatter(
            seeds["speedup"], seeds["relative_test_error"], s=4, color=colour, alpha=0.5, zorder=2
        )
    axes.plot(x, y, color=colour, linewidth=0.6, alpha=0.5, zorder=2)
    axes.scatter(
        x,
        y,
        s=90 if selector == "full" else 34,
        marker=MARKERS[selector],
        color=colour,
        edgecolor="white",
        linewidth=0.5,
        label=names.SELECTORS[selector],
        zorder=3,
    )
    if selector == "full":
        return
    # Each selector writes in a direction of its own, so that close points stay readable.
    angle = 2 * math.pi * list(COLOURS).index(selector) / len(COLOURS)
    offset = (9 * math.cos(angle), 7 * math.sin(angle))
    for fraction, at_x, at_y in zip(means["fraction"], x, y, strict=True):
        axes.annotate(
            f"{100 * fraction:g} %",
            (at_x, at_y),
            textcoords="offset points",
            xytext=offset,
            ha="left" if offset[0] > 0 else "right",
            va="center",
            zorder=4,
            fontsize=5.5,
            color=colour,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )


def _note(panel: pd.DataFrame) -> str:
    """Return what a reader must know of the runs: how many, how timed, and what is wrong."""
    compared = panel[panel["refused"].isna()]
    refused = len(panel) - len(compared)
    notes = [f"{refused} of {len(panel)} runs not comparable"] if refused else []
    if compared.empty:
        return "; ".join(notes)
    seeds = compared["seed"].nunique()
    spread = "95 % bootstrap interval" if seeds >= SEEDS_FOR_INTERVAL else "range"
    disturbed = int((compared["other_cpu_share"] > DISTURBED_SHARE).sum())
    stopped = compared[compared["full_best_epochs"] < compared["epochs"]]["full_record"].nunique()
    notes += [f"{seeds} seed{'s' if seeds > 1 else ''}"]
    notes += [f"dots: seeds, bars: {spread}"] if seeds > 1 else []
    notes += ["labels: subset size"]
    notes += [f"FULL's best trial ended before T ({stopped} of {seeds})"] if stopped else []
    notes += [f"host was busy with other work in {disturbed} runs"] if disturbed else []
    notes += [] if compared["exclusive"].all() else ["runs may have overlapped on the host"]
    return textwrap.fill("; ".join(notes), 90)
