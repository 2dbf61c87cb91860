"""Do gradients choose better subsets than chance? A forest plot of selectors in pairs."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from automata import names
from automata.analysis.selector_comparisons import ALL, resampling
from automata.analysis.study import Study, panels
from automata.analysis.wording import MINUS, percent
from automata.figures.notes import bars, counted, protocol
from automata.figures.pieces import add_note, axes_of, logarithmic, say
from automata.figures.style import FAINT, SMALL, TITLE, Look, style
from automata.names import AUTOMATA, CONTRASTS

LINE_INCHES = 0.15
GAP = 0.7
"""Between two pairs, in lines."""

QUESTION = "Which selector is better? Pairs of runs that differ in the selector alone"
SIDES = {
    "error_difference": "\N{LEFTWARDS ARROW} first better | second better \N{RIGHTWARDS ARROW}\n"
    "Difference in test error (pp)",
    "speedup_ratio": "\N{LEFTWARDS ARROW} second faster | first faster \N{RIGHTWARDS ARROW}\n"
    "Ratio of speedups",
}
"""Quantities, and how their axes are called."""

NONE = {"error_difference": 0.0, "speedup_ratio": 1.0}
"""What stands for no difference."""


def selector_comparison(study: Study) -> Figure:
    """Return mean differences in error, left, and ratios of speedups, right, with intervals.

    Lines are the rows of `selector_comparisons.resampling` over all data sets: AUTOMATA's pairs
    first, in each pair one line per subset size and one of all sizes.
    """
    table = resampling(study.ratios)
    pooled = table[table["dataset"] == ALL]
    pairs = [pair for pair in sorted(CONTRASTS, key=_last) if len(_rows(pooled, pair))]
    places = _places(pooled, pairs)
    with style():
        lines = max(4.0, *places) if places else 4.0
        figure, grid = axes_of(1, 2, 1.1 + LINE_INCHES * lines, sharey=True)
        if places:
            drawn = pd.concat([_rows(pooled, pair) for pair in pairs]).assign(place=places)
            for axes, column in zip(grid[0], SIDES, strict=True):
                _draw(axes, drawn, column)
            _name(grid[0, 0], drawn, pairs)
            figure.suptitle(QUESTION, fontweight="bold")
            run = panels(study.ratios)
            add_note(figure, [*_note(drawn, pairs), *protocol(study.differences, run)])
        else:
            for axes in grid[0]:
                say(axes, "no two selectors to compare")
    return figure


def _last(pair: tuple[str, str]) -> bool:
    return pair[0] != AUTOMATA


def _rows(pooled: pd.DataFrame, pair: tuple[str, str]) -> pd.DataFrame:
    """Return the rows of a pair: its subset sizes, and all of them where there are several."""
    rows = pooled[(pooled["selector"] == pair[0]) & (pooled["baseline"] == pair[1])]
    return rows if len(rows) > 2 else rows[rows["fraction"] != ALL]


def _places(pooled: pd.DataFrame, pairs: list[tuple[str, str]]) -> list[float]:
    """Return where the rows stand, from the top, in lines: those of a pair below its name."""
    places, at = [], 0.0
    for pair in pairs:
        rows = len(_rows(pooled, pair))
        places += [at + 1 + i for i in range(rows)]
        at += rows + 1 + GAP
    return places


def _draw(axes: Axes, drawn: pd.DataFrame, column: str) -> None:
    """Draw a quantity: black where the interval leaves out no difference, else grey."""
    none = NONE[column]
    axes.axvline(none, color=FAINT, linewidth=0.8, zorder=1)
    for row in drawn.to_dict("records"):
        mean, low, high = (row[f"{column}{end}"] for end in ("", "_low", "_high"))
        whole = row["fraction"] == ALL
        colour = "black" if low > none or high < none else "0.55"
        look: Look = {"color": colour, "markersize": 5.5 if whole else 3.5, "zorder": 3}
        axes.plot([low, high], [row["place"]] * 2, color=colour, linewidth=1.6 if whole else 0.8)
        axes.plot([mean], [row["place"]], marker="D" if whole else "o", gid="mean", **look)
        axes.annotate(
            _words(mean, low, high, column),
            (1.01, row["place"]),
            xycoords=axes.get_yaxis_transform(),
            va="center",
            fontsize=SMALL,
            fontweight="bold" if whole else "normal",
            annotation_clip=False,
        )
    if column == "speedup_ratio":
        low, high = drawn[f"{column}_low"].min(), drawn[f"{column}_high"].max()
        logarithmic(axes, "x", min(0.9, low / 1.04), max(1.1, high * 1.04))
    axes.set_xlabel(SIDES[column], fontsize=TITLE)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _words(mean: float, low: float, high: float, column: str) -> str:
    form = "{:+.2f}" if column == "error_difference" else "{:.2f}"
    shown = [form.format(round(value, 2) + 0.0).replace("-", MINUS) for value in (mean, low, high)]
    return "{} ({} to {})".format(*shown)


def _name(axes: Axes, drawn: pd.DataFrame, pairs: list[tuple[str, str]]) -> None:
    """Name the pairs, in bold, and their lines."""
    heads = drawn.groupby(["selector", "baseline"])["place"].min() - 1
    named = {
        heads[pair]: f"{names.selector(pair[0])} vs {names.selector(pair[1])}" for pair in pairs
    }
    for place, fraction in zip(drawn["place"], drawn["fraction"], strict=True):
        named[place] = "all sizes" if fraction == ALL else percent(float(fraction))
    axes.set_yticks(list(named), list(named.values()))
    for label in axes.get_yticklabels()[: len(pairs)]:
        label.set_fontweight("bold")
    axes.set_ylim(drawn["place"].max() + 0.6, -0.6)


def _note(drawn: pd.DataFrame, pairs: list[tuple[str, str]]) -> list[str]:
    several = drawn[drawn["units"] > 1]
    missing = [pair for pair in CONTRASTS if pair not in pairs]
    lacking = ", ".join(f"{names.selector(a)} vs {names.selector(b)}" for a, b in missing)
    return [
        "Runs are paired by data set, search, scheduler, subset size and seed.",
        "Points are means, diamonds those of all subset sizes.",
        *bars(several["interval"], " or ".join(sorted(set(several["over"])))),
        *(["Black: the bar does not cross the line of no difference."] if len(several) else []),
        f"Each row rests on {counted(drawn['pairs'], 'pair')}.",
        *([f"Not compared, for lack of runs: {lacking}."] if missing else []),
    ]
