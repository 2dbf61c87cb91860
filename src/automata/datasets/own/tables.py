"""A user's tables by split: their files, their classes, and who is in which split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from automata.config.data import OwnTabular, OwnText
from automata.datasets.own import splits
from automata.datasets.own.columns import KINDS, Refused, cells_of, decided, spelled
from automata.datasets.own.reader import Table, cell_name, read_table
from automata.datasets.own.splits import KEYS, FileLabels
from automata.errors import UserError

FEW_CLASSES, MOST_CLASSES = 20, 1000
"""Numbers with more different values are no classes: of a small table, of any."""


@dataclass(frozen=True)
class Tables:
    """The tables of a data set by split, its classes, and the rows of each split."""

    tables: dict[str, Table]
    classes: list[str]
    parts: dict[str, splits.Part]
    notes: list[str]
    """Decisions on files and rows, as sentences."""


def read_own(own: OwnTabular | OwnText) -> Tables:
    """Return the tables of a data set, its classes, and the rows of each split."""
    paths = splits.given_paths(own)
    train = read_table(paths.pop("train"), own)
    read = _read_columns(own, train)
    usual = train.separator, train.encoding
    tables = {"train": train} | {it: read_table(path, own, *usual) for it, path in paths.items()}
    notes, labels = [], {}
    for split, table in tables.items():
        table.require(read, f"{train.path} has")
        tables[split], labels[split] = _labelled(table, own)
        notes += [f"{KEYS[split]}: {note}" for note in table.notes]
    classes, parts = splits.assign(labels, _drawing(tables["train"], own))
    return Tables(tables, classes, parts, notes)


def _read_columns(own: OwnTabular | OwnText, train: Table) -> list[str]:
    """Return the columns that every file must have; raises UserError for wrong names in `own`."""
    given = own.model_dump()
    read = [own.target, own.text] if isinstance(own, OwnText) else train.columns
    for key in ("target", "text", "group", "order", "drop", "categorical", "dates", "fill"):
        value = given.get(key) or []
        columns = [value] if isinstance(value, str) else [*value]
        if key == "fill":
            columns = [name for name in columns if name not in KINDS.values()]
        train.require(columns, f"{key} names")
        if own.target in columns and key not in ("target", "categorical"):
            raise UserError(f"{key}: '{own.target}' is the target as well")
        if key in ("group", "order", "drop"):
            read = [name for name in read if name not in columns]
    if own.group and own.order:
        raise UserError("order: group is given as well: rows are split by one of them")
    return read


def _labelled(table: Table, own: OwnTabular | OwnText) -> tuple[Table, FileLabels]:
    """Return the rows that have a class, and their classes."""
    target = own.target
    as_it_is = isinstance(own, OwnTabular) and target in own.categorical
    names = table.frame[target].str.strip()
    gaps = (names == "").to_numpy() if as_it_is else table.gaps(target)
    left_out = np.zeros_like(gaps)
    if own.skip_rows:
        counts = names[~gaps].value_counts()
        few = counts.index[counts < 3 - bool(own.validation) - bool(own.test)]
        left_out = gaps | names.isin(few).to_numpy()
    elif gaps.any():
        raise UserError(
            f"{table.column(target)}: missing classes: {table.count(gaps)}: skip_rows: true "
            "(automata new --skip-rows) leaves such rows out; "
            f"categorical: [{target}] takes NA and the like as classes"
        )
    names = names[~left_out]
    if not as_it_is:
        names = names.map(_class_name)
        _require_classes(table, target, names)
    if left_out.any():
        table.notes.append(f"rows left out for their class: {table.count(left_out)}")
    rows = replace(table, frame=table.frame[~left_out])
    return rows, FileLabels(table.column(target), [*names])


def _class_name(text: str) -> str:
    """Return the name of a class: 1.0 is 1, and true is True, as spreadsheets and R write them."""
    try:
        return cell_name(float(text)) if float(text).is_integer() else text
    except ValueError:
        return spelled(text)


def _require_classes(table: Table, target: str, names: pd.Series[Any]) -> None:
    """Raise UserError for amounts: numbers that are not whole, or more than classes could be."""
    numbers = pd.to_numeric(names, errors="coerce")
    if not len(numbers) or numbers.isna().any():
        return
    count, most = numbers.nunique(), max(FEW_CLASSES, min(MOST_CLASSES, len(numbers) // 2))
    broken = names[numbers % 1 != 0]
    if len(broken) or count > most:
        shown = [*broken, *names][0]
        raise UserError(
            f"{table.column(target)}: {count:,} different numbers, such as {shown}, are amounts, "
            "and this project classifies: make classes of them, such as low and high"
        )


def _drawing(train: Table, own: OwnTabular | OwnText) -> splits.Draw:
    """Return how splits without a file are drawn; raises UserError for a column that will not do.

    Rows of one group stay together; in an order the last ones are drawn.
    """
    column = own.group or own.order
    if column is None:
        return splits.draw
    gaps = train.gaps(column)
    if gaps.any():
        raise UserError(f"{train.column(column)}: missing cells: {train.count(gaps)}")
    if own.group is not None:
        return partial(splits.draw_groups, train.frame[column].to_numpy(dtype=object))
    found = decided(train, column, OwnTabular(kind="tabular", path=own.path, target=own.target))
    if isinstance(found, Refused) or not found.is_number:
        raise UserError(f"{train.column(column)}: rows are ordered by numbers or dates alone")
    return partial(splits.draw_last, cells_of(train, found))
