"""The overview of an experiment's results: a Markdown page of short tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from automata import names
from automata.analysis.answer import METHODS, answer, sentences
from automata.analysis.energy import ways
from automata.analysis.quantities import ERROR, QUANTITIES
from automata.analysis.search_studies import rank_agreement, warm_start_epochs
from automata.analysis.selectors import CONTRAST, mean_differences, paired_differences
from automata.analysis.statistics import spread
from automata.analysis.study import Study, compared, datasets
from automata.analysis.tables import markdown
from automata.analysis.wording import cell, energy, mass, number, percent, times

AXES: dict[str, tuple[Mapping[str, object], Callable[[str], str]]] = {
    "dataset": (names.DATASETS, names.dataset),
    "scheduler": (names.SCHEDULERS, names.scheduler),
    "selector": (dict.fromkeys(METHODS), names.selector),
}
"""Column -> the order of its values, and the function that returns their display names."""

OPENING = """# Overview

Speedups and errors are means: over the searches of a seed, then over seeds. Means of ratios are
geometric. An error is FULL's test accuracy minus that of the method, in percentage
points: positive is worse. Bounds, as in 2.5 (2.3 to 2.7), are 95 % t intervals over seeds or data
sets, or the range of fewer than three.
`tradeoff.csv` has each search by itself, `runs.csv` each run; the page (`index.html`) shows them.
"""

DISTURBED = "A speedup is nan if other work disturbed it; `tradeoff.csv` has ratios of CPU time.\n"


def overview(study: Study) -> str:
    """Return the page in Markdown; sections with empty tables are left out."""
    first = "\n".join(f"- {sentence}" for sentence in sentences(answer(study.ratios)))
    sections = [
        f"## {title}\n\n{text}\n\n{markdown(for_readers(table))}"
        for title, text, make in SECTIONS
        if len(table := make(study))
    ]
    missing = bool(compared(study.ratios)["speedup"].isna().any())
    return "\n".join([OPENING, *[f"{first}\n"] * bool(first), *[DISTURBED] * missing, *sections])


def for_readers(table: pd.DataFrame) -> pd.DataFrame:
    """Return `table` sorted by its AXES, with display names."""
    axes = [axis for axis in AXES if axis in table]
    orders = {axis: names.ordered(table[axis], AXES[axis][0]) for axis in axes}
    ordered = {axis: pd.Categorical(table[axis], orders[axis]) for axis in axes}
    table = table.assign(**ordered).sort_values(axes)
    return table.assign(**{axis: [AXES[axis][1](name) for name in table[axis]] for axis in axes})


def by_size(
    table: pd.DataFrame, keys: list[str], of_cell: Callable[[pd.DataFrame], str]
) -> pd.DataFrame:
    """Return a row per group of `keys`, with a column per subset size."""
    cells = [[*key, of_cell(group)] for key, group in table.groupby([*keys, "fraction"])]
    long = pd.DataFrame(cells, columns=[*keys, "fraction", "cell"])
    wide = long.pivot(index=keys, columns="fraction", values="cell").fillna("")
    return wide.rename(columns=lambda size: percent(float(size))).reset_index()


def ran(study: Study) -> pd.DataFrame:
    """Return a row per data set: number of runs, hours, energy, and number of disturbed runs."""
    runs = study.runs
    total = runs["total_seconds"]
    full = runs["selector"] == "full"
    by_dataset = runs.assign(
        seeds=runs["seed"].where(runs["selector"] != "untuned"),
        accuracy=100 * runs["test_accuracy"].where(full),
        hours=total / 3600,
        hours_with_setup=(total + runs["setup_seconds"]) / 3600,
        energy=runs["energy_joules"].astype(float) / 3600,
        contaminated=runs["flags"].str.contains("contaminated"),
    ).groupby("dataset")
    columns = {
        "runs": by_dataset.size(),
        "seeds": by_dataset["seeds"].nunique(),
        "FULL's accuracy (%)": by_dataset["accuracy"].mean(),
        "measured hours": by_dataset["hours"].sum(),
        "hours with set-up": by_dataset["hours_with_setup"].sum(),
        "energy (Wh)": by_dataset["energy"].sum(skipna=False),
        "energy was": pd.Series({name: ways(group) for name, group in by_dataset}, dtype=object),
        "contaminated runs": by_dataset["contaminated"].sum(),
    }
    return pd.DataFrame(columns).rename_axis("dataset").reset_index()


def glance(study: Study) -> pd.DataFrame:
    """Return a row per data set, scheduler and selector: speedup, ceiling and error by size."""
    return _by_size(study, lambda group: "{} ({}), {}".format(*gains(group)))


def energies(study: Study) -> pd.DataFrame:
    """Return the rows of `glance` with energy ratio and energy."""
    return _by_size(study, lambda group: _ratio(group, "energy_ratio", "kwh", energy))


def emissions(study: Study) -> pd.DataFrame:
    """Return the rows of `glance` with ratio and grams of CO2, from energy and from time."""

    def of_cell(group: pd.DataFrame) -> str:
        columns = [(f"co2_{source}_ratio", f"co2_{source}_grams") for source in ("energy", "time")]
        return "; ".join(_ratio(group, ratio, grams, mass) for ratio, grams in columns)

    return _by_size(study, of_cell)


def _ratio(runs: pd.DataFrame, ratio: str, amount: str, words: Callable[[float], str]) -> str:
    """Return the means of a ratio and of the amount behind it."""
    value, own = means(runs, ratio, amount)
    return f"{number(value)} ({words(own)})"


def _by_size(study: Study, of_cell: Callable[[pd.DataFrame], str]) -> pd.DataFrame:
    rows = _of_methods(compared(study.ratios))
    return by_size(rows, ["dataset", "scheduler", "selector"], of_cell)


def means(runs: pd.DataFrame, *columns: str) -> list[float]:
    """Return the mean of each column: first per seed, then over seeds."""
    return [spread(column, "seed").mean(runs) for column in columns]


def gains(runs: pd.DataFrame) -> list[str]:
    """Return the means of speedup, ceiling and error."""
    values = means(runs, "speedup", "ceiling", ERROR)
    speedup, ceiling, error = (round(value, 1) + 0.0 for value in values)
    return [f"{speedup:.1f}", f"{ceiling:.1f}", f"{error:+.1f}"]


def contrasts(study: Study) -> pd.DataFrame:
    """Return a row per pair of selectors: the difference of their errors by data set."""
    pairs = paired_differences(study.ratios)
    order = datasets(pairs)
    rows = []
    for (selector, baseline), group in pairs.groupby(CONTRAST, sort=False):
        by_dataset = mean_differences(group, ["dataset"]).set_index("dataset")
        cells = by_dataset.apply(_difference, axis=1).reindex(order, fill_value="")
        pooled = mean_differences(group, []).iloc[0]
        pair = f"{names.selector(str(selector))} - {names.selector(str(baseline))}"
        rows.append([pair, *cells, _difference(pooled), times(pooled["speedup_ratio"])])
    heads = ["difference", *map(names.dataset, order), "all", "speedups"]
    return pd.DataFrame(rows, columns=heads)


def _difference(row: pd.Series[Any]) -> str:
    bounds = [f"error_difference{end}" for end in ("", "_low", "_high")]
    return cell(*row[[*bounds, "units"]])


def worth(study: Study) -> pd.DataFrame:
    """Return a row per data set: errors of configurations drawn at random."""
    columns = {
        "draws": ("draws", "max"),
        "diverged": ("diverged", "max"),
        "mean error (pp)": (ERROR, "mean"),
        "median": (f"{ERROR}_median", "mean"),
        "best": (f"{ERROR}_low", "min"),
        "worst": (f"{ERROR}_high", "max"),
    }
    return study.untuned.groupby("dataset").agg(**columns).reset_index()


def ranks(study: Study) -> pd.DataFrame:
    """Return tau with FULL's scores by scheduler, selector and size, at rungs with most pairs."""
    table = _of_methods(rank_agreement(study))
    keys = ["scheduler", "selector", "fraction"]
    fullest = table[table["pairs"] == table.groupby(keys)["pairs"].transform("max")]
    bounds = ["tau", "tau_low", "tau_high", "units"]
    return by_size(fullest, keys[:2], lambda rows: cell(*rows[bounds].iloc[0]))


