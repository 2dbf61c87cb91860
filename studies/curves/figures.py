"""Figures of simulated searches: regret against speedup, and against the horizon exponent."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import offset_copy

from automata import names
from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.figures.style import (
    FAINTER,
    Look,
    add_legend,
    add_note,
    axes_of,
    handle,
    logarithmic,
    marker,
    sized,
    style,
)
from studies.curves.readers import ASHA
from studies.curves.tables import SEARCHES

TICKS = (-5, -2, -1, 0, 1, 2, 5, 10, 20)
BAND = "0.9"
"""Colour of the band of FULL's repeat."""

NAMED: dict[str, Look] = {
    ASHA: marker("full", 7),
    names.ONE_EPOCH: marker("full", 6, marker=names.scheduler_look("one-epoch").marker),
    names.UNTUNED: marker("untuned", 5),
    names.PLAIN_HALVING: marker("full", 6, marker=names.scheduler_look("sha").marker),
    names.HEDGE: marker("rs2", 9, marker="*"),
}
"""Methods with a mark of their own."""
OPEN: Look = {"markerfacecolor": "white", "markeredgecolor": "0.4"}


def figure_of(study: Study, name: str) -> Figure:
    """Return the figure `regret-SCHEDULER` or `horizon-SCHEDULER` of a study's folder of tables."""
    kind, _, scheduler = name.partition("-")
    rows = read_csv(study.folder / "simulated.csv")
    draw = {"regret": _regret, "horizon": _horizon}[kind]
    with style():
        return draw(rows[rows["scheduler"] == scheduler], names.scheduler(scheduler))


def _regret(rows: pd.DataFrame, scheduler: str) -> Figure:
    """Draw regret against speedup."""
    subsets, named = rows["selector"] != "full", rows["method"].isin(list(NAMED))
    usual = (rows["metric"] == "accuracy") & (rows["horizon_exponent"] == 0)
    shown = rows[usual & subsets | named]
    speedups = shown["speedup_samples"]
    selectors = names.ordered(rows.loc[subsets, "selector"], names.METHODS)
    entries = [handle(name, linestyle="none") for name in selectors]
    entries.append(handle("rs2", "3 finalists", linestyle="none", **OPEN))
    others = rows[named].drop_duplicates("method").to_dict("records")
    entries += [Line2D([], [], label=str(row["method"]), **_look(row)) for row in others]
    note = "Marks grow with the subset; marks with about equal speedups are side by side."
    groups = np.log(speedups).round(1).mask(named, -speedups)  # one with an own mark is alone
    shown = shown.assign(x=speedups, group=groups)
    label = f"Speedup, by samples ({scheduler})"
    figure = _panels(rows, shown, label, entries, note)
    logarithmic(figure.axes[0], "x", 0.8 * speedups.min(), 1.25 * speedups.max())
    return figure


def _horizon(rows: pd.DataFrame, scheduler: str) -> Figure:
    """Draw the regret of RS2 against the horizon exponent."""
    shown = rows[(rows["selector"] == "rs2") & (rows["finalists"] == 1)]
    shown = shown.sort_values(["fraction", "metric"])
    fractions, exponents = sorted(set(shown["fraction"])), shown["horizon_exponent"]
    look: Look = {"linestyle": "none"}
    entries = [handle("rs2", names.method("rs2", it), size=sized(it), **look) for it in fractions]
    entries.append(handle("rs2", "by validation loss", **look, **OPEN))
    note = "Filled marks compare trials by validation accuracy."
    shown = shown.assign(x=exponents, group=exponents)
    figure = _panels(rows, shown, f"Horizon exponent ({scheduler})", entries, note)
    figure.axes[0].set_xticks(sorted(set(exponents)))
    figure.axes[0].margins(x=0.2)
    return figure


def _panels(
    rows: pd.DataFrame, shown: pd.DataFrame, label: str, entries: Sequence[Line2D], note: str
) -> Figure:
    """Return a panel for each data set; rows `shown` of one group are drawn side by side."""
    datasets = names.ordered(rows["dataset"], names.DATASETS)
    lines = -(-len(datasets) // 2)
    figure, grid = axes_of(lines, 2, 0.9 + 1.5 * lines, sharex=True, sharey=True)
    for axes in grid.ravel()[len(datasets) :]:
        axes.remove()
    for axes, dataset in zip(figure.axes, datasets, strict=True):
        axes.set_title(names.dataset(dataset))
        axes.axhline(0, color=FAINTER, linewidth=0.6)
        repeat = rows[(rows["dataset"] == dataset) & (rows["method"] == names.REPEAT)]
        for low, high in repeat[["regret_5th", "regret_95th"]].to_numpy():
            axes.axhspan(low, high, color=BAND, zorder=0)
        for end in ("regret_low", "regret_high"):  # as matplotlib ignores marks that are moved
            axes.update_datalim(shown[["x", end]])
        for _, group in shown[shown["dataset"] == dataset].groupby("group"):
            for place, row in enumerate(group.to_dict("records")):
                points = 3 * (place - (len(group) - 1) / 2)
                moved = offset_copy(axes.transData, figure, points, units="points")
                regret = row["regret"]
                ends = [[regret - row["regret_low"]], [row["regret_high"] - regret]]
                axes.errorbar(row["x"], regret, ends, transform=moved, elinewidth=0.6, **_look(row))
        axes.autoscale_view()
        axes.set_yscale("symlog", linthresh=2)  # linear up to 2 points, logarithmic above
        axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    for axes in grid[:, 0]:
        axes.set_ylabel("Regret (points)")
    for axes in figure.axes[-2:]:
        axes.set_xlabel(label)
        axes.tick_params(labelbottom=True)
    add_legend(figure, [*entries, Patch(color=BAND, label=names.REPEAT)])
    seeds = " to ".join(map(str, sorted({rows["seeds"].min(), rows["seeds"].max()})))
    notes = (
        f"Means over {SEARCHES:,} simulated random searches; 95 % intervals are over "
        f"the choice of configurations and training seeds ({seeds} a data set).",
        "Regret is how much test accuracy the chosen configuration, trained on all data, loses "
        "against FULL's choice. The band holds 90 % of FULL's searches with another seed.",
    )
    add_note(figure, [*notes, note])
    return figure


def _look(row: Mapping[Hashable, Any]) -> Look:
    if row["method"] in NAMED:
        return {**NAMED[row["method"]], "linestyle": "none", "zorder": 4}
    look = marker(row["selector"], sized(row["fraction"]), linestyle="none")
    if row["finalists"] > 1 or row["metric"] != "accuracy":
        look |= {**OPEN, "markeredgecolor": look["color"]}
    return look
