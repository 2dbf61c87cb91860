"""Missing cells of a user's table: what they become, and the error for those that stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own.columns import Cells, days_of
from automata.datasets.own.paths import fault, listed
from automata.datasets.own.splits import Part
from automata.datasets.own.tables import Table
from automata.errors import UserError

STATISTICS: dict[float | str, Callable[[Cells], Any]] = {
    "mean": np.nanmean,
    "median": np.nanmedian,
}


def fill(
    name: str,
    own: OwnTabular,
    tables: Mapping[str, Table],
    cells: Mapping[str, dict[str, Cells]],
    train: Part,
) -> dict[str, float | str]:
    """Fill missing cells in place where `own.fill` says so, and return with what, by column.

    Raises UserError for any other missing cell.
    """
    filled = {}
    for column, value in _values(own, cells).items():
        training = cells["train"][column]
        filled[column] = _filling(name, own, tables["train"], column, value, training, train)
        for split in cells:
            cells[split][column][_missing(cells[split][column])] = filled[column]
    gaps = {
        split: {c: missing for c in found if (missing := _missing(found[c])).any()}
        for split, found in cells.items()
    }
    if any(gaps.values()):
        raise _gaps(name, tables, gaps)
    return filled


def _missing(cells: Cells) -> NDArray[np.bool_]:
    if cells.dtype == object:
        return np.array([cell is None for cell in cells], dtype=bool)
    return np.isnan(cells)


def _values(own: OwnTabular, cells: Mapping[str, Mapping[str, Cells]]) -> dict[str, float | str]:
    """Return what is given for each column: for itself, or else for all of its kind with gaps."""
    columns = cells["train"]
    values = {column: value for column, value in own.fill.items() if column in columns}
    for column, training in columns.items():
        kind = "texts" if training.dtype == object else "numbers"
        if column in values or kind not in own.fill or kind in columns:
            continue
        if any(_missing(found[column]).any() for found in cells.values()):
            values[column] = own.fill[kind]
    return values


def _gaps(
    name: str, tables: Mapping[str, Table], gaps: Mapping[str, Mapping[str, NDArray[np.bool_]]]
) -> UserError:
    """Return the error for missing cells: all columns that have any, and how many."""
    key = f"own_datasets.{name}"
    said = []
    for split, columns in gaps.items():
        if columns:
            counts = [
                f"column '{c}': {cells.sum()} missing cell(s)" for c, cells in columns.items()
            ]
            first = tables[split].place(min(int(cells.argmax()) for cells in columns.values()))
            said.append(f"{tables[split].path}: {listed(counts)}, the first in {first}")
    return fault(
        f"{'; '.join(said)}: give {key}.fill a value for each, as in {{numbers: median, texts: "
        f"missing}}, or drop rows or columns ({key}.drop)"
    )


def _filling(
    name: str,
    own: OwnTabular,
    table: Table,
    column: str,
    value: float | str,
    cells: Cells,
    train: Part,
) -> float | str:
    """Return what fills the missing cells of `column`, by the training rows of `cells`."""
    where = f"own_datasets.{name}.fill: column '{column}' of {table.path}"
    if cells.dtype == object:
        if value in STATISTICS:
            raise fault(f"{where} holds categories, which have no {value}: give a value")
        if value in (0.0, 1.0) and {*cells} <= {"True", "False", None}:
            return str(bool(value))  # true and false of the configuration come as numbers
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if column in own.dates and isinstance(value, str) and value not in STATISTICS:
        (day,) = days_of(pd.Series([value]))
        if np.isnan(day):
            raise fault(f"{where} holds dates, '{value}' is none: a date, mean or median")
        return float(day)
    if isinstance(value, float):
        if not abs(value) <= float(np.finfo(np.float32).max):
            raise fault(f"{where}: {value} is not a finite number")
        return value
    if value not in STATISTICS:
        raise fault(f"{where} holds numbers, '{value}' is none: a number, mean or median")
    known = cells[train.rows]
    if np.isnan(known).all():
        raise fault(
            f"{where} has no number in the training rows, so no {value}: give a value, or drop it"
        )
    return float(STATISTICS[value](known))
