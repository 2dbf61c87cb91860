"""The best model of own data: its confusions, scores by class, and the course of its search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from automata.analysis.best import choices
from automata.analysis.study import Study
from automata.analysis.wording import known
from automata.figures import style
from automata.figures.style import COLUMN_INCHES, FAINT, FAINTER, Look
from automata.metrics import METRICS

MOST_CLASSES = 30
"""Maximum number of classes in a matrix."""
FEW = 10
"""Of more classes, only so many confusions or classes are drawn, the worst ones."""
NUMBERED = 10
"""Maximum number of classes in a matrix with numbers in its cells."""
LONGEST = 18
"""Maximum number of characters of a class name; longer names are cut."""
LINE_INCHES, CELL_INCHES = 0.16, 0.3
COURSE_INCHES = 3.0
STRONG, LIGHT = "#0072B2", "#E69F00"
SCORES: dict[str, Look] = {
    "precision": {"color": LIGHT, "marker": "D", "markersize": 6, "markerfacecolor": "none"},
    "recall": {"color": STRONG, "marker": "o", "markersize": 3.5},
}
"""Look of the scores of a class; where they are equal, both are visible."""


def confusion_figure(study: Study, dataset: str) -> Figure:
    """Return the shares of answers that the best model gives to the test rows of each class.

    If there are more than MOST_CLASSES classes, the figure has the most frequent confusions.
    """
    rows = _answers(study, dataset)
    classes = _classes(rows)
    if not classes:
        return _nothing()
    if len(classes) > MOST_CLASSES:
        return _largest(rows)
    matrix = rows.pivot_table("rows", "class", "answer", "sum", fill_value=0.0)
    matrix = matrix.reindex(index=classes, columns=classes, fill_value=0.0)
    shares = matrix.div(rows.groupby("class")["rows"].sum().reindex(classes), axis=0)
    width = max(COLUMN_INCHES, 1.2 + LINE_INCHES * len(classes))
    height = min(width, 1.5 + CELL_INCHES * len(classes))
    figure, ((axes,),) = style.axes_of(1, 1, height, width)
    numbers = shares.map(lambda share: f"{100 * share:.0f}" if share >= 0.005 else "")
    sns.heatmap(
        shares,
        ax=axes,
        vmin=0,
        vmax=1,
        cmap="Blues",
        square=True,
        cbar=False,
        linewidths=0.3,
        annot=numbers if len(classes) <= NUMBERED else False,
        fmt="",
    )
    names = [_short(name) for name in classes]
    axes.set_xticks(axes.get_xticks(), names, rotation=90)
    axes.set_yticks(axes.get_yticks(), names, rotation=0)
    axes.tick_params(length=0)
    axes.set(xlabel="Answer", ylabel="Class")
    style.add_note(figure, ["Percent of the test rows of a class; the diagonal is correct."])
    return figure


def _largest(rows: pd.DataFrame) -> Figure:
    """Return the most frequent wrong answers, and how many rows of a class got them."""
    wrong = rows.assign(of=rows.groupby("class")["rows"].transform("sum"))
    wrong = wrong[wrong["class"] != wrong["answer"]].nlargest(FEW, "rows")
    if wrong.empty:
        return _nothing("no wrong answer")
    figure, axes = _lines(len(wrong), "Test rows")
    for place, (part, whole) in enumerate(wrong[["rows", "of"]].to_numpy()):
        axes.text(part, place, f" {part} of {whole}", va="center", size=style.SMALL)
    pairs = zip(wrong["class"], wrong["answer"], strict=True)
    labels = [f"{_short(one)} answered as {_short(other)}" for one, other in pairs]
    axes.barh(labels, wrong["rows"], color=STRONG)
    axes.set_xlim(0, 1.2 * wrong["rows"].max())
    return figure


def classes_figure(study: Study, dataset: str) -> Figure:
    """Return precision and recall of each class, or of those with the lowest recall."""
    rows = _answers(study, dataset)
    if rows.empty:
        return _nothing()
    right = rows[rows["class"] == rows["answer"]].set_index("class")["rows"]
    counts, answered = (rows.groupby(by)["rows"].sum() for by in ("class", "answer"))
    scores = pd.DataFrame({"rows": counts}).reindex(_classes(rows), fill_value=0)
    scores["recall"] = right.reindex(scores.index, fill_value=0) / scores["rows"]
    scores["precision"] = right.reindex(scores.index, fill_value=0) / answered.reindex(scores.index)
    classes = len(scores)
    if classes > MOST_CLASSES:
        scores = scores.nsmallest(FEW, "recall")
    figure, axes = _lines(len(scores), "Share")
    labels = [f"{_short(str(name))} ({rows:,.0f})" for name, rows in scores["rows"].items()]
    axes.hlines(labels, scores["recall"], scores["precision"], color=FAINTER, linewidth=0.8)
    for name, look in SCORES.items():
        axes.plot(scores[name], labels, linestyle="", label=name, clip_on=False, zorder=4, **look)
    lowest = float(np.nanmin(scores[["recall", "precision"]]))
    axes.set_xlim(max(0, math.floor(10 * lowest - 1) / 10), 1)
    style.add_legend(figure, axes.get_legend_handles_labels()[0])
    notes = ["Recall: share of the rows of a class that get this answer."]
    notes.append("Precision: share of these answers that are right. In brackets: test rows.")
    if classes > MOST_CLASSES:
        notes.insert(0, f"The {FEW} classes with the lowest recall, of {classes}.")
    style.add_note(figure, notes)
    return figure


def course_figure(study: Study, dataset: str) -> Figure:
    """Return scores over time in the search of the best run, and the training of its model."""
    run = best_run(study, dataset)
    if run is None:
        return _nothing()
    metric = METRICS[run["metric"]]
    figure, ((above,), (below,)) = style.axes_of(2, 1, COURSE_INCHES, COLUMN_INCHES)
    trials = study.trials[study.trials["record"] == run["record"]]
    scores = trials["score"].map(metric.from_score)
    best = trials["score"].cummax().map(metric.from_score)
    above.plot(trials["elapsed_seconds"], scores, ".", color=FAINTER, markersize=3)
    above.step(trials["elapsed_seconds"], best, where="post", color=STRONG)
    above.set(xlabel="Seconds of the search", ylabel=f"Validation\n{metric.words}")
    if trials.empty:
        style.write_instead(above, "no search")
    training = study.training[study.training["record"] == run["record"]]
    below.plot(training["epoch"], training["loss"], color=STRONG)
    below.set(xlabel="Epoch of the chosen training", ylabel="Training loss")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    notes = ["Above: a dot is a validation score of a configuration, the line the best so far."]
    if known(run.get("kept_epoch")):
        below.axvline(run["kept_epoch"], color=FAINT, linestyle=":")
        notes.append("Dotted: the epoch whose weights are the model.")
    style.add_note(figure, notes)
    return figure


def best_run(study: Study, dataset: str) -> dict[Any, Any] | None:
    """Return the run with the best model of a data set; None if no search has one."""
    ranked = choices(study.runs[study.runs["dataset"] == dataset])
    return ranked[0].run if ranked else None


def _answers(study: Study, dataset: str) -> pd.DataFrame:
    """Return the best model's answers, a row per class and answer; old records have none."""
    run, answers = best_run(study, dataset), study.answers
    return answers[answers["record"] == (run["record"] if run else "")]


def _classes(rows: pd.DataFrame) -> list[str]:
    """Return the classes of the test rows, then any other answers."""
    return list(dict.fromkeys([*rows["class"], *rows["answer"]]))


def _lines(lines: int, unit: str) -> tuple[Figure, Axes]:
    """Return a figure and axes with room for `lines` names on the y axis, the first at the top."""
    figure, ((axes,),) = style.axes_of(1, 1, 0.8 + LINE_INCHES * lines, COLUMN_INCHES)
    axes.set(ylim=(lines - 0.5, -0.5), xlabel=unit)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=unit != "Share"))
    if unit == "Share":
        axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    style.hide_lines(axes)
    return figure, axes


def _nothing(text: str = "not recorded") -> Figure:
    """Return a figure that says in `text` why it shows nothing."""
    figure, ((axes,),) = style.axes_of(1, 1, 1, COLUMN_INCHES)
    style.write_instead(axes, text)
    return figure


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
