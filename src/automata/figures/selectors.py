"""Selectors against each other: a forest plot of pairs."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from automata import names
from automata.analysis.selectors import ALL, pooled_differences
from automata.analysis.study import Study, compared, panels
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

    Lines are rows of `selectors.pooled_differences`, first AUTOMATA's pairs. A pair has a line per
    subset size, and a line for all sizes if there are several.
    """
    drawn = _placed(pooled_differences(study.ratios))
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
        several = low < high  # of several units
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
