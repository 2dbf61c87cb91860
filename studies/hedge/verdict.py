"""Print the result of the second study, docs/study-2.md, once all its runs are finished.

python -m studies.hedge.verdict results/runs [names of data sets that are left out]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss

from automata.analysis.tables import markdown
from automata.config.data import Preparation
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.records.record import Record, read_record
from studies.hedge.data import FOLDER, SETS, TABLES

Row = dict[str, Any]

TESTS = (("D", "A", -0.3, "greater"), ("D", "A", 0.0, "greater"), ("A", "B", 0.5, "less"))
"""The first way less the second is `greater` or `less` than so many points; in this order."""
REPORTED = (("D", "A"), ("A", "B"), ("E", "A"), ("D", "E"), ("F", "A"), ("C", "A"), ("D", "C"))
SEEDS = 3
POINTS = ("accuracy", "balanced accuracy")
LETTERS = {
    ("full", "hyperband", 27): "A",
    ("full", "hyperband", 81): "C",
    ("full", "asha", 27): "E",
}
LETTERS |= {("rs2", "hyperband", 27): "B", ("rs2", "hyperband", 81): "D"}


def main(runs: Path, *left_out: str) -> None:
    """Print the tests, and what is only reported, as Markdown."""
    found = pd.DataFrame([row_of(read_record(path)) for path in runs.rglob("record.json")])
    sets = [name for name in SETS if name not in left_out]
    found = found[found["set"].isin(sets)]
    wanted = [(name, way, seed) for name in sets for way in "ABDE" for seed in range(SEEDS)]
    finished = pd.MultiIndex.from_frame(found[["set", "way", "seed"]])
    if missing := [it for it in wanted if it not in finished]:
        sys.exit(f"{len(missing)} of {len(wanted)} runs are missing: nobody looks before")
    found = pd.concat([found, pd.DataFrame(boosting(sets))]).set_index(["set", "way", "seed"])
    passed = True
    for first, second, bound, side in TESTS:
        x = differences(found, first, second, "accuracy")
        line = test(x, bound, side)
        passed &= line["p"] < 0.05
        result = "passes" if passed else "does not pass" if line["p"] >= 0.05 else "is not tested"
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in line.items())
        sign = ">" if side == "greater" else "<"
        print(f"**{first} - {second} {sign} {bound}** {result}: {numbers}\n")
    ways = {*found.index.get_level_values("way")}
    rows = [report(found, *pair) for pair in REPORTED if ways.issuperset(pair)]
    print(markdown(pd.DataFrame(rows)), markdown(pd.DataFrame(costs(found))), sep="\n")


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


def boosting(sets: list[str]) -> Iterator[Row]:
    """Yield the scores of gradient boosting with defaults, trained on the training rows."""
    for name in (it for it in sets if it in TABLES):
        path = FOLDER / f"{name}.csv"
        own = guess(path, TABLES[name]["target"], None).own
        data = prepare(name, Preparation.model_validate({"own": own}), FOLDER)
        inputs, labels = data.test.inputs.numpy(), data.test.labels.numpy()
        for seed in range(SEEDS):
            model = HistGradientBoostingClassifier(random_state=seed)
            chances = model.fit(data.train.inputs, data.train.labels).predict_proba(inputs)
            answers = chances.argmax(axis=1)
            scores = [np.mean(answers == labels), balanced_accuracy_score(labels, answers)]
            row: Row = {name: 100 * float(it) for name, it in zip(POINTS, scores, strict=True)}
            yield row | {
                "set": name,
                "way": "F",
                "seed": seed,
                "log loss": log_loss(labels, chances),
            }


def differences(found: pd.DataFrame, first: str, second: str, score: str) -> pd.Series:
    """Return for each data set the mean over common seeds of one way's score less another's."""
    one, other = (found.xs(way, level="way")[score] for way in (first, second))
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


def report(found: pd.DataFrame, first: str, second: str) -> Row:
    """Return what is reported of two ways: means, the worst data set, the share of large losses."""
    x = differences(found, first, second, "accuracy")
    row: Row = {"ways": f"{first} - {second}", "sets": len(x), "accuracy": x.mean()}
    half = stats.t.ppf(0.975, len(x) - 1) * stats.sem(x)
    row |= {"95 %": f"{x.mean() - half:.2f} to {x.mean() + half:.2f}"}
    row |= {"worst set": f"{x.min():.2f} ({x.idxmin()})", "lose over 1 point": (x < -1).mean()}
    for score in ("balanced accuracy", "log loss"):
        row[score] = differences(found, first, second, score).mean()
    return row | {"accuracy, tables": x[[it for it in x.index if it in TABLES]].mean()}


def costs(found: pd.DataFrame) -> Iterator[Row]:
    """Yield how many times the CPU seconds of a way A takes: the geometric mean over data sets."""
    seconds = found["cpu seconds"].groupby(["way", "set"]).sum()
    for way in "ABDE":
        ratios = seconds["A"] / seconds[way]
        yield {"way": way, "A's CPU seconds are": f"{stats.gmean(ratios):.2f} times as many"}


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
