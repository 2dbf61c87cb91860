"""A user's tables by split: their files, their classes, and who is in which split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from automata.config.data import OwnTabular, OwnText
from automata.datasets.own import splits
from automata.datasets.own.cells import matched, one_spelling
from automata.datasets.own.columns import Column, cells_of, decided
from automata.datasets.own.reader import Table, read_table
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
    tables = {"train": train}
    tables |= {split: read_table(path, own, train.separator) for split, path in paths.items()}
    notes: list[str] = []
    labels: dict[str, FileLabels] = {}
    seen = pd.Series(dtype="uint64")
    for split, table in tables.items():
        table.require(read, f"{train.path} has")
        if own.drop_duplicates:
            table, seen = _once(table, read, seen)
        known = labels["train"].names if split != "train" else None
        tables[split], labels[split] = labelled(table, own, known)
        notes += [f"{KEYS[split]}: {note}" for note in table.notes]
    classes, parts = splits.assign(labels, _drawing(tables["train"], own))
    return Tables(tables, classes, parts, notes)


def _once(table: Table, read: list[str], seen: pd.Series[Any]) -> tuple[Table, pd.Series[Any]]:
    """Return the table without rows that repeat one above or in `seen`, and all digests of rows."""
    digests = pd.util.hash_pandas_object(table.frame[read], index=False)
    again = digests.duplicated() | digests.isin(seen)
    if again.any():
        table.notes.append(f"repeated rows left out: {table.count(again.to_numpy())}")
    return replace(table, frame=table.frame[~again]), pd.concat([seen, digests])


def _read_columns(own: OwnTabular | OwnText, train: Table) -> list[str]:
    """Return the columns that every file must have; raises UserError for wrong names in `own`."""
    given = own.model_dump()
    read = [own.target, own.text] if isinstance(own, OwnText) else train.columns
    for key in ("target", "text", "group", "order", "drop", "categorical"):
        value = given.get(key) or []
        columns = [value] if isinstance(value, str) else [*value]
        train.require(columns, f"{key} names")
        if own.target in columns and key not in ("target", "categorical"):
            raise UserError(f"{key}: '{own.target}' is the target as well")
        if key in ("group", "order", "drop"):
            read = [name for name in read if name not in columns]
    if own.group and own.order:
        raise UserError("order: group is given as well: rows are split by one of them")
    return read


def labelled(
    table: Table, own: OwnTabular | OwnText, known: Sequence[str] | None
) -> tuple[Table, FileLabels]:
    """Return the rows that have a class, and their classes as the training file spells them.

    `known` are the classes of the training file, None for that file itself.
    """
    target = own.target
    as_it_is = isinstance(own, OwnTabular) and target in own.categorical
    names = pd.Series(table.cells(target), table.frame.index, dtype=object)
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
    if left_out.any():
        table.notes.append(f"rows left out for their class: {table.count(left_out)}")
    names = names[~left_out]
    if not as_it_is:
        if known is None:
            _require_classes(table, target, names)
            one = one_spelling(Counter(names))
        else:
            one = matched(sorted({*names} - {*known}), {*known})
        if other := {text: name for text, name in one.items() if text != name}:
            alike = ", ".join(f"'{text}' is read as '{name}'" for text, name in other.items())
            table.notes.append(f"classes: {alike}")
        names = names.map(lambda text: one.get(text, text))
    rows = replace(table, frame=table.frame[~left_out])
    return rows, FileLabels(table.column(target), [*names])


def _require_classes(table: Table, target: str, names: pd.Series[Any]) -> None:
    """Raise UserError for amounts: numbers that are not whole, or more than classes could be."""
    numbers = pd.to_numeric(names, errors="coerce")
    if not len(numbers) or numbers.isna().any():
        return
    count, most = names.nunique(), max(FEW_CLASSES, min(MOST_CLASSES, len(numbers) // 2))
    broken = names[numbers % 1 != 0]
    if len(broken) or count > most:
        example = [*broken, *names][0]
        raise UserError(
            f"{table.column(target)}: {count:,} different numbers, such as {example}, are amounts, "
            "and this project classifies: make classes of them, such as low and high; of a table, "
            f"categorical: [{target}] takes each number as a class"
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
    plain = OwnTabular(kind="tabular", path=own.path, target=own.target, rare_below=2)
    found = decided(train, column, plain)
    is_number = isinstance(found, Column) and found.is_number and not found.missing
    if own.group is not None:
        kind = found if isinstance(found, Column) and is_number else Column(column, "category")
        return partial(splits.draw_groups, cells_of(train, kind)[0])
    if not isinstance(found, Column) or not is_number:
        raise UserError(f"{train.column(column)}: rows are ordered by numbers or dates alone")
    return partial(splits.draw_last, cells_of(train, found)[0])
