"""What the runs of an experiment say in short: a page of tables that fit on two screens."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from automata import names
from automata.analysis.energy import ways
from automata.analysis.quantities import QUANTITIES
from automata.analysis.search_studies import agreements, by_rung, warm_start_epochs
from automata.analysis.selector_comparisons import CONTRAST, differences
from automata.analysis.statistics import (
    Column,
    Spread,
    count_units,
    mean_of,
    of_units,
    sum_of,
    summarise,
)
from automata.analysis.study import Study, compared, datasets
from automata.analysis.tables import markdown
from automata.analysis.wording import cell, percent, times

POOLED = "@"
"""The group of all data sets; no data set can have this name."""

METHODS = (names.AUTOMATA, "rs2")
"""Of the page: the paper's method, and re-sampling alone. All that ran where neither did."""

_CEILING = QUANTITIES["ceiling"].definition

AXES: dict[str, tuple[Mapping[str, object], Callable[[str], str]]] = {
    "dataset": (names.DATASETS, names.dataset),
    "scheduler": (names.SCHEDULERS, names.scheduler),
    "selector": (dict.fromkeys(METHODS), names.selector),
}
"""The order of an axis, and what readers call its values."""

OPENING = """# Overview

Speedups, errors and ranks are means over the searches that were run: of a seed first, then over
seeds. An error is test error less FULL's, in percentage points: positive is worse. In brackets
stand 95 % bootstrap intervals over seeds, or the range of fewer than three. `tradeoff.csv` has each
search by itself, `runs.csv` each run; the page (`index.html`) shows them.
"""


def overview(study: Study) -> str:
    """Return the page, in Markdown; a section without a row is left out."""
    sections = [
        f"## {title}\n\n{text}\n\n{markdown(table)}"
        for title, text, make in SECTIONS
        if len(table := for_readers(make(study)))
    ]
    return "\n".join([OPENING, *sections])


def ran(study: Study) -> pd.DataFrame:
    """Return a row per data set: its runs, their hours and energy, and how many were disturbed."""
    runs = study.runs
    table = runs.assign(
        hours=runs["total_seconds"] / 3600,
        whole=(runs["total_seconds"] + runs["setup_seconds"]) / 3600,
        watt_hours=runs["energy_joules"].astype(float) / 3600,
        disturbed=runs["flags"].str.contains("contaminated"),
        accuracy=100 * runs["test_accuracy"].where(runs["selector"] == "full"),
    )
    columns = {
        "runs": len,
        "seeds": lambda group: group.loc[group["selector"] != "untuned", "seed"].nunique(),
        "FULL's accuracy (%)": mean_of("accuracy"),
        "measured hours": lambda group: group["hours"].sum(),
        "hours with set-up": lambda group: group["whole"].sum(),
        "energy (Wh)": lambda group: group["watt_hours"].sum(skipna=False),
        "energy was": ways,
        "contaminated runs": sum_of("disturbed"),
    }
    return summarise(table, ["dataset"], columns).drop(columns="records")


def glance(study: Study) -> pd.DataFrame:
    """Return a row per data set, scheduler and selector: speedup, ceiling, error by subset size."""
    ratios = compared(study.ratios)
    return by_size(_shown(ratios), ["dataset", "scheduler", "selector"], gain)


def gain(runs: pd.DataFrame) -> str:
    """Return speedup, ceiling and error of `runs`: means of each seed first, then over seeds."""
    means = runs.groupby("seed")[["speedup", "ceiling", "relative_test_error"]].mean().mean()
    faster, ceiling, error = (round(value, 1) + 0.0 for value in means)
    return f"{faster:.1f} ({ceiling:.1f}), {error:+.1f}"


def contrasts(study: Study) -> pd.DataFrame:
    """Return a row per pair of selectors and a column per data set: difference of their errors."""
    pairs = differences(study.ratios)
    pooled = pairs.assign(group=POOLED)
    columns: dict[str, Column] = {
        "error": Spread(lambda group: of_units(group, "error")),
        "speedup": lambda group: np.exp(of_units(group, "log_speedup").mean()),
        "units": count_units,
    }
    both = pd.concat([pairs.assign(group=pairs["dataset"]), pooled])
    table = summarise(both, [*CONTRAST, "group"], columns, ["records"], sort=False)
    groups = [*datasets(pairs), POOLED]
    rows = []
    for pair, own in table.groupby(CONTRAST, sort=False):
        bounds = own[["error", "error_low", "error_high", "units"]].to_numpy()
        errors = dict(zip(own["group"], (cell(*of) for of in bounds), strict=True))
        speedups = "".join(map(times, own.loc[own["group"] == POOLED, "speedup"]))
        shown = " - ".join(names.selector(str(name)) for name in pair)
        rows.append([shown, *(errors.get(group, "") for group in groups), speedups])
    order = [names.dataset(label) for label in groups[:-1]]
    return pd.DataFrame(rows, columns=["difference", *order, "all", "speedups"])


