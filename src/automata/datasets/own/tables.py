"""A user's tables by split: their files, their classes, and who is in which split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnRows, OwnTabular, OwnText
from automata.datasets.own import splits
from automata.datasets.own.cells import matched, one_spelling
from automata.datasets.own.columns import Column, cells_of, decided
from automata.datasets.own.reader import Table, read_table
from automata.datasets.own.splits import KEYS, FileLabels
from automata.errors import UserError

FEW_CLASSES, MOST_CLASSES = 20, 1000
"""Numbers with more different values are no classes: of a small table, of any."""


class Tables(NamedTuple):
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
    labels, notes = dict[str, FileLabels](), list[str]()
    seen = pd.Series(dtype="uint64")
    for split, table in tables.items():
        table.require(read, f"{train.path} has")
        if own.drop_duplicates:
            digests = pd.util.hash_pandas_object(table.frame[read], index=False)
            again = digests.duplicated() | digests.isin(seen)
            seen = pd.concat([seen, digests])
            table = _without(table, again.to_numpy(), "repeated rows left out")
        known = labels["train"].names if labels else None
        tables[split], labels[split] = labelled(table, own, known)
        notes += [f"{KEYS[split]}: {note}" for note in table.notes]
    classes, parts = splits.assign(labels, _drawing(tables["train"], own))
    return Tables(tables, classes, parts, notes)


def _without(table: Table, rows: NDArray[np.bool_], what: str) -> Table:
    """Return a table without some rows (n,), which its notes count."""
    if not rows.any():
        return table
    table.notes.append(f"{what}: {table.count(rows)}")
    return replace(table, frame=table.frame[~rows])


def _read_columns(own: OwnRows, train: Table) -> list[str]:
    """Return the columns that every file must have; raises UserError for wrong names in `own`."""
    given = own.model_dump()
    for key in ("target", "text", "group", "order", "drop", "categorical"):
        value = given.get(key) or []
        columns = [value] if isinstance(value, str) else value
        train.require(columns, f"{key} names")
        if own.target in columns and key not in ("target", "categorical"):
            raise UserError(f"{key}: '{own.target}' is the target as well")
    if own.group and own.order:
        raise UserError("order: group is given as well: rows are split by one of them")
    read = [own.target, own.text] if isinstance(own, OwnText) else train.columns
    left_out = {own.group, own.order, *given.get("drop", [])}
    return [name for name in read if name not in left_out]


def labelled(table: Table, own: OwnRows, known: Sequence[str] | None) -> tuple[Table, FileLabels]:
    """Return the rows with a class, as the training file spells it; `known` are its classes."""
    target, where = own.target, table.column(own.target)
    as_it_is = isinstance(own, OwnTabular) and target in own.categorical
    names = pd.Series(table.cells(target), dtype=object)
    left_out = (names == "").to_numpy() if as_it_is else table.gaps(target)
    one = dict[str, str]()
    if known is not None and not as_it_is:
        one = matched(sorted({*names[~left_out]} - {*known}), {*known})
    elif not as_it_is:
        one = one_spelling(Counter(names[~left_out]))
    names = names.map(lambda text: one.get(text, text))
    if own.skip_rows:
        counts = names[~left_out].value_counts()
        few = counts.index[counts < 3 - bool(own.validation) - bool(own.test)]
        rare = few if known is None else counts.index.difference([*known])
        left_out = left_out | names.isin(rare).to_numpy()
    elif left_out.any():
        raise UserError(
            f"{where}: missing classes: {table.count(left_out)}: skip_rows: true (automata new "
            f"--skip-rows) leaves them out; categorical: [{target}] takes NA and None as classes"
        )
    rows = _without(table, left_out, "rows left out for their class")
    names = names[~left_out]
    if known is None and not as_it_is:
        _require_classes(where, target, names)
    if alike := [f"'{text}' is read as '{name}'" for text, name in one.items() if text != name]:
        table.notes.append(f"classes: {', '.join(alike)}")
    return rows, FileLabels(where, [*names])


def _require_classes(where: str, target: str, names: pd.Series[Any]) -> None:
    """Raise UserError for amounts: numbers that are not whole, or more than classes could be."""
    numbers = pd.to_numeric(names, errors="coerce")
    count, most = names.nunique(), max(FEW_CLASSES, min(MOST_CLASSES, len(numbers) // 2))
    broken = names[numbers % 1 != 0]
    if numbers.notna().all() and (len(broken) or count > most):
        raise UserError(
            f"{where}: {count:,} different numbers, such as {[*broken, *names][0]}, are amounts: "
            f"make classes of them, such as low and high; or, of a table, categorical: [{target}]"
        )


def _drawing(train: Table, own: OwnRows) -> splits.Draw:
    """Return how splits without a file are drawn; raises UserError for an unusable column."""
    column = own.group or own.order
    if column is None:
        return splits.draw
    if (gaps := train.gaps(column)).any():
        raise UserError(f"{train.column(column)}: missing cells: {train.count(gaps)}")
    plain = OwnTabular(kind="tabular", path=own.path, target=own.target)
    decimal = own.decimal if isinstance(own, OwnTabular) else None
    found = decided(train, column, plain.model_copy(update={"decimal": decimal}))
    if not isinstance(found, Column) or not found.is_number or found.missing:
        if own.order:
            raise UserError(f"{train.column(column)}: rows are ordered by numbers or dates alone")
        found = Column(column, "category")
    return partial(splits.draw_groups if own.group else splits.draw_last, cells_of(train, found)[0])
