"""The facts of an experiment: what was run, where, when, for how long, with what energy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import study, wording
from automata.analysis.energy import follows_time, how_measured
from automata.analysis.study import Panel
from automata.analysis.wording import ENERGY, amount
from automata.metering.measurement import JOULES_PER_KWH

FLAGS = {
    "short_window": "a phase shorter than 10 s: few readings of counters that move every second",
    "contaminated": "other work took over 10 % of the host's CPU time, and counters counted it",
    "shared_gpu": "others computed on its GPU, whose energy counts them too",
    "counter_reset": "a counter went back without wrapping: what it had moved is lost",
    "elsewhere": "trials ran on a Ray cluster: their energy and CPU time were not measured",
    "not exclusive": "other measured jobs were not kept out",
}
"""What is doubtful about a run, and what that means."""

VERDICTS = {"reproduced": "yes", "not reproduced": "no", "not run": "none"}
"""Verdict -> the class of its badge; the badge says the word as well."""

FIRM = {
    "": "",
    "interval": "firm: the whole 95 % interval agrees",
    "no runs needed": "no runs needed",
}
"""What makes a verdict firm, in words; anything else is why it is not."""

MACHINE = ["machine", "device", "software", "threads_per_trial", "concurrent_trials"]


@dataclass(frozen=True)
class Energy:
    """The energy of the runs that obtained it in one way: such energies are not added."""

    words: str
    source: str
    """What it was read from, or nothing."""
    runs: int
    amount: str
    """Nothing where it was not measured."""
    estimated: bool
    """From CPU time alone: it says nothing beyond time."""
    in_part: bool = False
    """Estimated for the CPU, from its time; the rest was read from the hardware."""


@dataclass(frozen=True)
class Doubt:
    """A flag, or why runs were refused, with the records that it concerns."""

    name: str
    meaning: str
    records: list[str]


@dataclass(frozen=True)
class Summary:
    """What the top of the page says."""

    runs: int
    datasets: list[str]
    searches: list[str]
    schedulers: list[str]
    selectors: list[tuple[str, str]]
    """Names and meanings."""
    fractions: list[str]
    seeds: str
    machines: list[dict[Hashable, Any]]
    """MACHINE and the number of `runs`: times of different places are never compared."""
    first: str
    last: str
    """Dates, UTC."""
    duration: str
    energies: list[Energy]
    differences: list[dict[str, str]] | None
    """Settings (`key`), `here` and in the `paper`, and `where`; None where not compared."""
    flags: list[Doubt]
    refused: list[Doubt]
    failed: str
    """Trials that failed, or nothing."""
    not_run: list[str]


def summary(runs: pd.DataFrame, ratios: pd.DataFrame, differences: pd.DataFrame | None) -> Summary:
    """Return the facts in the tables of one experiment; `runs` has at least one row."""
    return Summary(
        runs=len(runs),
        datasets=[names.dataset(name) for name in study.datasets(runs)],
        searches=[names.search(name) for name in names.ordered(runs["search"], names.SEARCHES)],
        schedulers=[
            names.scheduler(name) for name in names.ordered(runs["scheduler"], names.SCHEDULERS)
        ],
        selectors=[
            (names.selector(name), names.look(name).meaning) for name in study.selectors(runs)
        ],
        fractions=[wording.percent(value) for value in study.fractions(runs)],
        seeds=wording.seeds(runs),
        machines=runs.groupby(MACHINE).size().reset_index(name="runs").to_dict("records"),
        first=_date(runs["started_at"].min()),
        last=_date((runs["started_at"] + runs["setup_seconds"] + runs["total_seconds"]).max()),
        duration=wording.seconds(float((runs["total_seconds"] + runs["setup_seconds"]).sum())),
        energies=list(_energies(runs)),
        differences=None if differences is None else _differences(differences, runs),
        flags=_flags(runs),
        refused=[
            Doubt(str(reason), "", sorted(group["record"]))
            for reason, group in ratios.groupby("refused", sort=True)
        ],
        failed=_failed(runs),
        not_run=[panel.title for panel in study.not_run(runs)],
    )


def claims(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of the table of claims as the page shows them."""
    return [
        {
            **{str(column): cell for column, cell in row.items()},
            "kind": VERDICTS.get(row["verdict"], "none"),
            "firm": FIRM.get(row["firm"], f"not firm: {row['firm']}"),
            "records": row["records"].split(),
        }
        for row in table.to_dict("records")
    ]


def tally(found: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """Return how many claims have each verdict: word, class of its badge, number."""
    counted = Counter(claim["verdict"] for claim in found)
    return [(word, kind, counted[word]) for word, kind in VERDICTS.items() if counted[word]]


def _energies(runs: pd.DataFrame) -> Iterator[Energy]:
    measured = runs[runs["energy_joules"].notna()]
    ways = measured.groupby(["energy_method", "energy_source"], dropna=False, sort=True)
    for (method, source), group in ways:
        method, source = (value if isinstance(value, str) else None for value in (method, source))
        alone = follows_time(method, source)
        kwh = float(group["energy_joules"].sum()) / JOULES_PER_KWH
        yield Energy(
            how_measured(method, source),
            source or "",
            len(group),
            amount(kwh, ENERGY),
            estimated=alone,
            in_part=method == "estimated" and not alone,
        )
    missing = len(runs) - len(measured)
    if missing:
        yield Energy(how_measured(None, None), "", missing, "", estimated=False)


def _differences(table: pd.DataFrame, runs: pd.DataFrame) -> list[dict[str, str]]:
    """Return each difference once, with the panels that it holds for."""
    texts = table.astype(object).where(table.notna(), wording.MISSING)
    found = []
    for (key, here, paper), rows in texts.groupby(["key", "here", "paper"], sort=True):
        where = _where(set(study.panel_of_each(rows)), runs)
        found.append({"key": str(key), "here": str(here), "paper": str(paper), "where": where})
    return found


def _where(panels: set[Panel], runs: pd.DataFrame) -> str:
    """Name `panels` as briefly as can be: everywhere, whole data sets, single panels."""
    there = study.panels(runs)
    inside = [panel for panel in there if panel in panels]
    if len(inside) == len(there):
        return "everywhere"
    words = []
    for name in study.datasets(runs):
        mine = [panel for panel in inside if panel.dataset == name]
        whole = len(mine) == sum(panel.dataset == name for panel in there)
        words += [names.dataset(name)] if mine and whole else [panel.title for panel in mine]
    return ", ".join(words) or ", ".join(sorted({panel.dataset for panel in panels}))


def _flags(runs: pd.DataFrame) -> list[Doubt]:
    raised = runs["flags"].fillna("").str.split()
    names = sorted({flag for flags in raised for flag in flags})
    doubts = [
        Doubt(name, FLAGS.get(name, ""), sorted(runs["record"][[name in f for f in raised]]))
        for name in names
    ]
    shared = runs["record"][~runs["exclusive"].astype(bool)]
    if len(shared):
        doubts.append(Doubt("not exclusive", FLAGS["not exclusive"], sorted(shared)))
    return doubts


def _failed(runs: pd.DataFrame) -> str:
    failed, trials = int(runs["failed_trials"].sum()), int(runs["configurations"].sum())
    return f"{wording.count(failed, 'trial')} of {trials:,} failed" if failed else ""


def _date(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%d")
