"""What the runs of an experiment say in short: tables for people, pooled over the searches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.best import best_of
from automata.analysis.choices import choices
from automata.analysis.energy import ways
from automata.analysis.influence import influence_of
from automata.analysis.rank_agreement import agreements, warm_start_epochs
from automata.analysis.resampling import differences
from automata.analysis.statistics import bounds_of_each
from automata.analysis.study import PANEL, Study
from automata.analysis.tables import markdown
from automata.analysis.time_split import PARTS, time_split
from automata.analysis.wording import cell
from automata.names import CONTROLS

POOLED = ["dataset", "scheduler"]
"""What a row is of: both searches count, as they differ less than schedulers do."""

OPENING = """# Overview

Where a cell has bounds, a seed counts with the mean of its runs, of both searches; behind the mean
over seeds stands its 95 % bootstrap interval, or the range of fewer than three seeds (under "What
searches chose" it is quartiles). An error is test error less FULL's, in percentage points: positive
is worse. `tradeoff.csv`, `resampling.csv`, `rank-agreement.csv`, `untuned.csv` and `time-split.csv`
beside this file have the searches one by one; they, `choices.csv` and `influence.csv` name the
records behind each number, and `runs.csv` has the runs.
"""


def overview(tables: Study) -> str:
    """Return the page, in Markdown; a section without a row is left out."""
    sections = [
        f"## {title}\n\n{text}\n\n{markdown(table)}"
        for title, text, make in SECTIONS
        if len(table := make(tables))
    ]
    return "\n".join([OPENING, *sections])


def ran(tables: Study) -> pd.DataFrame:
    """Return a row per data set: its runs, their hours and energy, and how many were disturbed."""
    runs = tables.runs
    table = runs.assign(
        hours=runs["total_seconds"] / 3600,
        whole=(runs["total_seconds"] + runs["setup_seconds"]) / 3600,
        watt_hours=runs["energy_joules"].astype(float) / 3600,
        disturbed=runs["flags"].str.contains("contaminated"),
    )
    groups = table.groupby("dataset", sort=True)
    columns = {
        "runs": groups.size(),
        "measured hours": groups["hours"].sum(),
        "hours with set-up": groups["whole"].sum(),
        "energy (Wh)": groups["watt_hours"].sum(skipna=False),
        "energy was": {dataset: ways(group) for dataset, group in groups},
        "contaminated runs": groups["disturbed"].sum(),
    }
    return pd.DataFrame(columns).rename_axis("dataset").reset_index()


def speedups(tables: Study) -> pd.DataFrame:
    """Return a row per selector and subset size: speedup over FULL, its ceilings, and error."""
    quantities = {
        "speedup": "speedup",
        "ceiling": "ceiling",
        "final_ceiling": "with its final training",
        "relative_test_error": "error (pp)",
    }
    return _means(_compared(tables), [*POOLED, "selector", "fraction"], quantities)


def glance(tables: Study) -> pd.DataFrame:
    """Return a row per selector: speedup, ceiling and error, by scheduler and subset size."""
    compared = _compared(tables)
    subsets = compared[~compared["selector"].isin(CONTROLS)]
    axes = ["scheduler", "fraction"]
    columns = {(name, part): f"{name} {part:.3g}" for (name, part), _ in subsets.groupby(axes)}
    rows = []
    for (dataset, selector), group in subsets.groupby(["dataset", "selector"], sort=True):
        cells = {"dataset": dataset, "selector": selector}
        for (scheduler, fraction), runs in group.groupby(axes):
            means = _of_seeds(runs, ["speedup", "ceiling", "relative_test_error"]).mean()
            faster, ceiling, error = (round(value, 1) + 0.0 for value in means)
            cells[columns[scheduler, fraction]] = f"{faster:.1f} ({ceiling:.1f}), {error:+.1f}"
        rows.append(cells)
    return pd.DataFrame(rows, columns=["dataset", "selector", *columns.values()]).fillna("")


def contrasts(tables: Study) -> pd.DataFrame:
    """Return a row per pair of selectors, with one subset size and with all of them."""
    pairs = differences(tables.ratios)
    each = pairs.assign(fraction=[f"{fraction:g}" for fraction in pairs["fraction"]])
    both = pd.concat([each, pairs.assign(fraction="all")])
    axes = [*POOLED, "selector", "baseline", "fraction"]
    errors = _means(both, axes, {"error": "error difference (pp)"})
    speedups = _means(both, axes, {"log_speedup": "speedup ratio"}, np.exp)
    return errors.merge(speedups).rename(columns={"runs": "pairs"})


def ranks(tables: Study) -> pd.DataFrame:
    """Return a row per rung, selector and subset size: tau with FULL's scores, and both means."""
    known = tables.once(agreements)[tables.once(agreements)["tau"].notna()]
    shown = {"tau": "tau", "accuracy": "accuracy (%)", "full_accuracy": "FULL's (%)"}
    scores = ["accuracy", "full_accuracy"]
    percent = known.assign(**{score: 100 * known[score].astype(float) for score in scores})
    return _means(percent, [*POOLED, "epochs", "epoch", "selector", "fraction"], shown)


def untuned(tables: Study) -> pd.DataFrame:
    """Return a row per panel: the error of configurations drawn at random."""
    errors = [f"relative_test_error{of}" for of in ("", "_median", "_low", "_high")]
    shown = tables.untuned[[*PANEL, "draws", *errors]]
    return shown.set_axis([*PANEL, "draws", "mean error (pp)", "median", "best", "worst"], axis=1)


def chosen(tables: Study) -> pd.DataFrame:
    """Return a row per hyper-parameter and subset size: what the searches chose."""
    table = choices(tables.once(best_of))
    numbers = _cells(table, ["median", "lower_quartile", "upper_quartile", "searches"])
    shown = table[[*POOLED, "hyper-parameter", "fraction", "searches"]]
    return shown.assign(chosen=table["counts"].where(table["counts"].notna(), numbers))


def influences(tables: Study) -> pd.DataFrame:
    """Return a row per hyper-parameter and rung of random search: its tau by subset size."""
    drawn = tables.once(influence_of)[tables.once(influence_of)["search"] == "random"]
    axes = [*POOLED, "hyper-parameter", "epochs", "epoch"]
    compared = drawn[drawn.groupby(axes)["fraction"].transform("nunique") > 1]
    shown = compared.assign(cell=_cells(compared, ["tau", "tau_low", "tau_high", "seeds"]))
    table = shown.pivot(index=axes, columns="fraction", values="cell").fillna("")
    return table.rename(columns="{:g}".format).reset_index()


def early(tables: Study) -> pd.DataFrame:
    """Return the share of AUTOMATA's trials that were stopped before it had selected anything."""
    runs = tables.runs[tables.runs["selector"] == "gradmatch"]
    known = runs[runs["protocol_hash"].isin(tables.protocols)]
    ends = tables.trials.groupby(["record", "index"])[["epoch", "status"]].last()
    stopped = ends[ends["status"] == "stopped"].groupby("record")["epoch"].apply(list).to_dict()
    rows = []
    for key, group in known.groupby([*POOLED, "fraction"], sort=True):
        shares = []
        for run in group.to_dict("records"):
            first = first_selection(run, tables.protocols)
            early = sum(epoch <= first for epoch in stopped.get(run["record"], []))
            shares.append(early / run["configurations"])
        rows.append([*key, len(shares), 100 * np.mean(shares)])
    columns = [*POOLED, "fraction", "runs", "trials stopped before a selection (%)"]
    return pd.DataFrame(rows, columns=columns)


def first_selection(run: Mapping[Any, Any], protocols: dict[str, Any]) -> int:
    """Return after how many epochs the trials of `run` select for the first time.

    That is the first multiple of R after the warm start (`automata.training.subsets`).
    """
    every = int(protocols[run["protocol_hash"]]["protocol"]["reselect_every"])
    return every * math.ceil(max(warm_start_epochs(run, protocols), 1) / every)


def times(tables: Study) -> pd.DataFrame:
    """Return a row per selector and subset size: mean seconds and the shares of its parts."""
    split = time_split(tables.runs, tables.ratios)
    seconds = [f"{part}_seconds" for part in PARTS]
    axes = [*POOLED, "selector", "fraction"]
    means = split.groupby(axes, sort=True)[[*seconds, "total_seconds"]].mean().reset_index()
    table = means[axes].assign(seconds=means["total_seconds"])
    for part, column in zip(PARTS, seconds, strict=True):
        table[f"{part} (%)"] = 100 * means[column] / means["total_seconds"]
    return table


def epochs(tables: Study) -> pd.DataFrame:
    """Return a row per panel: the fewest and the most epochs that a search of it trained."""
    searches = tables.runs[tables.runs["selector"] != "untuned"]
    rows = [
        [*panel, len(group), group["trained_epochs"].min(), group["trained_epochs"].max()]
        for panel, group in searches.groupby(PANEL, sort=True)
    ]
    return pd.DataFrame(rows, columns=[*PANEL, "runs", "fewest epochs", "most epochs"])


def _cells(table: pd.DataFrame, columns: list[str]) -> list[str]:
    """Return a cell per row of `table`: of its mean, bounds and number of what they are over."""
    return [cell(*row) for row in table[columns].to_numpy(np.float64)]


def _compared(tables: Study) -> pd.DataFrame:
    """Return the ratios that there are, but FULL's own, which are 1."""
    ratios = tables.ratios
    return ratios[ratios["refused"].isna() & (ratios["selector"] != "full")]


def _of_seeds(group: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return the mean of each seed: what counts once in a mean or an interval."""
    return group.groupby("seed")[columns].mean()


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
        samples = [_of_seeds(group, [column])[column].to_numpy(np.float64) for _, group in groups]
        table[name] = [
            cell(to_shown(values.mean()), to_shown(low), to_shown(high), len(values))
            for values, (low, high) in zip(samples, bounds_of_each(samples), strict=True)
        ]
    return table


SECTIONS: tuple[tuple[str, str, Callable[[Study], pd.DataFrame]], ...] = (
    (
        "What was run",
        "Set-up is starting Ray, imports and loading data, which no other number here contains.",
        ran,
    ),
    (
        "Speedups beside their ceilings",
        "The ceiling is the speedup if an epoch cost its share of the samples, a selection by "
        "gradients one forward pass, and nothing else anything; beside it the ceiling with the "
        "final training at what it took, as a configuration that wins may be a cheap one. "
        "`full-again` is FULL with other weights and mini-batches: what it differs by is noise.",
        speedups,
    ),
    (
        "At a glance",
        "Speedup over FULL (its ceiling), and error: means over seeds, by scheduler and by the "
        "subset's fraction of the training set. `gradmatch` is AUTOMATA.",
        glance,
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
        "that a search has in common with FULL's, at least five of them, and the means of what was "
        "compared. `full-again` is the noise ceiling. Late rungs have the survivors only, which "
        "are alike and harder to rank.",
        ranks,
    ),
    (
        "What tuning is worth",
        "Configurations drawn at random and trained once on all data, against FULL's choice: the "
        "mean of its seeds. A draw that diverged counts with the accuracy that it reached.",
        untuned,
    ),
    (
        "What searches chose",
        "The best configurations, of both searches and all selectors; FULL and its repeat at 1. Of "
        "a number with many values the median and its quartiles, of all else how many chose each.",
        chosen,
    ),
    (
        "Which hyper-parameters tell the score",
        "Kendall's tau between the values of a hyper-parameter and validation accuracies after "
        "`epoch` epochs, by the subset's fraction of the training set, over the configurations of "
        "a random search whose first rung that is: positive where higher values score better. "
        "All selectors count; FULL and its repeat at 1.",
        influences,
    ),
    (
        "Decided before any selection",
        "AUTOMATA's first subset is random, and before it a warm start may train on all data. A "
        "trial stopped at a rung before the first selection was judged on these alone.",
        early,
    ),
    (
        "Where the time goes",
        "Means over runs. `final` is the final training on all data.",
        times,
    ),
    (
        "Epochs that searches trained",
        "Under Hyperband as many for each selector and seed, unless a trial diverges.",
        epochs,
    ),
)
"""Title, what the reader must know, and the table."""
