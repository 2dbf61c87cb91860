"""A study, i.e. the tables in `results/{experiment}/tables/`, and its panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from automata import names
from automata.analysis.tables import read_csv, read_json, read_parquet, read_texts
from automata.analysis.views import BEST, CLAIMS, TABLES
from automata.loading import imported

PANEL = ["dataset", "search", "scheduler"]
"""The columns that name a panel."""

COMBINATION = [*PANEL, "selector", "fraction"]
"""The columns that name a combination, over whose seeds tables average."""

RUN = [*COMBINATION, "seed"]
"""The columns that name a run."""


class Panel(NamedTuple):
    """A data set, search and scheduler, whose runs share FULL runs and are drawn together."""

    dataset: str
    search: str
    scheduler: str

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Panel:
        """Return the panel of a row of a table."""
        return cls(*(row[axis] for axis in PANEL))

    @property
    def path(self) -> str:
        """The panel in paths: satimage/tpe-asha."""
        return f"{self.dataset}/{self.search}-{self.scheduler}"

    @property
    def method(self) -> str:
        """Search and scheduler: TPE, Hyperband."""
        return f"{names.search(self.search)}, {names.scheduler(self.scheduler)}"

    @property
    def tuner(self) -> str:
        """Search and scheduler as in the paper: TPE, HB."""
        return f"{names.search(self.search)}, {names.scheduler_look(self.scheduler).short}"

    @property
    def title(self) -> str:
        """The title as in the paper: SATIMAGE (TPE, HB)."""
        return f"{names.dataset(self.dataset)} ({self.tuner})"

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `table` that belong to the panel."""
        return table[(table[PANEL] == list(self)).all(axis=1)]


T = TypeVar("T")


def _table(name: str, read: Callable[[Path], T]) -> cached_property[T]:
    return cached_property(lambda study: read(study.folder / name))


@dataclass(frozen=True, eq=False)
class Study:
    """The tables of an experiment, each read at its first use."""

    folder: Path

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per record (`automata.analysis.runs`); published results have only the CSV."""
        parquet = self.folder / "runs.parquet"
        return read_parquet(parquet) if parquet.is_file() else read_csv(self.folder / "runs.csv")

    trials = _table("trials.parquet", read_parquet)
    """One row per evaluation of a trial (`automata.analysis.collect`)."""
    answers = _table("answers.parquet", read_parquet)
    """One row per class and answer of the test rows of own data."""
    training = _table("training.parquet", read_parquet)
    """One row per epoch of the training of each model of own data."""
    protocols = _table("protocols.json", read_json)
    """The settings behind each `protocol_hash` of the runs."""
    ratios = _table("ratios.csv", read_csv)
    """One row per search, compared with its FULL (`automata.analysis.ratios`)."""
    tradeoff = _table("tradeoff.csv", read_csv)
    """One row per combination, over its seeds (`automata.analysis.tradeoff`)."""
    untuned = _table("untuned.csv", read_csv)
    """One row per panel that has draws without tuning (`automata.analysis.tradeoff`)."""
    energy = _table("energy.csv", read_csv)
    """One row per run: seconds, energy and CO2 (`automata.analysis.energy`)."""
    differences = _table("differences.csv", read_texts)
    """Differences between the protocol and the paper's (`automata.analysis.differences`)."""


def tabulate(study: Study, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and content of each table; the caller must write it before taking the next.

    The parameters of a table's function name its arguments: `study`, one of its attributes, a key
    of `given` (`carbon`, `paper` and optionally `claims`), or the function of another table.
    Tables are made after those that they read; `study` stands for all of its attributes.
    """
    known = {**given, "study": study}
    skipped = () if "claims" in given else CLAIMS
    every = (*TABLES.values(), BEST)
    made = [table for table in every if table.make and table.name not in skipped]
    makes = {table.name: imported(f"automata.analysis.{table.make}") for table in made}
    stems = {name.removesuffix(".csv"): name for name in makes}
    attributes = {stem: name for stem, name in stems.items() if hasattr(Study, stem)}
    named = attributes | {make.__name__: name for name, make in makes.items()}
    order = {}
    for name, make in makes.items():
        reads = signature(make).parameters
        order[name] = {named[each] for each in reads if each in named}
        order[name] |= set(attributes.values()) if "study" in reads else set()
    for name in TopologicalSorter(order).static_order():
        make = makes[name]
        reads = signature(make).parameters
        arguments = (
            getattr(study, each) if hasattr(Study, each) else known[each] for each in reads
        )
        content = make(*arguments)
        known[make.__name__] = content
        yield name, content


def compared(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the table of ratios that are comparable with their FULL."""
    return ratios[ratios["refused"].isna()]


def datasets(table: pd.DataFrame) -> list[str]:
    """Return the data sets of `table`: first the paper's, in its order, then the user's own."""
    return names.ordered(table["dataset"].astype(str), names.DATASETS)


def selectors(table: pd.DataFrame) -> list[str]:
    """Return the selectors of `table` in the order of legends."""
    return names.ordered(table["selector"].astype(str), names.METHODS)


def fractions(table: pd.DataFrame) -> list[float]:
    """Return the subset sizes of `table` in rising order, without those of controls."""
    subsets = table[~table["selector"].isin(list(names.CONTROLS))]
    return sorted(float(value) for value in subsets["fraction"].unique())


def panels(table: pd.DataFrame) -> list[Panel]:
    """Return the panels with rows in `table`, in the paper's order: schedulers, then searches."""
    present = set(panel_of_each(table))
    schedulers = names.ordered(table["scheduler"].astype(str), names.SCHEDULERS)
    searches = names.ordered(table["search"].astype(str), names.SEARCHES)
    every = product(datasets(table), schedulers, searches)
    panels = [Panel(dataset, search, scheduler) for dataset, scheduler, search in every]
    return [panel for panel in panels if panel in present]


def panel_of_each(table: pd.DataFrame) -> list[Panel]:
    """Return the panel of each row of `table`."""
    return [Panel(*row) for row in table[PANEL].itertuples(index=False, name=None)]
