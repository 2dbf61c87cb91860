"""What searches chose: whether subsets lead to other hyper-parameters than all data do."""

from __future__ import annotations

from numbers import Real
from typing import Any

import pandas as pd

from automata.analysis.best import PREFIX
from automata.analysis.tables import joined

MOST_COUNTED = 8
"""A hyper-parameter with more different values than these is summed up by its quartiles."""

AXES = ["dataset", "scheduler", "hyper-parameter", "fraction"]

COLUMNS = [
    *AXES,
    "searches",
    "median",
    "lower_quartile",
    "upper_quartile",
    "counts",
    "records",
]


def choices(best: pd.DataFrame) -> pd.DataFrame:
    """Return a row per data set, scheduler, hyper-parameter and subset size.

    `best` is the table of `automata.analysis.best`. All selectors, both searches and all seeds
    count alike; at fraction 1 stand FULL and its repeat. `untuned` chose nothing and is left out.
    Numbers of which the searches of a data set chose more than MOST_COUNTED have a `median` and
    quartiles; of all else, `counts` says how many of the `searches` chose each value, the
    commonest first. A search whose space lacks the hyper-parameter is not among them.
    """
    names = [column for column in best.columns if column.startswith(PREFIX)]
    searches = best[best["selector"] != "untuned"]
    kept = ["dataset", "scheduler", "fraction", "record"]
    long = searches.melt(kept, names, "hyper-parameter").dropna(subset=["value"])
    long["hyper-parameter"] = long["hyper-parameter"].str.removeprefix(PREFIX)
    long["many"] = long.groupby(["dataset", "hyper-parameter"])["value"].transform(_many_numbers)
    rows: list[dict[str, Any]] = []
    for key, group in long.groupby(AXES, sort=True):
        values = group["value"]
        facts = {"searches": len(group), "records": joined(group["record"])}
        summed = _quartiles(values) if group["many"].all() else {"counts": _counts(values)}
        rows.append({**dict(zip(AXES, key, strict=True)), **facts, **summed})
    return pd.DataFrame(rows, columns=COLUMNS)


def _many_numbers(values: pd.Series[Any]) -> bool:
    numbers = all(isinstance(value, Real) for value in values)
    return numbers and values.nunique() > MOST_COUNTED


def _quartiles(values: pd.Series[Any]) -> dict[str, float]:
    low, median, high = values.astype(float).quantile([0.25, 0.5, 0.75])
    return {"median": median, "lower_quartile": low, "upper_quartile": high}


def _counts(values: pd.Series[Any]) -> str:
    """Return how often each value stands there: `adam 44, sgd 16`."""
    counts = [(_text(value), count) for value, count in values.value_counts().items()]
    ranked = sorted(counts, key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{value} {count}" for value, count in ranked)


def _text(value: Any) -> str:
    """Return a value as people write it; an integer beside missing ones has become a float."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return f"{float(value):.12g}" if is_number else str(value)
