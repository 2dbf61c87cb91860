"""What the runs of an experiment say in short: tables for people, pooled over the searches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.experiment import Tables
from automata.analysis.presentation import cell
from automata.analysis.rank_agreement import warm_start_epochs
from automata.analysis.resampling import differences
from automata.analysis.runs import PANEL
from automata.analysis.tables import markdown
from automata.analysis.time_split import PARTS, time_split
from automata.analysis.tradeoff import bounds_of_each

POOLED = ["dataset", "scheduler"]
"""What a row is of: both searches count, as they differ less than schedulers do."""

OPENING = """# Overview

Rows are pooled over the searches. A seed counts with the mean of its runs; behind the mean over
seeds stands its 95 % bootstrap interval, or the range of fewer than three. Errors are percentage
points of test error above FULL's of the same seed: + is worse. The tables beside this one
(`tradeoff.csv`, `resampling.csv`, `rank-agreement.csv`, `time-split.csv`, `untuned.csv`) have the
searches one by one, and the records behind each number.
"""


def overview(tables: Tables) -> str:
    """Return the page, in Markdown; a section without a row is left out."""
    sections = [
        f"## {title}\n\n{text}\n\n{markdown(table)}"
        for title, text, make in SECTIONS
        if len(table := make(tables))
    ]
    return "\n".join([OPENING, *sections])


def ran(tables: Tables) -> pd.DataFrame:
    """Return a row per data set: its runs, their hours and energy, and how many were disturbed."""
    runs = tables.runs
    table = runs.assign(
        hours=runs["total_seconds"] / 3600,
        whole=(runs["total_seconds"] + runs["setup_seconds"]) / 3600,
        watt_hours=runs["energy_joules"] / 3600,
        disturbed=runs["flags"].str.contains("contaminated"),
    )
    groups = table.groupby("dataset", sort=True)
    columns = {
        "runs": groups.size(),
        "measured hours": groups["hours"].sum(),
        "hours with set-up": groups["whole"].sum(),
        "energy (Wh)": groups["watt_hours"].sum(min_count=1),
        "contaminated runs": groups["disturbed"].sum(),
    }
    return pd.DataFrame(columns).reset_index()


def speedups(tables: Tables) -> pd.DataFrame:
    """Return a row per selector and subset size: speedup over FULL, its ceiling, and error."""
    ratios = tables.ratios
    compared = ratios[ratios["refused"].isna() & (ratios["selector"] != "full")]
    quantities = {"speedup": "speedup", "ceiling": "ceiling", "relative_test_error": "error (pp)"}
    return _means(compared, [*POOLED, "selector", "fraction"], quantities)


def contrasts(tables: Tables) -> pd.DataFrame:
    """Return a row per pair of selectors, with one subset size and with all of them."""
    pairs = differences(tables.ratios)
    each = pairs.assign(fraction=[f"{fraction:g}" for fraction in pairs["fraction"]])
    both = pd.concat([each, pairs.assign(fraction="all")])
    axes = [*POOLED, "selector", "baseline", "fraction"]
    errors = _means(both, axes, {"error": "error difference (pp)"})
    speedups = _means(both, axes, {"log_speedup": "speedup ratio"}, np.exp)
    return errors.merge(speedups).rename(columns={"runs": "pairs"})


def ranks(tables: Tables) -> pd.DataFrame:
    """Return a row per rung, selector and subset size: Kendall's tau with FULL's scores."""
    known = tables.agreements[tables.agreements["tau"].notna()]
    return _means(known, [*POOLED, "epoch", "selector", "fraction"], {"tau": "tau"})


def untuned(tables: Tables) -> pd.DataFrame:
    """Return a row per panel: the error of configurations drawn at random."""
    errors = [f"relative_test_error{of}" for of in ("", "_low", "_high")]
    shown = tables.untuned[[*PANEL, "draws", *errors]]
    return shown.set_axis([*PANEL, "draws", "mean error (pp)", "best", "worst"], axis=1)


def early(tables: Tables) -> pd.DataFrame:
    """Return how many of AUTOMATA's trials ended before it had selected anything."""
    at_rungs = tables.trials[tables.trials["selector"] == "gradmatch"]
    trials = at_rungs.groupby(["record", "index"], as_index=False)["epoch"].max()
    columns = ["record", "selector", "fraction", "epochs", "protocol_hash", *POOLED]
    trials = trials.merge(tables.runs[columns], on="record")
    first = {
        run["record"]: first_selection(run, tables.protocols)
        for run in trials.drop_duplicates("record").to_dict("records")
    }
    trials["before"] = [
        epoch <= first[record]
        for epoch, record in zip(trials["epoch"], trials["record"], strict=True)
    ]
    rows = [
        [*key, group["record"].nunique(), len(group), 100 * group["before"].mean()]
        for key, group in trials.groupby([*POOLED, "fraction"], sort=True)
    ]
    columns = [*POOLED, "fraction", "runs", "trials", "ended before a selection (%)"]
    return pd.DataFrame(rows, columns=columns)