def early(study: Study) -> pd.DataFrame:
    """Return the share of AUTOMATA's trials that were stopped before their first selection.

    A trial first selects at a multiple of `reselect_every` after its warm start, as in training.
    """
    runs = study.runs[study.runs["selector"] == names.AUTOMATA]
    ends = study.trials.groupby(["record", "index"], as_index=False)[["epoch", "status"]].last()
    first = {}
    for run in runs.to_dict("records"):
        every = int(study.protocols[run["protocol_hash"]]["protocol"]["reselect_every"])
        warm = warm_start_epochs(run, study.protocols)
        first[run["record"]] = every * math.ceil(max(warm, 1) / every)
    before = (ends["status"] == "stopped") & (ends["epoch"] <= ends["record"].map(first))
    stopped = runs["record"].map(ends[before].groupby("record").size()).astype(float).fillna(0)
    return by_size(
        runs.assign(share=stopped / runs["configurations"]),
        ["dataset", "scheduler"],
        lambda group: percent(float(group["share"].mean())),
    )


def _of_methods(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of METHODS, FULL's repeat and own selectors; all rows if no METHODS ran."""
    own = ~table["selector"].isin(list(names.METHODS))
    if table["selector"].isin(METHODS).any():
        return table[table["selector"].isin([*METHODS, "full-again"]) | own]
    return table[table["selector"] != "full"]


SECTIONS: tuple[tuple[str, str, Callable[[Study], pd.DataFrame]], ...] = (
    (
        "What was run",
        "Set-up is the time to start Ray, import packages and load data. Measured times lack it.",
        ran,
    ),
    (
        "At a glance",
        "Speedup over FULL (its ceiling), and error, by the subset's share of the training set. "
        f"The ceiling is {QUANTITIES['ceiling'].definition.replace('The', 'the', 1)} FULL's repeat "
        "is noise alone: FULL with other weights and mini-batches. "
        "More: `tradeoff.csv` (all selectors).",
        glance,
    ),
    (
        "Energy",
        "Ratio of FULL's energy to that of a run, and the energy of a run, of the same searches. "
        "An estimate from CPU time is no evidence beyond time.",
        energies,
    ),
    (
        "CO2",
        "The same of CO2, from energy; then from time, as the paper computes it. One intensity "
        "holds for all runs, so these ratios equal those of energy and time.",
        emissions,
    ),
    (
        "Gradients or re-sampling",
        "Differences of errors (pp) between runs of the same seed, search and subset size, by data "
        "set and over all. If there are three data sets or more, each counts once in `all`. The "
        "last column is the ratio of the speedups over all.",
        contrasts,
    ),
    (
        "What tuning is worth",
        "Errors of configurations drawn at random and trained once on all data, compared with "
        "FULL's choice. Mean and median are over draws, then averaged over searches and "
        "schedulers; best and worst are single draws. A draw that diverged counts with the "
        "accuracy that it reached. More: `untuned.csv`.",
        worth,
    ),
    (
        "Do subsets rank configurations as all data do?",
        "Kendall's tau with FULL's validation accuracies at the rungs with the most "
        "configurations, over data sets. FULL's repeat shows the noise.",
        ranks,
    ),
    (
        "Decided before any selection",
        "Share of AUTOMATA's trials stopped at a rung before its first selection: until then it "
        "trains on a random subset, or in a warm start on all data.",
        early,
    ),
)
"""Title, text and table of each section."""
