"""What all claims share: the quoted words, and the part of the grid that they are about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import product
from typing import Annotated

from pydantic import Field

from automata.analysis.claims.finding import Finding
from automata.analysis.study import Panel, Study
from automata.config.base import Section, axis, one_of
from automata.datasets.catalog import DATASETS
from automata.selection import SELECTORS
from automata.tuning import SCHEDULERS, SEARCHES

Text = Annotated[str, Field(min_length=1)]
DatasetName = Annotated[str, one_of(DATASETS)]
SearchName = Annotated[str, one_of(SEARCHES)]
SchedulerName = Annotated[str, one_of(SCHEDULERS)]
SelectorName = Annotated[str, one_of(SELECTORS)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Share = Annotated[float, Field(gt=0, le=1)]


class Claim(Section, ABC):
    """A claim of the paper."""

    quote: Annotated[Text, Field(description="The paper's words")]
    location: Annotated[Text, Field(description="Section, figure or caption")]
    reading: Annotated[
        str, Field(description="What the check takes the words to mean, where they are vague")
    ] = ""

    @property
    @abstractmethod
    def rule(self) -> str:
        """When the claim counts as reproduced, in a sentence for readers."""

    @abstractmethod
    def check(self, tables: Study) -> Finding:
        """Return what `tables` say of the claim."""


class Grid(Section):
    """A part of the paper's grid."""

    datasets: Annotated[list[DatasetName], axis()]
    searches: Annotated[list[SearchName], axis()]
    schedulers: Annotated[list[SchedulerName], axis()]
    fractions: Annotated[list[Fraction], axis()]

    @property
    def panels(self) -> list[Panel]:
        """All combinations of data set, search and scheduler."""
        return [Panel(*axes) for axes in product(self.datasets, self.searches, self.schedulers)]


class GridClaim(Claim, ABC):
    """A claim about a part of the grid."""

    grid: Grid
