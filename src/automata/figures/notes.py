"""What a figure says of its own evidence, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from automata import names
from automata.analysis.study import Panel, panel_of_each
from automata.figures.content import Content
from automata.metering.measurement import CONTAMINATED_SHARE

FEW = 3
"""As many differences from the paper's protocol are told; more are counted."""

DIFFERENCES = {
    "device": "device {here} instead of {paper}",
    "energy": "energy {here} instead of {paper}",
    "epochs": "{here} epochs instead of {paper}",
    "fractions": "subset fractions {here} instead of {paper}",
    "decay_every": "step size decays every {here} epochs instead of {paper}",
    "reselect_every": "subsets are re-selected every {here} epochs instead of {paper}",
    "seeds": "number of seeds {here} instead of {paper}",
    "training rows": "{here} training rows instead of {paper}",
}
"""Settings of the table of differences that are told in words."""


def counted(numbers: Iterable[int], noun: str) -> str:
    """Return "1 seed", "3 seeds" or "3 to 5 seeds"."""
    values = list(numbers)
    least, most = min(values), max(values)
    number = f"{least}" if least == most else f"{least} to {most}"
    return f"{number} {noun}{'s' * (most != 1)}"


def bars(intervals: Iterable[str], units: str, subject: str = "Bars") -> list[str]:
    """Say what bars span: `intervals` has "95 %" or "range" of each, `units` over what."""
    of = {"95 %": "95 % bootstrap intervals", "range": "the ranges"}
    kinds = [of[kind] for kind in sorted(set(intervals))]
    return [f"{subject} are {' or '.join(kinds)} over {units}."] if kinds else []


def seeds(means: pd.DataFrame) -> str:
    """Say over how many seeds the means are."""
    many = means["seeds"].max() > 1
    return f"Markers are means over {counted(means['seeds'], 'seed')}." if many else "One seed."


def left_out(contents: Sequence[Content]) -> list[str]:
    """Say how many panels, and runs of them, are not drawn."""
    missing = sum(one.runs.empty for one in contents)
    total = sum(len(one.runs) for one in contents)
    refused = total - sum(len(one.accepted) for one in contents)
    unmeasured = total - refused - sum(len(one.compared) for one in contents)
    said = {
        "panels were not run": (missing, len(contents)),
        "runs do not compare with FULL": (refused, total),
        "runs have no energy ratio": (unmeasured, total),
    }
    return [f"{count} of {all_of} {what}." for what, (count, all_of) in said.items() if count]


def weaknesses(compared: pd.DataFrame) -> list[str]:
    """Say what weakens the comparison of these rows of the ratios."""
    disturbed = int((compared["other_cpu_share"] > CONTAMINATED_SHARE).sum())
    stopped = compared[compared["full_best_epochs"] < compared["epochs"]]["full_record"].nunique()
    full = compared["full_record"].nunique()
    overlapped = not compared["exclusive"].all()
    busy = f"The host was busy with other work during {counted([disturbed], 'run')}."
    return [
        *([f"In {stopped} of {full} FULL runs the best trial was stopped early."] * bool(stopped)),
        *([busy] * bool(disturbed)),
        *(["Runs may have overlapped on the host."] * overlapped),
    ]


def protocol(differences: pd.DataFrame, panels: Sequence[Panel]) -> list[str]:
    """Say how the protocol of `panels` differs from the paper's; `differences` is the table.

    What holds for some of the data sets names them. Many differences are counted.
    """
    drawn = [panel in panels for panel in panel_of_each(differences)]
    rows = differences[pd.Series(drawn, index=differences.index, dtype=bool)]
    new = _named(rows[rows["key"] == "data set"])
    settings = rows[rows["key"] != "data set"]
    count = settings["key"].nunique()
    sentences = [f"The paper does not use {new}."] if new else []
    if 0 < count <= FEW and set(settings["key"]) <= set(DIFFERENCES):
        phrases = [
            DIFFERENCES[str(key)].format(here=here, paper=paper) + _where(group, panels)
            for (key, here, paper), group in settings.groupby(["key", "here", "paper"])
        ]
        return [*sentences, f"Unlike the paper: {'; '.join(phrases)}."]
    number = counted([count], "setting")
    many = f"The protocol differs from the paper's in {number} (differences.csv)."
    return [*sentences, *([many] if count else [])]


def _named(rows: pd.DataFrame) -> str:
    shown = names.ordered(rows["dataset"], names.DATASETS)
    return ", ".join(names.dataset(label) for label in shown)


def _where(rows: pd.DataFrame, panels: Sequence[Panel]) -> str:
    everywhere = {panel.dataset for panel in panels} == set(rows["dataset"])
    return "" if everywhere else f" on {_named(rows)}"
