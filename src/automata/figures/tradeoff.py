"""The paper's scatter: a ratio to FULL against relative test error, one panel."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from automata.analysis.energy import how_measured
from automata.analysis.tradeoff import SEEDS_FOR_INTERVAL, tradeoff
from automata.errors import UserError
from automata.figures import names
from automata.figures.style import COLOURS, COLUMN_INCHES, MARKERS, style
from automata.metering.measurement import CONTAMINATED_SHARE


@dataclass(frozen=True)
class Ratio:
    """What may stand on the x axis: a column of the ratios, spread in the tradeoff table."""

    column: str
    label: str
    meaning: str = ""
    """What the note says it is; {energy} stands for how energy was obtained."""


RATIOS = {
    ratio.column: ratio
    for ratio in (
        Ratio("speedup", "Speedup over FULL (\N{MULTIPLICATION SIGN})"),
        Ratio(
            "energy_ratio",
            "Energy ratio, FULL / method (\N{MULTIPLICATION SIGN})",
            "energy: {energy}",
        ),
        Ratio(
            "co2_measured_ratio",
            "CO2 ratio from energy, FULL / method (\N{MULTIPLICATION SIGN})",
            "energy x PUE x intensity: equals the energy ratio; energy: {energy}",
        ),
        Ratio(
            "co2_time_ratio",
            "CO2 ratio from time, FULL / method (\N{MULTIPLICATION SIGN})",
            "time x TDP x intensity: equals the speedup",
        ),
    )
}


def tradeoff_figure(
    ratios: pd.DataFrame, dataset: str, search: str, scheduler: str, x: str = "speedup"
) -> Figure:
    """Return the scatter of one data set, search and scheduler (paper, figure 3).

    `ratios` has one row per run, `x` is a key of RATIOS; runs without it are left out, and the
    note counts them. A marker is the mean over seeds and carries its fraction in percent; a
    small dot is one seed; a bar is the spread of the tradeoff table. The bottom right corner is
    the best. Raises UserError for another `x`.
    """
    if x not in RATIOS:
        raise UserError(f"ratio '{x}' is not one of {', '.join(RATIOS)}")
    ratio = RATIOS[x]
    panel = ratios[
        (ratios["dataset"] == dataset)
        & (ratios["search"] == search)
        & (ratios["scheduler"] == scheduler)
    ]
    with style():
        figure, axes = plt.subplots(figsize=(1.5 * COLUMN_INCHES, 1.15 * COLUMN_INCHES))
        draw_panel(axes, panel[panel["refused"].isna()], ratio)
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
        note = _note(panel, ratio)
        figure.text(0.5, -0.13, note, ha="center", va="top", fontsize=6, color="0.35")
        plt.close(figure)
    return figure


def draw_panel(axes: Axes, panel: pd.DataFrame, ratio: Ratio) -> None:
    """Draw the compared runs of one panel that have `ratio` into `axes`; without any, say so."""
    axes.set_xlabel(ratio.label)
    axes.set_ylabel("Relative test error (pp)")
    drawn = panel[panel[ratio.column].notna()]
    if drawn.empty:
        nothing = "not run" if panel.empty else "no energy ratio"
        axes.text(0.5, 0.5, nothing, transform=axes.transAxes, ha="center", va="center")
        axes.set_xticks([])
        axes.set_yticks([])
        return
    axes.axhline(0, color="0.3", linewidth=0.6, zorder=1)
    axes.axvline(1, color="0.3", linewidth=0.6, zorder=1)
    summary = tradeoff(drawn)
    for selector in (name for name in COLOURS if name in set(drawn["selector"])):
        means = summary[summary["selector"] == selector].sort_values("fraction")
        seeds = drawn[drawn["selector"] == selector]
        _draw_selector(axes, selector, means, seeds, ratio.column)
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


def _draw_selector(
    axes: Axes, selector: str, means: pd.DataFrame, seeds: pd.DataFrame, column: str
) -> None:
    colour = COLOURS[selector]
    x, y = means[column], means["relative_test_error"]
    if (means["seeds"] > 1).any():
        axes.errorbar(
            x,
            y,
            xerr=[x - means[f"{column}_low"], means[f"{column}_high"] - x],
            yerr=[y - means["relative_test_error_low"], means["relative_test_error_high"] - y],
            fmt="none",
            ecolor=colour,
            elinewidth=0.7,
            zorder=2,
        )
        axes.scatter(
            seeds[column], seeds["relative_test_error"], s=4, color=colour, alpha=0.5, zorder=2
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


def _note(panel: pd.DataFrame, ratio: Ratio) -> str:
    """Return what a reader must know of the runs: how many, how measured, and what is wrong."""
    accepted = panel[panel["refused"].isna()]
    compared = accepted[accepted[ratio.column].notna()]
    refused, left_out = len(panel) - len(accepted), len(accepted) - len(compared)
    notes = [f"{refused} of {len(panel)} runs not comparable"] if refused else []
    notes += [f"{left_out} of {len(panel)} runs without an energy ratio"] if left_out else []
    if compared.empty:
        return "; ".join(notes)
    notes += [ratio.meaning.format(energy=_energies(compared))] if ratio.meaning else []
    seeds = compared["seed"].nunique()
    spread = "95 % bootstrap interval" if seeds >= SEEDS_FOR_INTERVAL else "range"
    disturbed = int((compared["other_cpu_share"] > CONTAMINATED_SHARE).sum())
    stopped = compared[compared["full_best_epochs"] < compared["epochs"]]["full_record"].nunique()
    notes += [f"{seeds} seed{'s' if seeds > 1 else ''}"]
    notes += [f"dots: seeds, bars: {spread}"] if seeds > 1 else []
    notes += ["labels: subset size"]
    notes += [f"FULL's best trial ended before T ({stopped} of {seeds})"] if stopped else []
    notes += [f"host was busy with other work in {disturbed} runs"] if disturbed else []
    notes += [] if compared["exclusive"].all() else ["runs may have overlapped on the host"]
    return textwrap.fill("; ".join(notes), 90)


def _energies(runs: pd.DataFrame) -> str:
    """Return all ways in which the energies of `runs` were obtained."""
    known = runs[["energy_method", "energy_source"]].astype(object)
    pairs = known.where(known.notna(), None).itertuples(index=False, name=None)
    return ", ".join(sorted({how_measured(method, source) for method, source in pairs}))
