"""A user's tables: numeric columns as they are, categories one-hot.

One encoder, fitted on the training rows, is kept as plain data, for test files and new rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from automata.config.data import OwnTabular
from automata.datasets.kinds import standardised
from automata.datasets.own.columns import (
    KINDS,
    Cells,
    Column,
    Refused,
    cells_of,
    days,
    decided,
)
from automata.datasets.own.reader import Table, cell_name, read_table
from automata.datasets.own.splits import KEYS, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import Numbers, RawSplits
from automata.errors import UserError, listed

GAP = "(missing)"
"""The category of missing cells, where training rows have some."""


def load(own: OwnTabular) -> RawSplits[NDArray[np.float64]]:
    """Return the splits of a user's table: inputs (n, features) float64.

    Features are in the order of the columns. Nothing but the training rows decides how a row is
    encoded.
    """
    read = read_own(own)
    train, rows = read.tables["train"], read.parts["train"].rows
    unread = {own.target, own.group, own.order, *own.drop}
    found = [decided(train, name, own) for name in train.columns if name not in unread]
    refused = [it for it in found if isinstance(it, Refused) and it.remedy]
    if refused:
        said = listed(f"column '{it.name}': {it.reason}: {it.remedy}" for it in refused)
        raise UserError(f"{train.path}: {said}")
    columns = [fit(it, cells_of(train, it)[rows], own) for it in found if isinstance(it, Column)]
    if not columns:
        raise UserError(f"{train.path}: there is no column but the target '{own.target}'")
    left_out = [*own.drop, *(f"{it.name} (no cells)" for it in found if isinstance(it, Refused))]
    inputs, notes = {}, [*read.notes, *[f"left out: {listed(left_out)}"] * bool(left_out)]
    for split, table in read.tables.items():
        inputs[split], odd = encoded(table, columns)
        notes += [f"{KEYS[split]}: {note}" for note in odd]
    return raw_splits(
        own,
        read.classes,
        read.parts,
        lambda part: inputs[part.file][part.rows],
        [*notes, *_kinds(columns)],
        columns=[asdict(column) for column in columns],
        encoding=train.encoding,
        separator=train.separator,
    )


def read_rows(
    path: Path, own: OwnTabular | None, encoding: Mapping[str, Any]
) -> tuple[Numbers, list[str], list[str]]:
    """Return new rows (n, features) float32, numbered from 1; see `automata.datasets.own`."""
    if own is None:
        raise UserError("the model is of official data: it reads no table")
    table = read_table(path, own, encoding.get("separator"), encoding.get("encoding"))
    columns = [Column(**column) for column in encoding["columns"]]
    table.require([column.name for column in columns], "the model needs")
    features, notes = encoded(table, columns)
    mean, scale = (np.array(encoding[key]) for key in ("mean", "scale"))
    return standardised(features, mean, scale), [*map(str, range(1, len(features) + 1))], notes


def fit(column: Column, training: Cells, own: OwnTabular) -> Column:
    """Return a column with what its cells in the training rows decide.

    Missing cells become what `own.fill` says, or else: numbers the median, and one more feature
    marks them; categories one of their own. A column without gaps is ready for those of other
    files: by the median, or by its most frequent category.
    """
    gaps = pd.isna(training)
    value = own.fill.get(column.name, own.fill.get(KINDS[column.is_number]))
    if column.is_number:
        fill = _filling(column, "median" if value is None else value, training)
        return replace(column, fill=fill, marked=bool(gaps.any()) and value is None)
    if value is not None:
        fill = _filling(column, value, training)
    elif gaps.any():
        fill = GAP
    else:
        fill = str(SimpleImputer(strategy="most_frequent").fit(training[:, None]).statistics_[0])
    filled = np.where(gaps, fill, training).astype(object)
    encoder = OneHotEncoder(min_frequency=own.rare_below).fit(filled[:, None])
    rare = encoder.infrequent_categories_[0] if own.rare_below else None
    common = np.setdiff1d(encoder.categories_[0], [] if rare is None else rare)
    return replace(column, fill=fill, categories=common.tolist(), rare=rare is not None)


def _filling(column: Column, value: bool | float | str, training: Cells) -> float | str:
    """Return what fills a column, where a user asks for `value`."""
    if value not in ("mean", "median"):
        if not column.is_number:
            return cell_name(value)
        is_day = column.kind == "date" and isinstance(value, str)
        number = days(pd.Series([value]), True)[0] if is_day else value
        if not isinstance(number, str) and np.isfinite(number):
            return float(number)
    elif column.is_number:
        imputer = SimpleImputer(strategy=str(value), keep_empty_features=True)
        return float(imputer.fit(training[:, None]).statistics_[0])
    raise UserError(f"fill: column '{column.name}' holds {column.kind} cells, {value} fills none")


def encoded(table: Table, columns: Sequence[Column]) -> tuple[NDArray[np.float64], list[str]]:
    """Return the features (n, d) of all rows of a file, and sentences on its odd cells."""
    blocks, notes = [], []
    for column in columns:
        cells = cells_of(table, column)
        gaps = pd.isna(cells)
        if gaps.any():
            shown = f"{column.fill:.4g}" if isinstance(column.fill, float) else column.fill
            marked = ", and a feature marks them" * column.marked
            notes.append(f"column '{column.name}': {gaps.sum()} gaps become {shown}{marked}")
        unknown = {*cells[~gaps]} - {*column.categories} if column.categories else set()
        if unknown and not column.rare:
            shown = listed(sorted(unknown))
            notes.append(f"column '{column.name}': categories without a training row: {shown}")
        blocks.append(_features(column, np.where(gaps, np.array(column.fill, object), cells), gaps))
    return np.hstack(blocks), notes


def _features(column: Column, filled: Cells, gaps: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the features (n, len(column.features)) of the cells of a column."""
    if column.is_number:
        values = filled.astype(np.float64)
        return np.column_stack([values, gaps] if column.marked else [values])
    known = pd.Index(column.categories, dtype=object)
    block = np.zeros((len(filled), len(known) + 1))
    # The last feature is that of a category that is not there: of rare ones, or of none.
    block[np.arange(len(filled)), known.get_indexer(pd.Index(filled, dtype=object))] = 1
    return block[:, : len(column.features)]


def _kinds(columns: Sequence[Column]) -> Iterator[str]:
    """Yield for each kind of column what it becomes, and which columns are of it."""
    names: dict[str, list[str]] = {}
    for column in columns:
        order = {None: "", True: ", day first", False: ", month first"}[column.day_first]
        date = f"dates, as days since 1970{order}"
        what = {"number": "numbers", "date": date}.get(column.kind, "categories")
        width = "" if column.is_number else f" ({len(column.features)})"
        names.setdefault(what, []).append(f"{column.name}{width}")
    yield from (f"{what}: {listed(those)}" for what, those in sorted(names.items()))
