"""How much selection adds to drawing subsets anew: a forest of paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from automata import names
from automata.analysis.selector_comparisons import ALL, CONTRASTS, Contrast, resampling
from automata.analysis.study import Study
from automata.analysis.wording import percent
from automata.figures.notes import add_study_note
from automata.figures.pieces import bars
from automata.figures.style import PAGE_INCHES, style

LINE_INCHES = 0.155
FINE_TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
COARSE_TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Of ratios."""


@dataclass(frozen=True)
class Line:
    """One line of the forest."""

    text: str
    contrast: Contrast | None = None
    """None for a heading."""
    fraction: object = ALL
    missing: str = ""
    """Why a heading has no lines below it."""


def resampling_figure(tables: Study) -> Figure:
    """Return mean differences in error, left, and ratios of speedups, right, with intervals.

    Points are the rows of `selector_comparisons.resampling` over all data sets: one per subset
    size (circles) and one of all sizes (diamonds).
    """
    table = resampling(tables.ratios)
    pooled = table[table["dataset"] == ALL]
    lines = _lines(pooled, set(tables.ratios["selector"]))
    with style():
        figure, (left, right) = plt.subplots(
            ncols=2,
            sharey=True,
            figsize=(PAGE_INCHES, 1.0 + LINE_INCHES * len(lines)),
            layout="constrained",
        )
        _draw(left, lines, pooled, "error_difference", 0.0)
        _draw(right, lines, pooled, "speedup_ratio", 1.0)
        left.set_xlabel("Difference in relative test error (pp)\n← first is better")
        right.set_xlabel("Ratio of speedups (log)\nfirst is faster →")
        _set_ratio_scale(right, pooled)
        left.set_ylim(len(lines) - 0.4, -0.6)
        left.set_yticks(range(len(lines)), [line.text for line in lines])
        for label, line in zip(left.get_yticklabels(), lines, strict=True):
            label.set_fontweight("bold" if line.contrast is None else "normal")
        for axes in (left, right):
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
        add_study_note(figure, _note(pooled), tables, tables.ratios)
        plt.close(figure)
    return figure


def _lines(pooled: pd.DataFrame, run: set[str]) -> list[Line]:
    """Return the lines from top to bottom: a heading per contrast, its sizes, all of them."""
    lines = []
    for contrast in CONTRASTS:
        rows = _of(pooled, contrast)
        first, second = names.selector(contrast.selector), names.selector(contrast.baseline)
        heading = f"{first} \N{MINUS SIGN} {second}"
        missing = "no pairs" if {contrast.selector, contrast.baseline} <= run else "not run"
        lines.append(Line(heading, missing=missing if rows.empty else ""))
        sizes = [value for value in rows["fraction"] if value != ALL]
        lines += [Line(percent(float(size)), contrast, size) for size in sizes]
        lines += [Line("all", contrast)] if len(sizes) > 1 else []
    return lines


def _of(pooled: pd.DataFrame, contrast: Contrast) -> pd.DataFrame:
    return pooled[
        (pooled["selector"] == contrast.selector) & (pooled["baseline"] == contrast.baseline)
    ]


def _draw(
    axes: Axes, lines: Sequence[Line], pooled: pd.DataFrame, column: str, none: float
) -> None:
    axes.axvline(none, color="0.3", linewidth=0.8, zorder=1)
    for y, line in enumerate(lines):
        if line.contrast is None:
            axes.axhline(y - 0.5, color="0.85", linewidth=0.6, zorder=1)
            if line.missing:
                axes.text(
                    0.5,
                    y,
                    line.missing,
                    transform=axes.get_yaxis_transform(),
                    ha="center",
                    va="center",
                    fontsize=6,
                    color="0.35",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
                )
            continue
        rows = _of(pooled, line.contrast)
        row = rows[rows["fraction"] == line.fraction].iloc[0]
        whole = line.fraction == ALL
        axes.plot(
            [row[f"{column}_low"], row[f"{column}_high"]],
            [y, y],
            color="black",
            linewidth=1.6 if whole else 0.9,
            zorder=2,
        )
        axes.scatter(
            [row[column]],
            [y],
            s=24 if whole else 14,
            marker="D" if whole else "o",
            color="black" if whole else "0.35",
            zorder=3,
        )
        if column == "speedup_ratio":
            axes.annotate(
                f"{row['pairs']}",
                (1.02, y),
                xycoords=axes.get_yaxis_transform(),
                va="center",
                fontsize=6,
                color="0.35",
                annotation_clip=False,
            )
    if column == "speedup_ratio" and len(pooled):
        axes.annotate(
            "pairs",
            (1.02, 0),
            xycoords=axes.get_yaxis_transform(),
            va="center",
            fontsize=6,
            color="0.35",
            annotation_clip=False,
        )


def _set_ratio_scale(axes: Axes, pooled: pd.DataFrame) -> None:
    axes.set_xscale("log")
    low = min(0.9, pooled["speedup_ratio_low"].min()) if len(pooled) else 0.9
    high = max(1.1, pooled["speedup_ratio_high"].max()) if len(pooled) else 1.1
    axes.set_xticks(COARSE_TICKS if high / low > 4 else FINE_TICKS)
    axes.set_xlim(low / 1.05, high * 1.05)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _note(pooled: pd.DataFrame) -> list[str]:
    if pooled.empty:
        return ["no two of these selectors were run with the same data set, search and seed"]
    return [
        "runs paired by data set, search, scheduler, subset size and seed, all against the same"
        " FULL run",
        "diamonds: all subset sizes together",
        bars(pooled),
    ]
