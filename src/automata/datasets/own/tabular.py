"""A user's tables: numeric columns as they are, categories one-hot."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder

from automata.config.data import OwnTabular
from automata.datasets.own.paths import checksums, fault, given_paths, source_of
from automata.datasets.own.splits import Part, assign, rows_by_class
from automata.datasets.own.tables import (
    DATES,
    Table,
    cell_names,
    holds,
    read_tables,
    require_columns,
    require_same,
    target_labels,
)
from automata.datasets.raw import Numbers, RawSplits, Rows

Cells = NDArray[Any]
"""One column (n,): float64 with NaN, or strings with None, where cells are missing."""

NUMERIC = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}
CATEGORICAL = {"string", "boolean"}
STATISTICS: dict[float | str, Callable[[Cells], Any]] = {
    "mean": np.nanmean,
    "median": np.nanmedian,
}

_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")


def load(name: str, own: OwnTabular) -> RawSplits[Numbers]:
    """Return the splits of a user's table: inputs (n, features) float32.

    Features are in the order of the columns. A numeric column is one; a column of categories has
    one for each value in the training rows, in sorted order, and all are 0 for any other value.
    Nothing but the training rows decides how a row is encoded.

    Raises UserError for columns that are not there, cells that are missing or infinite, dates, and
    files that cannot be read or split.
    """
    paths = given_paths(name, own)
    tables = read_tables(paths, words=own.categorical)
    columns = _features(name, own, tables)
    labels = {split: target_labels(table, own.target) for split, table in tables.items()}
    classes, parts = assign(name, labels)
    chosen = {c: _is_categorical(tables["train"], c, own) for c in columns}
    cells = {
        split: {c: _cells(table, c, chosen[c]) for c in columns} for split, table in tables.items()
    }
    filled = _fill(name, own, tables, cells, parts["train"])
    features, inputs = _encode(cells, parts)
    return RawSplits(
        **{split: Rows(inputs[split], part.labels) for split, part in parts.items()},
        classes=classes,
        source=source_of(paths["train"]),
        files=checksums(paths),
        facts={
            "features": features,
            "filled": filled,
            "rows_by_class": rows_by_class(classes, parts),
        },
    )


def _features(name: str, own: OwnTabular, tables: Mapping[str, Table]) -> list[str]:
    """Return the columns that are features, in order, after a look at all names in `own`."""
    train = tables["train"]
    require_columns(train, f"own_datasets.{name}.target", [own.target], train.columns)
    columns = [column for column in train.columns if column != own.target]
    if not columns:
        raise fault(f"{train.path}: there is no column but the target '{own.target}'")
    require_columns(train, f"own_datasets.{name}.categorical", own.categorical, columns)
    require_columns(train, f"own_datasets.{name}.fill", own.fill, columns)
    require_same(name, tables)
    return columns


def _is_categorical(train: Table, column: str, own: OwnTabular) -> bool:
    """Return whether `column` is one of categories; raise UserError if it cannot be a feature."""
    if column in own.categorical:
        return True
    kind = holds(train, column)
    is_category = train.frame[column].dtype == "category"
    if kind == "string" and not is_category:
        _require_words(train, column)
    if kind in DATES or (kind == "string" and _are_dates(train, column)):
        raise fault(
            f"{train.where(column)}: it holds dates, which are no features: make numbers of them, "
            "drop the column, or name it in `categorical`"
        )
    if kind not in NUMERIC | CATEGORICAL:
        raise fault(
            f"{train.where(column)}: it holds {kind} values, features are numbers, text or "
            "true/false"
        )
    return kind in CATEGORICAL or is_category


def _require_words(train: Table, column: str) -> None:
    """Raise UserError for a column of numbers that a few other cells, such as "?", make text."""
    texts = train.frame[column].dropna().astype("str")
    broken = pd.to_numeric(texts, errors="coerce").isna().to_numpy()
    if len(broken) and 0 < broken.mean() < 0.5:
        row = int(np.flatnonzero(train.frame[column].notna())[broken.argmax()])
        found = train.frame[column][row]
        raise fault(
            f"{train.where(column)}: {train.place(row)}: '{found}' among numbers: empty the cell "
            "if it is missing, or name the column in `categorical`"
        )


def _are_dates(train: Table, column: str) -> bool:
    texts = [text for text in cell_names(train.frame[column]) if text is not None]
    return bool(texts) and all(_DATE.fullmatch(text.strip()) for text in texts)


def _cells(table: Table, column: str, categorical: bool) -> Cells:
    """Return a column as `Cells`; raise UserError for infinity, and for what are no numbers."""
    cells = table.frame[column]
    if categorical:
        return cell_names(cells)
    kind = holds(table, column)
    if kind not in NUMERIC:
        raise fault(
            f"{table.where(column)}: it holds {kind} values, but numbers in the training file"
        )
    # A copy: pandas gives out views that cannot be filled.
    values = cells.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    with np.errstate(over="ignore"):
        infinite = np.isinf(values.astype(np.float32))
    if infinite.any():
        row = int(infinite.argmax())
        raise fault(
            f"{table.where(column)}: {table.place(row)}: {values[row]} is infinite or beyond "
            "float32's 3.4e38"
        )
    return values


def _missing(cells: Cells) -> NDArray[np.bool_]:
    if cells.dtype == object:
        return np.array([cell is None for cell in cells], dtype=bool)
    return np.isnan(cells)


def _fill(
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
    for column in own.fill:
        training = cells["train"][column]
        filled[column] = _filling(name, own, tables["train"], column, training, train)
        for split in cells:
            cells[split][column][_missing(cells[split][column])] = filled[column]
    for split, table in tables.items():
        for column, found in cells[split].items():
            missing = _missing(found)
            if missing.any():
                remedy = f"give own_datasets.{name}.fill a value for it, or drop rows or column"
                raise table.nothing(column, missing, "cell(s)", remedy)
    return filled


def _filling(
    name: str, own: OwnTabular, table: Table, column: str, cells: Cells, train: Part
) -> float | str:
    """Return what fills the missing cells of `column`, by the training rows of `cells`."""
    value = own.fill[column]
    where = f"own_datasets.{name}.fill: column '{column}' of {table.path}"
    if cells.dtype == object:
        if value in STATISTICS:
            raise fault(f"{where} holds categories, which have no {value}: give a value")
        if value in (0.0, 1.0) and {*cells} <= {"True", "False", None}:
            return str(bool(value))  # true and false of the configuration come as numbers
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if isinstance(value, float):
        if not abs(value) <= float(np.finfo(np.float32).max):
            raise fault(f"{where}: {value} is not a finite number")
        return value
    if value not in STATISTICS:
        raise fault(f"{where} holds numbers, '{value}' is none: a number, mean or median")
    known = cells[train.rows]
    if np.isnan(known).all():
        raise fault(f"{where} has no number in the training rows, so no {value}: give a value")
    return float(STATISTICS[value](known))


def _encode(
    cells: Mapping[str, Mapping[str, Cells]], parts: Mapping[str, Part]
) -> tuple[list[str], dict[str, Numbers]]:
    """Return the names of the features, and the inputs (n, features) of each split."""
    features: list[str] = []
    blocks: dict[str, list[Numbers]] = {split: [] for split in parts}
    for column, training in cells["train"].items():
        rows = {s: cells[part.file][column][part.rows][:, None] for s, part in parts.items()}
        if training.dtype != object:
            features.append(column)
            block = {split: values.astype(np.float32) for split, values in rows.items()}
        else:
            encoder = OneHotEncoder(
                handle_unknown="ignore", sparse_output=False, dtype=np.float32
            ).fit(rows["train"])
            features += [f"{column}={value}" for value in encoder.categories_[0]]
            block = {split: encoder.transform(values) for split, values in rows.items()}
        for split in parts:
            blocks[split].append(block[split])
    return features, {split: np.hstack(found) for split, found in blocks.items()}