def worth(study: Study) -> pd.DataFrame:
    """Return a row per data set: the error of configurations drawn at random.

    The panels of a data set share their draws; each holds them against a FULL of its own.
    """
    columns = {
        "draws": lambda group: group["draws"].max(),
        "diverged": lambda group: group["diverged"].max(),
        "mean error (pp)": mean_of("relative_test_error"),
        "median": mean_of("relative_test_error_median"),
        "best": lambda group: group["relative_test_error_low"].min(),
        "worst": lambda group: group["relative_test_error_high"].max(),
    }
    return summarise(study.untuned, ["dataset"], columns, ["records"]).drop(columns="records")


def ranks(study: Study) -> pd.DataFrame:
    """Return tau with FULL's scores per scheduler, selector and size, at one group of rungs.

    That is the one with the most configurations.
    """
    table = _shown(by_rung(study.once(agreements)))
    keys = ["scheduler", "selector", "fraction"]
    fullest = table[table["pairs"] == table.groupby(keys)["pairs"].transform("max")]
    bounds = ["tau", "tau_low", "tau_high", "units"]
    return by_size(fullest, keys[:2], lambda rows: cell(*rows[bounds].iloc[0]))


def early(study: Study) -> pd.DataFrame:
    """Return the share of AUTOMATA's trials that were stopped before it had selected anything."""
    runs = study.runs[study.runs["selector"] == names.AUTOMATA]
    known = runs[runs["protocol_hash"].isin(study.protocols)]
    ends = study.trials.groupby(["record", "index"])[["epoch", "status"]].last()
    stopped = ends[ends["status"] == "stopped"].groupby("record")["epoch"].apply(list).to_dict()

    def share(run: Mapping[Any, Any]) -> float:
        first = first_selection(run, study.protocols)
        before = [epoch for epoch in stopped.get(run["record"], []) if epoch <= first]
        return len(before) / int(run["configurations"])

    shares = known.assign(share=[share(run) for run in known.to_dict("records")])
    return by_size(
        shares, ["dataset", "scheduler"], lambda runs: percent(float(runs["share"].mean()))
    )


def first_selection(run: Mapping[Any, Any], protocols: dict[str, Any]) -> int:
    """Return after how many epochs the trials of `run` select for the first time.

    That is the first multiple of R after the warm start, as training has it.
    """
    every = int(protocols[run["protocol_hash"]]["protocol"]["reselect_every"])
    return every * math.ceil(max(warm_start_epochs(run, protocols), 1) / every)


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the selectors that the page shows, FULL's repeat among them."""
    own = ~table["selector"].isin(list(names.METHODS))
    of_methods = table["selector"].isin([*METHODS, "full-again"]) | own
    if table["selector"].isin(METHODS).any():
        return table[of_methods]
    return table[table["selector"] != "full"]


def by_size(
    table: pd.DataFrame, keys: list[str], of_cell: Callable[[pd.DataFrame], str]
) -> pd.DataFrame:
    """Return a row per value of `keys`, with a column per subset size."""
    groups = table.groupby([*keys, "fraction"])
    cells = [[*key, of_cell(group)] for key, group in groups]
    long = pd.DataFrame(cells, columns=[*keys, "fraction", "cell"])
    wide = long.pivot(index=keys, columns="fraction", values="cell").fillna("")
    return wide.rename(columns=lambda size: percent(float(size))).reset_index()


def for_readers(table: pd.DataFrame) -> pd.DataFrame:
    """Return `table` in the order of its AXES, with the names that readers know."""
    axes = [axis for axis in AXES if axis in table]
    places = {axis: names.ordered(table[axis], AXES[axis][0]).index for axis in axes}
    if axes:
        table = table.sort_values(axes, key=lambda values: values.map(places[str(values.name)]))
    return table.assign(**{axis: table[axis].map(AXES[axis][1]) for axis in axes})


SECTIONS: tuple[tuple[str, str, Callable[[Study], pd.DataFrame]], ...] = (
    (
        "What was run",
        "Set-up is starting Ray, imports and loading data, which no other number contains.",
        ran,
    ),
    (
        "At a glance",
        "Speedup over FULL (its ceiling), and error, by the subset's share of the training set. "
        f"The ceiling is {_CEILING[0].lower()}{_CEILING[1:]} FULL's repeat is noise alone: "
        "FULL with other weights and mini-batches. "
        "More: `tradeoff.md` (all selectors), `fronts.csv`.",
        glance,
    ),
    (
        "Gradients or re-sampling",
        "Differences of errors (pp) between runs of the same seed, search and subset size: by "
        "data set, and over all of them, where three data sets or more count as one each. Last "
        "the ratio of the speedups over all. "
        "More: `selector-comparison.csv`.",
        contrasts,
    ),
    (
        "What tuning is worth",
        "Error of configurations drawn at random and trained once on all data, against FULL's "
        "choice: means over searches and schedulers, then the best and the worst draw. One that "
        "diverged counts with the accuracy that it reached. More: `untuned.csv`.",
        worth,
    ),
    (
        "Do subsets rank configurations as all data do?",
        "Kendall's tau with FULL's validation accuracies at the rungs with the most "
        "configurations, over data sets. FULL's repeat is what noise leaves. "
        "More: `rank-agreement.csv`.",
        ranks,
    ),
    (
        "Decided before any selection",
        "Share of AUTOMATA's trials stopped at a rung before its first selection: until then it "
        "trains on a random subset, or in a warm start on all data.",
        early,
    ),
)
"""Title, what the reader must know, and the table."""
