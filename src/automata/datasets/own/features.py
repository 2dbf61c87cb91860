"""From the columns of a user's table to features: fitted on the training rows, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own.columns import Cells, Kind
from automata.datasets.own.paths import fault
from automata.datasets.own.tables import days_of
from automata.datasets.raw import Numbers

STATISTICS: dict[float | str, Callable[[Cells], Any]] = {"mean": np.nanmean, "median": np.nanmedian}
"""What `fill` may name in place of a number."""


@dataclass(frozen=True)
class Column:
    """How the cells of one column become features."""

    name: str
    kind: Kind
    fill: float | str | None = None
    """What missing cells become; None where there may be none."""
    categories: list[str] = field(default_factory=list)
    """Those of the training rows that have a feature of their own, sorted."""
    rare: bool = False
    """Whether one more feature is of all other categories."""

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        if self.kind != "categories":
            return [self.name]
        return [f"{self.name}={value}" for value in [*self.categories, *["(rare)"] * self.rare]]

    def transform(self, cells: Cells) -> Numbers:
        """Return the features (n, len(features)) of `cells`: none missing but those to fill."""
        cells = _filled(cells, self.fill)
        if self.kind != "categories":
            return cells.astype(np.float32)[:, None]
        places = pd.Index(self.categories, dtype=object).get_indexer(pd.Index(cells, dtype=object))
        block = np.zeros((len(cells), len(self.categories) + 1), dtype=np.float32)
        block[np.arange(len(cells)), places] = 1  # the last one where there is no such category
        return block[:, : len(self.features)]


def fit(
    name: str, kind: Kind, training: Cells, fill: float | str | None, rare_below: int | None
) -> Column:
    """Return a column by its cells in the training rows, missing ones of which become `fill`.

    Categories with fewer of these rows than `rare_below` share a feature.
    """
    if kind != "categories":
        return Column(name, kind, fill)
    counts = Counter(_filled(training, fill))
    common = sorted(value for value, rows in counts.items() if rows >= (rare_below or 1))
    return Column(name, kind, fill, common, len(common) < len(counts))


def missing(cells: Cells) -> NDArray[np.bool_]:
    """Return which cells (n,) are missing."""
    return np.asarray(pd.isna(cells))


def _filled(cells: Cells, fill: float | str | None) -> Cells:
    return cells if fill is None else np.where(missing(cells), fill, cells)


def fillings(
    own: OwnTabular, kinds: Mapping[str, Kind], gaps: Mapping[str, bool]
) -> dict[str, float | str]:
    """Return what `own.fill` gives for each column: for itself, or else for its kind.

    The latter where it has `gaps`: a missing cell in any file.
    """
    values = {column: value for column, value in own.fill.items() if column in kinds}
    for column, kind in kinds.items():
        of_kind = "texts" if kind == "categories" else "numbers"
        if column not in values and of_kind in own.fill and of_kind not in kinds and gaps[column]:
            values[column] = own.fill[of_kind]
    return values


def filling(where: str, kind: Kind, value: float | str, training: Cells) -> float | str:
    """Return what fills a column of a kind by `value`, with its cells in the training rows.

    Raises UserError, which begins with `where`, for what cannot.
    """
    if kind == "categories":
        return _category(where, value, training)
    if value in STATISTICS:
        if missing(training).all():
            raise fault(
                f"{where} has no number in the training rows, so no {value}: give a value, or "
                "drop it"
            )
        return float(STATISTICS[value](training))
    if isinstance(value, str):
        day = days_of(pd.Series([value]))[0] if kind == "dates" else np.nan
        if np.isnan(day):
            example = "a date" if kind == "dates" else "a number"
            raise fault(f"{where} holds {kind}, '{value}' is none: {example}, mean or median")
        return float(day)
    if not abs(value) <= float(np.finfo(np.float32).max):
        raise fault(f"{where}: {value} is not a finite number")
    return value


def _category(where: str, value: float | str, training: Cells) -> str:
    if value in STATISTICS:
        raise fault(f"{where} holds categories, which have no {value}: give a value")
    if value in (0.0, 1.0) and {*training} <= {"True", "False", None}:
        return str(bool(value))  # true and false of the configuration come as numbers
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
