"""The result of the second study, docs/study-2.md.

python -m studies.hedge.verdict [names of data sets that are left out]

It prints the tests and what is only reported, and writes all scores and the figure.
The registered script, of commit 1a2fe877, also computes the scores of way F from the data sets.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from automata.analysis.tables import markdown
from automata.figures.style import FAINT, FAINTER, add_note, axes_of, hide_lines, save, style
from automata.records.archive import unpack
from automata.records.record import Record, read_record

Row = dict[str, Any]

PUBLISHED = Path("results/reference/study-2")
FIGURE = Path("docs/figures/study-2.png")
TABLES = (
    *("vietnam-urban", "twoyear-female", "run-sex", "loans-verified", "loans-term"),
    *("yrbss-gender", "packages-roxygen", "crash-deploy", "flights-origin", "gss-gender"),
    *("labsup-worked", "movies-drama", "mpls-problem", "tv16-vote", "wives-insurance"),
)
SETS = (*TABLES, "packages", "images")
KEY = ["set", "way", "seed"]
TESTS = (("D", "A", -0.3, "greater"), ("D", "A", 0.0, "greater"), ("A", "B", 0.5, "less"))
"""The first way less the second is `greater` or `less` than so many points; in this order."""
REPORTED = (
    *(("D", "A"), ("A", "B"), ("B", "A"), ("E", "A")),
    *(("D", "E"), ("F", "A"), ("C", "A"), ("D", "C")),
)
SEEDS = 3
LEVEL = 0.05
POINTS = ("accuracy", "balanced accuracy")
LETTERS = {
    ("full", "hyperband", 27): "A",
    ("full", "hyperband", 81): "C",
    ("full", "asha", 27): "E",
}
LETTERS |= {("rs2", "hyperband", 27): "B", ("rs2", "hyperband", 81): "D"}


def main(*left_out: str) -> None:
    """Print the tests, and what is only reported, as Markdown; write `runs.csv` and the figure."""
    sets = [name for name in SETS if name not in left_out]
    runs = pd.DataFrame(published())
    finished = pd.MultiIndex.from_frame(runs[KEY])
    wanted = [(name, way, seed) for name in sets for way in "ABDE" for seed in range(SEEDS)]
    if missing := [run for run in wanted if run not in finished]:
        sys.exit(f"{len(missing)} of {len(wanted)} runs are missing: nobody looks before")
    runs = pd.concat([runs, pd.read_csv(PUBLISHED / "boosting.csv")])
    runs = runs[runs["set"].isin(sets)].set_index(KEY).sort_index()
    runs.to_csv(PUBLISHED / "runs.csv")
    passed = True
    for first, second, bound, side in TESTS:
        x = differences(runs, first, second, "accuracy")
        line = test(x, bound, side)
        tested, passed = passed, passed and line["p"] < LEVEL
        result = ("passes" if passed else "does not pass") if tested else "is not tested"
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in line.items())
        sign = ">" if side == "greater" else "<"
        print(f"**{first} - {second} {sign} {bound}** {result}: {numbers}\n")
    rows = [report(runs, *pair) for pair in REPORTED]
    print(*map(markdown, (pd.DataFrame(rows), pd.DataFrame(costs(runs)), walls())), sep="\n")
    save(figure_of(runs), FIGURE)


def published() -> Iterator[Row]:
    """Yield a row for each published record."""
    with TemporaryDirectory() as folder:
        unpack(sorted(PUBLISHED.glob("*.tar.xz")), Path(folder), as_named=True)
        for path in Path(folder).rglob("record.json"):
            yield row_of(read_record(path))


def row_of(record: Record) -> Row:
    """Return the way, the scores on test rows and the cost of a run."""
    run, protocol = record.job.run, record.job.settings.protocol
    way = LETTERS[run.selector, str(run.scheduler), protocol.configurations]
    key: Row = {"set": run.dataset, "way": way, "seed": run.seed}
    phases = [it.measurement for it in record.tuning.segments]
    phases += [it.measurement for it in record.final.segments] if record.final else []
    scores = [record.test.accuracy, record.test.balanced_accuracy]
    key |= {name: 100 * float(it or np.nan) for name, it in zip(POINTS, scores, strict=True)}
    cpu = sum(it.cpu_seconds or np.nan for it in phases)
    return key | {"log loss": record.test.loss, "cpu seconds": cpu}


def differences(runs: pd.DataFrame, first: str, second: str, score: str) -> pd.Series:
    """Return for each data set the mean over common seeds of one way's score less another's."""
    one, other = (runs.xs(way, level="way")[score] for way in (first, second))
    return (one - other).dropna().groupby("set").mean()


def test(x: pd.Series, bound: float, side: str) -> dict[str, float]:
    """Return the t test of the mean of `x`, its one-sided bound, and a sign test."""
    low, high = (stats.t.ppf(q, len(x) - 1) * stats.sem(x) + x.mean() for q in (0.05, 0.95))
    beyond = (x > bound) if side == "greater" else (x < bound)
    p = (
        float(not beyond.all())
        if np.ptp(x) == 0
        else stats.ttest_1samp(x, bound, alternative=side)[1]
    )
    sign = stats.binomtest(int(beyond.sum()), len(x), alternative="greater").pvalue
    end = low if side == "greater" else high
    found = {
        "sets": len(x),
        "mean": x.mean(),
        "bound": end,
        "p": p,
        "beyond": beyond.sum(),
        "sign p": sign,
    }
    return {name: float(value) for name, value in found.items()}


def report(runs: pd.DataFrame, first: str, second: str) -> Row:
    """Return what is reported of two ways: means, the worst data set, the share of large losses."""
    x = differences(runs, first, second, "accuracy")
    row: Row = {"ways": f"{first} - {second}", "sets": len(x), "accuracy": x.mean()}
    half = stats.t.ppf(0.975, len(x) - 1) * stats.sem(x)
    row |= {"95 %": f"{x.mean() - half:.2f} to {x.mean() + half:.2f}"}
    row |= {"worst set": f"{x.min():.2f} ({x.idxmin()})", "lose over 1 point": (x < -1).mean()}
    for score in ("balanced accuracy", "log loss"):
        row[score] = differences(runs, first, second, score).mean()
    return row | {"accuracy, tables": x[[it for it in x.index if it in TABLES]].mean()}


def costs(runs: pd.DataFrame) -> Iterator[Row]:
    """Yield how many times the CPU seconds of a way A takes: the geometric mean over data sets."""
    seconds = runs["cpu seconds"].groupby(["way", "set"]).sum()
    for way in "ABDE":
        ratios = seconds["A"] / seconds[way]
        yield {"way": way, "A's CPU seconds are": f"{stats.gmean(ratios):.2f} times as many"}


def walls() -> pd.DataFrame:
    """Return wall seconds by slots and data set, their geometric means, and A's over each way's."""
    seconds = pd.read_csv(PUBLISHED / "wall.csv").pivot_table("seconds", ["slots", "set"], "way")
    means = seconds.groupby("slots").agg(stats.gmean).assign(set="geometric mean")
    table: pd.DataFrame = pd.concat([seconds.reset_index(), means.reset_index()])
    for way in "BDE":
        table[f"A / {way}"] = table["A"] / table[way]
    return table


def figure_of(runs: pd.DataFrame) -> Figure:
    """Return a panel for each pair of ways that is tested, with a point for each data set."""
    pairs = {(first, second): bound for first, second, bound, _ in reversed(TESTS)}
    order = differences(runs, "D", "A", "accuracy").sort_values().index
    with style():
        figure, grid = axes_of(1, len(pairs), 3.0, sharey=True)
        for axes, ((first, second), bound) in zip(grid[0], reversed(pairs.items()), strict=True):
            x = differences(runs, first, second, "accuracy")[order]
            half = stats.t.ppf(1 - LEVEL / 2, len(x) - 1) * stats.sem(x)
            axes.axvspan(x.mean() - half, x.mean() + half, color="0.9")
            axes.axvline(0, color=FAINTER, linewidth=0.6)
            axes.axvline(bound, color=FAINT, linewidth=0.6, linestyle="--")
            axes.plot(x, order, marker="o", linestyle="none", markersize=3.5)
            axes.set_xlabel(f"{first} \N{MINUS SIGN} {second} (points of test accuracy)")
            hide_lines(axes)
        notes = (
            "Each point is a data set, the mean over three seeds.",
            "The band is the 95 % interval of the mean over data sets; dashes mark the limit.",
        )
        add_note(figure, notes)
        return figure


if __name__ == "__main__":
    main(*sys.argv[1:])
