"""Selectors against each other: a forest plot of pairs, and Pareto fronts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from automata import names
from automata.analysis.selectors import ALL, fronts, pooled_differences, summary
from automata.analysis.study import Study, compared, panels, selectors
from automata.analysis.wording import MINUS, count, percent
from automata.figures import notes, style
from automata.figures.style import Look
from automata.names import AUTOMATA, CONTRASTS, contrasts

LINE_INCHES = 0.15
GAP = 0.7
"""Space between two pairs, in lines."""

SIDES = {
    "error_difference": ("first better", "second better", "Difference in test error (pp)"),
    "speedup_ratio": ("second faster", "first faster", "Ratio of speedups"),
}
"""Column -> meaning of the left and the right side, and label."""


def selector_comparison(study: Study) -> Figure:
    """Return mean differences in error (left) and ratios of speedups (right), with intervals.

    Lines are rows of `selectors.pooled_differences` over all data sets, first AUTOMATA's pairs. A
    pair has a line per subset size, and a line for all sizes if there are several.
    """
    table = pooled_differences(study.ratios)
    drawn = _placed(table[table["dataset"] == ALL])
    height = 1.1 + LINE_INCHES * max([4.0, *drawn["place"]])
    figure, grid = style.axes_of(1, 2, height, sharey=True)
    if drawn.empty:
        for axes in grid[0]:
            style.write_instead(axes, "no two selectors to compare")
        return figure
    for axes, column in zip(grid[0], SIDES, strict=True):
        _draw_differences(axes, drawn, column)
    _name_lines(grid[0, 0], drawn)
    notes.add_note(figure, _comparison_note(drawn, study), study, panels(study.ratios))
    return figure


def _placed(pooled: pd.DataFrame) -> pd.DataFrame:
    """Return the rows to draw with their `pair` and `place`, in lines from the top."""
    parts, top = [pooled.iloc[:0].assign(pair="", place=0.0)], 0.0
    pairs = contrasts(pooled["selector"])
    for one, other in sorted(pairs, key=lambda pair: pair[0] != AUTOMATA):
        rows = pooled[(pooled["selector"] == one) & (pooled["baseline"] == other)]
        if len(rows) <= 2:  # with one size, the row of all sizes says the same
            rows = rows[rows["fraction"] != ALL]
        if len(rows):
            places = [top + 1 + i for i in range(len(rows))]
            parts.append(
                rows.assign(pair=" vs ".join(map(names.selector, (one, other))), place=places)
            )
            top += len(rows) + 1 + GAP
    return pd.concat(parts)


def _draw_differences(axes: Axes, drawn: pd.DataFrame, column: str) -> None:
    """Draw a quantity, black if its interval excludes no difference, otherwise grey."""
    none, form = (0.0, "{:+.2f}") if column == "error_difference" else (1.0, "{:.2f}")
    axes.axvline(none, color=style.FAINT, linewidth=0.8, zorder=1)
    drawn = drawn[drawn[column].notna()]
    if drawn.empty:  # other work disturbed all runs
        style.write_instead(axes, "no speedup")
        return
    for row in drawn.to_dict("records"):
        mean, low, high = numbers = [row[f"{column}{end}"] for end in ("", "_low", "_high")]
        pooled, place = row["fraction"] == ALL, row["place"]
        several = row["units"] > 1
        colour = "black" if several and (low > none or high < none) else "0.55"
        axes.plot([low, high], [place] * 2, color=colour, linewidth=1.6 if pooled else 0.8)
        mark, size, weight = ("D", 5.5, "bold") if pooled else ("o", 3.5, "normal")
        look: Look = {"marker": mark, "markersize": size, "color": colour, "zorder": 3}
        axes.plot([mean], [place], gid="mean", **look)
        texts = [form.format(round(number, 2) + 0.0).replace("-", MINUS) for number in numbers]
        words: Look = {"va": "center", "fontsize": style.SMALL, "fontweight": weight}
        across = axes.get_yaxis_transform()
        text = "{} ({} to {})" if several else "{}"
        axes.text(1.01, place, text.format(*texts), transform=across, **words)
    if column == "speedup_ratio":
        low, high = drawn[f"{column}_low"].min(), drawn[f"{column}_high"].max()
        style.logarithmic(axes, "x", min(0.9, low / 1.04), max(1.1, high * 1.04))
    left, right, label = SIDES[column]
    sides = f"\N{LEFTWARDS ARROW} {left} | {right} \N{RIGHTWARDS ARROW}"
    axes.set_xlabel(f"{sides}\n{label}", fontsize=style.TITLE)
    style.hide_lines(axes)


def _name_lines(axes: Axes, drawn: pd.DataFrame) -> None:
    """Write the names of the pairs, in bold, and of their lines."""
    heads = drawn.groupby("pair", sort=False)["place"].min() - 1
    sizes = ["all sizes" if size == ALL else percent(float(size)) for size in drawn["fraction"]]
    axes.set_yticks([*heads, *drawn["place"]], [*heads.index, *sizes])
    for label in axes.get_yticklabels()[: len(heads)]:
        label.set_fontweight("bold")
    axes.set_ylim(drawn["place"].max() + 0.6, -0.6)


def _comparison_note(drawn: pd.DataFrame, study: Study) -> list[str]:
    several = drawn[drawn["units"] > 1]
    every = [" vs ".join(map(names.selector, pair)) for pair in CONTRASTS]
    missing = [pair for pair in every if pair not in set(drawn["pair"])]
    disturbed = int(compared(study.ratios)["speedup"].isna().sum())
    return [
        "Runs are paired by data set, search, scheduler, subset size and seed.",
        "Points are means; diamonds are means over all subset sizes.",
        *notes.bars(several),
        "Black: the bar does not cross the line of no difference."
        if len(several)
        else "One data set and one seed give no intervals.",
        f"Each row rests on {notes.counted(drawn['pairs'], 'pair')}.",
        *[f"{count(disturbed, 'run')} beside other work have no speedup."] * bool(disturbed),
        *([f"Not compared, for lack of runs: {', '.join(missing)}."] if missing else []),
    ]


SELECTOR_INCHES, FRAME_INCHES = 0.3, 0.8

MARK: Look = {"linestyle": "none", "color": "0.2", "markersize": 4.5}
MARKS: dict[str, Look] = {
    "panels_on_front": {"marker": "o", "label": "on the front"},
    "panels_largest": {"marker": "D", "markerfacecolor": "white", "label": "largest hypervolume"},
}
"""Column of the summary -> look of its marks."""
MEAN: Look = {"color": "black", "linewidth": 1.4}


def pareto_figure(study: Study) -> Figure:
    """Return the shares of panels in which selectors lead, and their hypervolume in each panel.

    The numbers are of `automata.analysis.selectors.fronts`.
    """
    table = fronts(study.tradeoff)
    totals = summary(table)
    order = selectors(totals)
    height = FRAME_INCHES + SELECTOR_INCHES * max(3, len(order))
    figure, grid = style.axes_of(1, 2, height, sharey=True)
    left, right = grid[0]
    if totals.empty:
        for axes in grid[0]:
            style.write_instead(axes, "no comparable run" if len(study.ratios) else "not run")
        return figure
    _draw_shares(left, totals.set_index("selector").loc[order])
    _draw_hypervolumes(right, table, order)
    left.set_yticks(range(len(order)), [names.selector(name) for name in order])
    left.set_ylim(len(order) - 0.5, -0.5)
    marks = [Line2D([], [], **MARK | look) for look in MARKS.values()]
    style.add_legend(figure, [*marks, Line2D([], [], label="mean over panels", **MEAN)])
    notes.add_note(figure, _pareto_note(table, study.tradeoff), study, panels(table))
    return figure


def _draw_shares(axes: Axes, totals: pd.DataFrame) -> None:
    y = np.arange(len(totals))
    axes.hlines(y, 0, 1, color="0.9", linewidth=0.8, zorder=1)
    for offset, (column, look) in zip((-0.16, 0.16), MARKS.items(), strict=True):
        axes.plot(
            totals[column] / totals["panels"], y + offset, zorder=3, gid=column, **MARK | look
        )
        for at, number, of in zip(y, totals[column], totals["panels"], strict=True):
            words: Look = {"va": "center", "fontsize": style.SMALL, "color": style.FAINT}
            axes.text(1.06, at + offset, f"{number}/{of}", **words)
    axes.set_xlim(-0.04, 1.24)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    axes.set_xlabel("Share of panels (%)")
    axes.grid(visible=False, axis="y")


def _draw_hypervolumes(axes: Axes, table: pd.DataFrame, order: list[str]) -> None:
    for y, selector in enumerate(order):
        shares = table.loc[table["selector"] == selector, "share"].to_numpy(np.float64)
        # Offsets spread the points without random numbers.
        offsets = 0.5 * ((np.arange(len(shares)) * 0.618) % 1 - 0.5)
        look = style.marker(selector, 3.5, linestyle="none", alpha=0.75)
        axes.plot(shares, y + offsets, gid=f"shares {selector}", zorder=3, **look)
        if np.isfinite(shares).any():
            axes.plot([np.nanmean(shares)] * 2, [y - 0.36, y + 0.36], zorder=4, **MEAN)
    axes.set_xlim(-0.04, 1.04)
    axes.set_xlabel("Hypervolume (share of the area of all selectors)")
    axes.grid(visible=False, axis="y")


def _pareto_note(table: pd.DataFrame, tradeoff: pd.DataFrame) -> list[str]:
    used = tradeoff[tradeoff["selector"].isin(set(table["selector"]) - {"full"})]
    sizes = {tuple(sorted(group.unique())) for _, group in used.groupby("selector")["fraction"]}
    equal = f"Subset sizes: {', '.join(percent(size) for size in max(sizes, default=()))}."
    unequal = "Selectors were run with different subset sizes: more sizes dominate more."
    return [
        f"A panel is a data set, search and scheduler: {count(len(panels(table)), 'panel')}.",
        "A selector has a point per subset size, the mean over seeds. Its hypervolume is the area"
        " that these points dominate, from speedup 1 and the panel's worst error.",
        "FULL is the point (1, 0) and dominates nothing.",
        equal if len(sizes) <= 1 else unequal,
    ]
