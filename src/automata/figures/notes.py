"""Sentences of the note under a figure, about the evidence behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from automata.analysis.ratios import disturbed
from automata.analysis.study import Panel, Study, panel_of_each
from automata.figures import style


def counted(numbers: Iterable[int], noun: str) -> str:
    """Return the range of `numbers` with a noun: "1 seed", "3 seeds" or "3 to 5 seeds"."""
    values = list(numbers)
    least, most = min(values), max(values)
    number = f"{least}" if least == most else f"{least} to {most}"
    return f"{number} {noun}{'s' * (most != 1)}"


def bars(rows: pd.DataFrame, subject: str = "Bars") -> list[str]:
    """Return a sentence about the bars of `rows`, from the columns `interval` and `over`."""
    if rows.empty:
        return []
    names = {"95 %": "95 % t intervals", "range": "the ranges"}
    kinds = " or ".join(names[kind] for kind in sorted(set(rows["interval"])))
    return [f"{subject} are {kinds} over {' or '.join(sorted(set(rows['over'])))}."]


def seeds(means: pd.DataFrame, subject: str = "Markers") -> str:
    """Return the number of seeds behind the means."""
    many = means["seeds"].max() > 1
    return f"{subject} are means over {counted(means['seeds'], 'seed')}." if many else "One seed."


def weaknesses(compared: pd.DataFrame) -> list[str]:
    """Return reasons to doubt the comparison of these rows of the ratios with FULL."""
    busy = int(disturbed(compared).sum())
    stopped = compared[compared["full_best_epochs"] < compared["epochs"]]["full_record"].nunique()
    full = compared["full_record"].nunique()
    notes = {
        f"In {stopped} of {full} FULL runs the best trial was stopped early.": stopped > 0,
        f"The host was busy with other work during {counted([busy], 'run')}.": busy > 0,
        "Runs may have overlapped on the host.": not compared["exclusive"].all(),
    }
    return [note for note, holds in notes.items() if holds]


def add_note(
    figure: Figure, sentences: Sequence[str], study: Study, panels: Sequence[Panel]
) -> None:
    """Write `sentences` under a figure, with the number of settings that differ from the paper.

    `panels` are those with runs in the figure.
    """
    table = study.differences[study.differences["key"] != "data set"]
    inside = [panel in panels for panel in panel_of_each(table)]
    keys = set(table["key"][inside])
    number = counted([len(keys)], "setting")
    differing = f"The protocol differs from the paper's in {number} (differences.csv)."
    style.add_note(figure, [*sentences, *[differing] * bool(keys)])
