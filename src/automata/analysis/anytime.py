"""How good the best configuration so far is, as a search goes on."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.analysis.ratios import NOT_COMPARABLE
from automata.analysis.study import COMBINATION
from automata.analysis.tables import joined

CLOCKS = ("elapsed_seconds", "elapsed_joules")
"""Columns of the trials that a search is followed along, from the start of its first trial."""

COLUMNS = [*COMBINATION, "at", "median", "low", "high", "seeds", "records"]


def anytime(trials: pd.DataFrame, clock: str = CLOCKS[0]) -> pd.DataFrame:
    """Return a row per combination and time: the best validation accuracy so far, over seeds.

    `at` is in the unit of `clock`, one of CLOCKS, at every time where a seed improved or ended,
    from when all seeds have their first score. `median`, `low` (smallest) and `high` (largest)
    hold until the next row: these are steps. A seed whose search is over keeps its best. Counted
    are evaluations at rungs, which the search saw, those of trials that it stopped later included:
    in a subset selector's search they are of models trained on subsets, so that the curves of two
    selectors compare in time rather than in height. A combination with a run without `clock` is
    left out.
    """
    at_rungs = trials[trials["rung"].astype(bool)]
    rows: list[dict[str, object]] = []
    for combination, group in at_rungs.groupby(COMBINATION, sort=True):
        if group[clock].isna().any():
            continue
        place = dict(zip(COMBINATION, combination, strict=True))
        curves = [steps(run[clock], run["accuracy"]) for _, run in group.groupby("seed")]
        records = joined(group["record"].unique())
        rows += [
            {**place, **row, "seeds": len(curves), "records": records} for row in _over(curves)
        ]
    return pd.DataFrame(rows, columns=COLUMNS)


def comparable(trials: pd.DataFrame, ratios: pd.DataFrame, clock: str) -> pd.DataFrame:
    """Return the trials of runs whose clocks agree with FULL's, by the table of ratios.

    Seconds of another host or protocol are left out, and joules that were obtained otherwise.
    Where FULL was not run all are kept.
    """
    apart = ratios["refused"].fillna("").str.startswith(NOT_COMPARABLE)
    if clock == "elapsed_joules":
        known = ratios["energy_method"].notna() & ratios["full_record"].notna()
        apart |= known & ratios["energy_ratio"].isna()
    return trials[~trials["record"].isin(set(ratios.loc[apart, "record"]))]


def steps(
    times: pd.Series[float], scores: pd.Series[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when the best score so far rose, and to what, and last the end of the search.

    Scores may come in any order.
    """
    order = np.argsort(times.to_numpy(np.float64), kind="stable")
    at = times.to_numpy(np.float64)[order]
    best = np.maximum.accumulate(scores.to_numpy(np.float64)[order])
    rose = np.concatenate([[True], np.diff(best) > 0])
    rose[-1] = True
    return at[rose], best[rose]


def _over(
    curves: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> list[dict[str, float]]:
    """Return median and range of step curves, at all their times from when all have begun."""
    begun = max(at[0] for at, _ in curves)
    union = np.unique(np.concatenate([at for at, _ in curves]))
    times = union[union >= begun]
    values = np.stack([best[np.searchsorted(at, times, "right") - 1] for at, best in curves])
    summary = zip(times, np.median(values, 0), values.min(0), values.max(0), strict=True)
    return [
        {"at": float(at), "median": float(median), "low": float(low), "high": float(high)}
        for at, median, low, high in summary
    ]
