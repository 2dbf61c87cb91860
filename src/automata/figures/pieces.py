"""What the figures of the studies share: their notes, legends, and axes without data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from automata import names

NOTE_CHARACTERS_PER_INCH = 20
"""Of the note's small print."""


def in_order(selectors: Iterable[str]) -> list[str]:
    """Return the selectors in the order in which all figures have them."""
    present = set(selectors)
    return [name for name in names.SELECTORS if name in present]


def panels(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the pairs of search and scheduler in `table`, in the order of the names."""
    pairs = set(zip(table["search"], table["scheduler"], strict=True))
    return [(s, c) for s in names.SEARCHES for c in names.SCHEDULERS if (s, c) in pairs]


def panel_title(search: str, scheduler: str) -> str:
    """Return e.g. TPE, HB."""
    return f"{names.search(search)}, {names.SCHEDULERS[scheduler].short}"


def say(axes: Axes, text: str = "not run") -> None:
    """Write `text` into axes that have nothing to show, and hide their ticks."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="0.35")
    # Hidden, not taken away: axes that share theirs would lose them too.
    axes.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)
    axes.grid(visible=False)


def add_legend(
    figure: Figure, handles: Sequence[Artist], columns: int = 4, title: str | None = None
) -> None:
    """Put a legend above all axes, under `title`; `figure` has the constrained layout."""
    if handles:
        figure.legend(
            handles=handles,
            loc="outside upper center",
            ncols=columns,
            frameon=False,
            title=title,
            title_fontsize=9,
        )


def add_note(figure: Figure, sentences: Sequence[str]) -> None:
    """Write what a reader must know under the figure."""
    width = int(NOTE_CHARACTERS_PER_INCH * figure.get_figwidth())
    text = textwrap.fill("; ".join(sentences), width)
    figure.text(0.5, -0.01, text, ha="center", va="top", fontsize=6, color="0.35")


def bars(table: pd.DataFrame) -> str:
    """Say what the bars of rows with `interval`, `over` and `units` span."""
    kinds = {
        (f"95 % bootstrap interval over {over}" if interval == "95 %" else f"range over {over}")
        for interval, over, units in zip(
            table["interval"], table["over"], table["units"], strict=True
        )
        if units > 1
    }
    return f"bars: {' or '.join(sorted(kinds))}" if kinds else "no bars: 1 seed"
