"""What ways of tuning lose against FULL, and how much faster they are, by simulated searches."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.study import Study
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

PANEL_INCHES = 1.5
APART = 1.03
"""Between two marks with the same speedup, which are drawn side by side."""

OTHERS: dict[str, Look] = {
    f"{names.FULL}, {names.scheduler('asha')}": {
        "marker": "*",
        "markerfacecolor": "black",
        "markersize": 9,
    },
    names.ONE_EPOCH: {"marker": "P", "markerfacecolor": "black"},
    names.UNTUNED: {"marker": "X", "markerfacecolor": "0.5"},
}
"""Methods without subsets."""
CORRECTED: Look = {"markeredgecolor": "black", "markeredgewidth": 1}
"""Methods with a horizon exponent."""


class Measure(NamedTuple):
    """What a column of panels shows."""

    column: str
    band: tuple[str, str]
    """Columns of FULL's repeat between which all is noise."""
    label: str
    factor: float
    ticks: Sequence[float]
    linear: float
    """Up to so many the axis is linear, beyond it logarithmic."""


REGRET = Measure(
    "regret", ("regret_5th", "regret_95th"), "Regret (points)", 1, (-1, 0, 1, 2, 5, 10, 20), 2
)
CHANCE = Measure(
    "lost_2",
    ("lost_2_low", "lost_2_high"),
    "Lost over 2 points (%)",
    100,
    (0, 5, 10, 20, 50, 100),
    10,
)


def regret_of(study: Study, scheduler: str) -> Figure:
    """Return the figure of the searches that were simulated in a study's folder of tables."""
    return regret_figure(pd.read_csv(study.folder / "simulated.csv"), scheduler)


def regret_figure(table: pd.DataFrame, scheduler: str) -> Figure:
    """Return the figure of a table of `automata simulate`, of random search: rows are data sets."""
    rows = table[(table["search"] == "random") & (table["scheduler"] == scheduler)]
    datasets = names.ordered(rows["dataset"].unique(), names.DATASETS)
    with style():
        height = 0.9 + PANEL_INCHES * len(datasets)
        figure, grid = axes_of(len(datasets), 2, height, sharex=True, sharey="col")
        for line, dataset in zip(grid, datasets, strict=True):
            for axes, measure in zip(line, (REGRET, CHANCE), strict=True):
                _draw(axes, rows[rows["dataset"] == dataset], measure)
                axes.set_title(names.dataset(dataset))
        speedups = rows.loc[_shown(rows), "speedup_samples"]
        for axes in grid[-1]:
            logarithmic(axes, "x", 0.8 * speedups.min(), 1.25 * speedups.max())
            axes.set_xlabel(f"Speedup, by samples ({names.scheduler(scheduler)})")
        selectors = names.ordered(rows["selector"].unique(), names.METHODS)
        exponents = sorted({f"{one:g}" for one in rows["horizon_exponent"] if one})
        corrected = f"horizon exponent {', '.join(exponents)}"
        add_legend(
            figure,
            [
                *(handle(name) for name in selectors if name != "full"),
                handle("rs2", "3 finalists", markerfacecolor="white", markeredgecolor="0.4"),
                *[handle("rs2", corrected, **CORRECTED)] * bool(exponents),
                *(_entry(name) for name in OTHERS if name in set(rows["method"])),
                Line2D([], [], color=FAINTER, linewidth=6, label=names.REPEAT),
            ],
        )
        seeds = rows.groupby("dataset")["seeds"].first()
        few, many = seeds.min(), seeds.max()
        add_note(
            figure,
            [
                f"Means over {rows['searches'].max():,} simulated random searches, with 95 % "
                "intervals over the choice of configurations and training seeds "
                f"({few if few == many else f'{few} to {many}'} a data set).",
                "Regret is how much test accuracy the chosen configuration, trained on all data, "
                "loses against FULL's choice. Bands are FULL under another seed: 90 % of its "
                "searches, and the interval of its chance.",
                "Larger marks have larger subsets. Subsets with about the same speedup stand "
                "side by side.",
            ],
        )
    return figure


def _entry(name: str) -> Line2D:
    return Line2D([], [], label=name, **_alone(name))


def _alone(name: str) -> Look:
    return {"linestyle": "none", "markeredgecolor": "white", "markersize": 5.5, **OTHERS[name]}


def _draw(axes: Axes, rows: pd.DataFrame, measure: Measure) -> None:
    axes.axhline(0, color=FAINTER, linewidth=0.6)
    ends = [f"{measure.column}_low", f"{measure.column}_high"]
    repeat = rows[rows["method"] == names.REPEAT]
    for low, high in measure.factor * repeat[list(measure.band)].to_numpy():
        axes.axhspan(low, high, color="0.9", zorder=0)
    for row, x in _side_by_side(rows[_shown(rows)]):
        look = _look(row)
        colour = look.get("color", look["markerfacecolor"])
        y = [measure.factor * row[end] for end in ends]
        axes.plot([x, x], y, color=colour, linewidth=0.6, alpha=0.6, zorder=2)
        middle = measure.factor * row[measure.column]
        above = row["method"] in OTHERS
        axes.plot([x], [middle], zorder=4 if above else 3, **{"linestyle": "none", **look})
    axes.set_yscale("symlog", linthresh=measure.linear)
    axes.set_yticks(measure.ticks, [f"{tick:g}" for tick in measure.ticks])
    axes.set_ylabel(measure.label)


def _shown(rows: pd.DataFrame) -> pd.Series[bool]:
    usual = (rows["warm_start"] == 0) & ((rows["horizon_exponent"] == 0) | (rows["finalists"] == 1))
    known = (rows["selector"] != "full") | rows["method"].isin(list(OTHERS))
    return usual & known & (rows["metric"] == "accuracy")


def _side_by_side(rows: pd.DataFrame) -> Iterator[tuple[dict[Hashable, Any], float]]:
    """Yield rows and where they are drawn: subsets of one speedup beside each other."""
    alone = rows["method"].isin(list(OTHERS))
    yield from ((row, row["speedup_samples"]) for row in rows[alone].to_dict("records"))
    rows = rows[~alone]
    groups = rows.groupby(np.log(rows["speedup_samples"]).round(1), sort=True)
    for _, group in groups:
        middle = (len(group) - 1) / 2
        for place, row in enumerate(group.to_dict("records")):
            yield row, row["speedup_samples"] * APART ** (place - middle)


def _look(row: Mapping[Hashable, Any]) -> Look:
    name = str(row["method"])
    if name in OTHERS:
        return _alone(name)
    look = marker(row["selector"], sized(row["fraction"]))
    if row["horizon_exponent"]:
        look |= CORRECTED
    if row["finalists"] > 1:
        look |= {"markerfacecolor": "white", "markeredgecolor": look["color"]}
    return look
