"""In which order an experiment is told, what its parts are called, and what of it did not run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pandas as pd

from automata.analysis.runs import PANEL
from automata.datasets.catalog import DATASETS
from automata.figures import names
from automata.figures.looks import COLOURS
from automata.page.numbers import percent
from automata.selection import FIXED_FRACTIONS

SCHEDULERS = {"hyperband": "Hyperband", "asha": "ASHA", "none": "no scheduler"}
"""In words: a reader of the page need not know the paper's HB."""

MEANINGS = {
    "full": "tuning on all data: what the others are compared with",
    "full-again": "FULL with other initial weights and mini-batches: how far two such runs differ",
    "untuned": "no tuning: one configuration drawn at random, trained once on all data",
    "random": "one random subset, the same for the whole search",
    "adaptive-random": "a new random subset at every re-selection",
    "rs2": "a new random subset every epoch, without replacement until the data are used up",
    "craig": "mini-batches whose gradients represent those of all others (facility location)",
    "gradmatch": "weighted mini-batches whose sum matches the full gradient: the paper's method",
    "gradmatch-adaptive": "AUTOMATA with only as many mini-batches as the match asks for",
    "glister": "mini-batches that lower the validation loss the most",
}


@dataclass(frozen=True, order=True)
class Combination:
    """A search and a scheduler on a data set: one panel."""

    dataset: str
    search: str
    scheduler: str

    @property
    def anchor(self) -> str:
        """What links call it."""
        return f"panel-{self.dataset}-{self.search}-{self.scheduler}"

    @property
    def method(self) -> str:
        """Search and scheduler, e.g. TPE, Hyperband."""
        return f"{search(self.search)}, {scheduler(self.scheduler)}"

    @property
    def title(self) -> str:
        """All of it, e.g. SATIMAGE (TPE, Hyperband)."""
        return f"{dataset(self.dataset)} ({self.method})"


def dataset(name: str) -> str:
    """Return the display name of a data set."""
    return names.dataset(name)


def search(name: str) -> str:
    """Return the display name of a search."""
    return names.SEARCHES.get(name, name)


def scheduler(name: str) -> str:
    """Return the display name of a scheduler."""
    return SCHEDULERS.get(name, name)


def selector(name: str) -> str:
    """Return the display name of a selector."""
    return names.SELECTORS.get(name, name)


def fraction(value: float) -> str:
    """Return a fraction in percent."""
    return percent(value)


def datasets(runs: pd.DataFrame) -> list[str]:
    """Return the data sets of `runs`: in the paper's order, then the user's own."""
    return _ordered(runs["dataset"], list(DATASETS))


def selectors(runs: pd.DataFrame) -> list[str]:
    """Return the selectors of `runs`, in the order of legends."""
    return _ordered(runs["selector"], list(COLOURS))


def searches(runs: pd.DataFrame) -> list[str]:
    """Return the searches of `runs`, in the paper's order."""
    return _ordered(runs["search"], list(names.SEARCHES))


def schedulers(runs: pd.DataFrame) -> list[str]:
    """Return the schedulers of `runs`, in the paper's order."""
    return _ordered(runs["scheduler"], list(SCHEDULERS))


def fractions(runs: pd.DataFrame) -> list[float]:
    """Return the fractions of the selectors that have one, rising."""
    subsets = runs[~runs["selector"].isin(list(FIXED_FRACTIONS))]
    return sorted(float(value) for value in subsets["fraction"].unique())


def combinations(runs: pd.DataFrame) -> list[Combination]:
    """Return the panels that have runs."""
    run = _run(runs)
    return [panel for panel in _all(runs) if panel in run]


def not_run(runs: pd.DataFrame) -> list[Combination]:
    """Return the panels without runs of the grid that `runs` span, data sets by methods."""
    run = _run(runs)
    return [panel for panel in _all(runs) if panel not in run]


def missing(runs: pd.DataFrame, panel: pd.DataFrame) -> list[str]:
    """Return what other panels of `runs` have and `panel` has not, e.g. CRAIG 5 %."""
    keys = ["selector", "fraction"]
    there = {tuple(row) for row in panel[keys].itertuples(index=False, name=None)}
    elsewhere = {tuple(row) for row in runs[keys].itertuples(index=False, name=None)}
    order = selectors(runs)
    wanted = sorted(elsewhere - there, key=lambda row: (order.index(row[0]), row[1]))
    return [part(name, value) for name, value in wanted]


def part(name: str, value: float) -> str:
    """Return a selector with its fraction, if it has one: AUTOMATA 5 %, FULL."""
    return selector(name) if name in FIXED_FRACTIONS else f"{selector(name)} {fraction(value)}"


def _all(runs: pd.DataFrame) -> list[Combination]:
    axes = (datasets(runs), searches(runs), schedulers(runs))
    # The paper's order of panels: schedulers outside, searches inside.
    ordered = product(axes[0], axes[2], axes[1])
    return [Combination(dataset, search, scheduler) for dataset, scheduler, search in ordered]


def _run(runs: pd.DataFrame) -> set[Combination]:
    return {Combination(*row) for row in runs[PANEL].itertuples(index=False, name=None)}


def _ordered(values: pd.Series, order: list[str]) -> list[str]:
    present = {str(value) for value in values}
    return [name for name in order if name in present] + sorted(present - set(order))