def first_selection(run: Mapping[Any, Any], protocols: dict[str, Any]) -> int:
    """Return after how many epochs the trials of `run` select for the first time.

    That is the first multiple of R after the warm start (`automata.training.subsets`).
    """
    every = int(protocols[run["protocol_hash"]]["protocol"]["reselect_every"])
    return every * math.ceil(max(warm_start_epochs(run, protocols), 1) / every)


def times(tables: Tables) -> pd.DataFrame:
    """Return a row per selector and subset size: mean seconds and the shares of its parts."""
    split = time_split(tables.runs, tables.ratios)
    seconds = [f"{part}_seconds" for part in PARTS]
    axes = [*POOLED, "selector", "fraction"]
    means = split.groupby(axes, sort=True)[[*seconds, "total_seconds"]].mean().reset_index()
    table = means[axes].assign(seconds=means["total_seconds"])
    for part, column in zip(PARTS, seconds, strict=True):
        table[f"{part} (%)"] = 100 * means[column] / means["total_seconds"]
    return table


def epochs(tables: Tables) -> pd.DataFrame:
    """Return a row per panel: the fewest and the most epochs that a search of it trained."""
    searches = tables.runs[tables.runs["selector"] != "untuned"]
    rows = [
        [*panel, len(group), group["trained_epochs"].min(), group["trained_epochs"].max()]
        for panel, group in searches.groupby(PANEL, sort=True)
    ]
    return pd.DataFrame(rows, columns=[*PANEL, "runs", "fewest epochs", "most epochs"])


def _means(
    frame: pd.DataFrame,
    axes: Sequence[str],
    quantities: dict[str, str],
    to_shown: Callable[[float], float] = float,
) -> pd.DataFrame:
    """Return a row per value of `axes`: the runs, the seeds, and means with their bounds."""
    groups = list(frame.groupby(list(axes), sort=True))
    table = pd.DataFrame([key for key, _ in groups], columns=list(axes))
    table["runs"] = [len(group) for _, group in groups]
    table["seeds"] = [group["seed"].nunique() for _, group in groups]
    for column, name in quantities.items():
        samples = [group.groupby("seed")[column].mean().to_numpy(np.float64) for _, group in groups]
        table[name] = [
            cell(to_shown(values.mean()), to_shown(low), to_shown(high), len(values))
            for values, (low, high) in zip(samples, bounds_of_each(samples), strict=True)
        ]
    return table


SECTIONS: tuple[tuple[str, str, Callable[[Tables], pd.DataFrame]], ...] = (
    (
        "What was run",
        "Set-up is starting Ray, imports and loading data, which no other number here contains.",
        ran,
    ),
    (
        "Speedups beside their ceilings",
        "The ceiling is the speedup if selecting were free and every epoch cost the same. "
        "`full-again` is FULL with other weights and mini-batches: what it differs by is noise.",
        speedups,
    ),
    (
        "Gradient or re-sampling",
        "Differences between runs of the same seed, search and subset size: `selector` less "
        "`baseline`, and the ratio of their speedups.",
        contrasts,
    ),
    (
        "Do subsets rank configurations as all data do?",
        "Kendall's tau of validation accuracies after `epoch` epochs, over the configurations "
        "that a search has in common with FULL's. `full-again` is the noise ceiling.",
        ranks,
    ),
    (
        "What tuning is worth",
        "Configurations drawn at random and trained once on all data, against FULL's choice.",
        untuned,
    ),
    (
        "Decided before any selection",
        "AUTOMATA's first subset is random. Trials that end before the first selection were "
        "stopped on its account, or on that of a warm start on all data.",
        early,
    ),
    (
        "Where the time goes",
        "`final` is the final training on all data; selecting is part of the search.",
        times,
    ),
    (
        "Epochs that searches trained",
        "Under Hyperband as many for each search and seed, by design.",
        epochs,
    ),
)
"""Title, what the reader must know, and the table."""
