"""What a figure says of its own evidence: seeds, bars, energy, and what weakens the runs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from automata import names
from automata.analysis.energy import ways
from automata.analysis.quantities import Quantity
from automata.analysis.study import Panel, Study, panels
from automata.figures.content import Content
from automata.figures.pieces import add_note
from automata.records import CONTAMINATED_SHARE

_DIFFERENCES = 10
"""As many settings are named; the others are counted."""

_VALUE_LENGTH = 24


def note(contents: Sequence[Content], differing: pd.DataFrame, scatter: bool = True) -> str:
    """Return what a reader must know of the runs behind the panels of one figure.

    `differing` is the table of differences from the paper; `scatter` says whether the panels are
    those of `draw_panel`, with dots for single seeds and the best corner shaded.
    """
    parts = _left_out(contents)
    if any(len(one.compared) for one in contents):
        parts += _meanings(contents)
        parts += _seeds_and_bars(contents, scatter)
        parts += ["numbers: subset size in\N{NO-BREAK SPACE}%"]
        parts += ["shaded corner: best"] if scatter else []
        parts += _untuned(contents)
        parts += _weaknesses(pd.concat([one.compared for one in contents]))
    parts += differences(differing, [one.panel for one in contents if len(one.runs)])
    return "; ".join(parts)


def add_study_note(
    figure: Figure, sentences: Sequence[str], tables: Study, drawn: pd.DataFrame
) -> None:
    """Write `sentences` under the figure, and how the panels of `drawn` differ from the paper's."""
    add_note(figure, [*sentences, *differences(tables.differences, panels(drawn))])


def _left_out(contents: Sequence[Content]) -> list[str]:
    missing = sum(one.runs.empty for one in contents)
    total = sum(len(one.runs) for one in contents)
    accepted = sum(len(one.accepted) for one in contents)
    unmeasured = accepted - sum(len(one.compared) for one in contents)
    return [
        *([f"{missing} of {len(contents)} panels not run"] if missing else []),
        *([f"{total - accepted} of {total} runs not comparable"] if accepted < total else []),
        *([f"{unmeasured} of {total} runs without an energy ratio"] if unmeasured else []),
    ]


def _meanings(contents: Sequence[Content]) -> list[str]:
    """Return what each ratio of the figure is, and how the energies behind it were obtained."""
    compared: dict[Quantity, list[pd.DataFrame]] = {}
    for one in contents:
        if len(one.compared):
            compared.setdefault(one.ratio, []).append(one.compared)
    return [ratio.note(ways(pd.concat(runs))) for ratio, runs in compared.items()]


def _seeds_and_bars(contents: Sequence[Content], dots: bool) -> list[str]:
    means = pd.concat([one.means for one in contents])
    several = means[means["seeds"] > 1]
    parts = [counted(int(means["seeds"].min()), int(means["seeds"].max()), "seed")]
    if len(several):
        intervals = set(several["interval"])
        bars = "95 % bootstrap interval" if "95 %" in intervals else "range"
        bars += " (range of 2 seeds)" if len(intervals) > 1 else ""
        parts += [f"{'dots: seeds, ' * dots}bars: {bars}"]
    return parts


def _untuned(contents: Sequence[Content]) -> list[str]:
    shown = [one for one in contents if one.absence is None and len(one.untuned)]
    if not shown:
        return []
    draws = [int(one.untuned["draws"].iloc[0]) for one in shown]
    how_many = counted(min(draws), max(draws), "configuration")
    return [f"untuned: {how_many} drawn at random, median (line), best to worst (band)"]


def _weaknesses(compared: pd.DataFrame) -> list[str]:
    disturbed = int((compared["other_cpu_share"] > CONTAMINATED_SHARE).sum())
    stopped = compared[compared["full_best_epochs"] < compared["epochs"]]["full_record"].nunique()
    full = compared["full_record"].nunique()
    overlapped = not compared["exclusive"].all()
    return [
        *([f"FULL's best trial ended before T ({stopped} of {full})"] if stopped else []),
        *([f"host was busy with other work in {disturbed} runs"] if disturbed else []),
        *(["runs may have overlapped on the host"] if overlapped else []),
    ]


def differences(table: pd.DataFrame, panels: Sequence[Panel]) -> list[str]:
    """Return how the protocol of `panels` differs from the paper's, as "key here (paper)".

    What does not hold for all data sets of `panels` names those it holds for.
    """
    everywhere = {panel.dataset for panel in panels}
    found: dict[str, dict[str, set[str]]] = {}
    for panel in dict.fromkeys(panels):
        rows = panel.rows(table)
        for key, here, paper in zip(rows["key"], rows["here"], rows["paper"], strict=True):
            pair = f"{_short(here)} ({_short(paper)})"
            found.setdefault(str(key), {}).setdefault(pair, set()).add(panel.dataset)
    if not found:
        return []
    named = [
        f"{key} {' or '.join(pair + _where(pairs[pair], everywhere) for pair in pairs)}"
        for key, pairs in found.items()
    ]
    rest = len(named) - _DIFFERENCES
    more = [f"and {rest} more"] if rest > 0 else []
    return [f"not the paper's protocol: {', '.join([*named[:_DIFFERENCES], *more])}"]


def _where(datasets: set[str], everywhere: set[str]) -> str:
    missing = everywhere - datasets
    return f" on {', '.join(names.dataset(name) for name in sorted(datasets))}" if missing else ""


def _short(text: str) -> str:
    return text if len(text) <= _VALUE_LENGTH else f"{text[: _VALUE_LENGTH - 3]}..."


def counted(least: int, most: int, noun: str) -> str:
    """Return "1 seed", "3 seeds" or "3 to 5 seeds"."""
    number = f"{least}" if least == most else f"{least} to {most}"
    return f"{number} {noun}{'s' * (most != 1)}"
