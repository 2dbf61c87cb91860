"""What claims have in common: the words, the part of the grid, and what is evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import product
from typing import Annotated

import pandas as pd
from pydantic import Field

from automata.analysis.claims.finding import NO_RUNS_NEEDED, REPRODUCED, Finding, not_run
from automata.analysis.energy import follows_time
from automata.analysis.quantities import QUANTITIES, RATIOS
from automata.analysis.quantities import quantity as quantity_of
from automata.analysis.statistics import Spread, known, summarise
from automata.analysis.study import COMBINATION, RUN, Panel, Study, compared
from automata.config.base import Axis, Section, one_of
from automata.names import DATASETS, METHODS, SCHEDULERS, SEARCHES

Text = Annotated[str, Field(min_length=1)]
DatasetName = Annotated[str, one_of(DATASETS)]
SearchName = Annotated[str, one_of(SEARCHES)]
SchedulerName = Annotated[str, one_of(SCHEDULERS)]
SelectorName = Annotated[str, one_of(METHODS)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Around = Annotated[
    float, Field(ge=0, lt=1, description='How much less, as a share, "around" still covers')
]


class Claim(Section, ABC):
    """A claim of the paper."""

    quote: Annotated[Text, Field(description="The paper's words")]
    location: Annotated[Text, Field(description="Section, figure or caption")]
    reading: Annotated[
        str, Field(description="What the check takes the words to mean, where they are vague")
    ] = ""

    @property
    def panels(self) -> list[Panel]:
        """What it is about; nothing where it is not about the grid."""
        return []

    @property
    @abstractmethod
    def rule(self) -> str:
        """When the claim counts as reproduced, in a sentence for readers."""

    @abstractmethod
    def check(self, study: Study) -> Finding:
        """Return what `study` says of the claim."""


class UncheckedClaim(Claim):
    """A claim that is here so that nobody takes it for checked; `needs` says what it would take."""

    needs: Text

    @property
    def rule(self) -> str:
        """Say that there is none."""
        return "not checked here"

    def check(self, study: Study) -> Finding:
        """Return what a check would need; `study` is not looked at."""
        return not_run(f"needs {self.needs}")


class FootprintClaim(Claim):
    """Arithmetic on the paper's own numbers: no run can change it, so that it stands in the file.

    `arithmetic` is what is computed, `gives` its result, which must bear the claim out.
    """

    arithmetic: Text
    gives: Text

    @property
    def rule(self) -> str:
        """Say what is computed."""
        return self.arithmetic

    def check(self, study: Study) -> Finding:
        """Return the result; `study` is not looked at."""
        return Finding(REPRODUCED, self.gives, NO_RUNS_NEEDED)


class Grid(Section):
    """A part of the paper's grid."""

    datasets: Axis[DatasetName]
    searches: Axis[SearchName]
    schedulers: Axis[SchedulerName]
    fractions: Axis[Fraction]

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows in these panels, of all selectors and fractions."""
        return table[
            table["dataset"].isin(self.datasets)
            & table["search"].isin(self.searches)
            & table["scheduler"].isin(self.schedulers)
        ]

    def subsets(self, table: pd.DataFrame, selectors: Sequence[str]) -> pd.DataFrame:
        """Return the rows in these panels, of `selectors` and the fractions of the grid."""
        rows = self.rows(table)
        return rows[rows["selector"].isin(selectors) & rows["fraction"].isin(self.fractions)]

    def lacks_fractions(self, rows: pd.DataFrame) -> bool:
        """Say whether a fraction of the grid is not in `rows`."""
        return not set(self.fractions) <= set(rows["fraction"])


class GridClaim(Claim, ABC):
    """A claim about a part of the grid."""

    grid: Grid

    @property
    def panels(self) -> list[Panel]:
        """All combinations of data set, search and scheduler."""
        axes = self.grid.datasets, self.grid.searches, self.grid.schedulers
        return [Panel(*values) for values in product(*axes)]


class QuantityClaim(GridClaim, ABC):
    """A claim about a quantity, which it looks at through these methods alone.

    Energies that were estimated from CPU time alone follow time by construction: they are no
    evidence.
    """

    quantity: Annotated[str, one_of(RATIOS)] = "speedup"

    @property
    def _of_energy(self) -> bool:
        return quantity_of(self.quantity).of_energy

    @property
    def _but_estimates(self) -> str:
        """What a rule adds where the quantity rests on energy."""
        but = " (energy estimated from CPU time alone does not count: it follows time)"
        return but if self._of_energy else ""

    def _runs(self, study: Study) -> pd.DataFrame:
        """Return the runs that compare with their FULL and have the quantity."""
        rows = compared(study.ratios)
        if self._of_energy:
            rows = rows[~_estimated(rows)]
        if self.quantity not in rows:
            rows = rows.merge(study.runs[[*RUN, self.quantity]], on=RUN)
        return rows[rows[self.quantity].notna()]

    def _means(self, study: Study) -> pd.DataFrame:
        """Return the rows of the tradeoff table that have the quantity."""
        table = study.once(_of_measured_energy) if self._of_energy else study.tradeoff
        return table[table[self.quantity].notna()]

    def _why_missing(self, study: Study, selectors: Sequence[str], otherwise: str) -> str:
        """Return why no panel has the quantity: its energies follow time, or `otherwise`."""
        rows = self.grid.subsets(compared(study.ratios), selectors)
        if self._of_energy and _estimated(rows[rows[self.quantity].notna()]).any():
            return "energy was estimated from CPU time in these panels"
        return otherwise


def _of_measured_energy(study: Study) -> pd.DataFrame:
    """Return the tradeoff table, its energies over the seeds alone whose energy is evidence."""
    runs = compared(study.ratios)
    if runs.empty:  # an empty table has no types to merge by
        return study.tradeoff
    energies = {name: Spread(known(name)) for name, row in QUANTITIES.items() if row.of_energy}
    seeds = {"energy_seeds": lambda group: group["energy_ratio"].notna().sum()}
    measured = summarise(runs[~_estimated(runs)], COMBINATION, {**seeds, **energies})
    measured = measured.drop(columns="records")
    others = [*COMBINATION, *study.tradeoff.columns.difference(measured.columns)]
    return study.tradeoff[others].merge(measured, on=COMBINATION, how="left")


def _estimated(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows have an energy that was estimated from CPU time alone."""
    known = rows[["energy_method", "energy_source"]].astype(object)
    pairs = known.where(known.notna(), None).itertuples(index=False, name=None)
    return pd.Series([follows_time(*pair) for pair in pairs], index=rows.index, dtype=bool)
