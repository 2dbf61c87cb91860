"""Read a user's tables: the file of each split, the classes, and the rows of each split."""

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
from automata.datasets.own.cells import match_names, most_frequent_spellings
from automata.datasets.own.columns import Column, classify, parse_cells
from automata.datasets.own.reader import Table, read_table
from automata.datasets.own.splits import NOTED, FileLabels
from automata.errors import UserError

FEW_CLASSES, MOST_CLASSES = 20, 1000
"""More different numbers are not classes: in a small table, in any table."""


class Tables(NamedTuple):
    """The tables of a data set by split, its classes, and the rows of each split."""

    tables: dict[str, Table]
    classes: list[str]
    parts: dict[str, splits.Part]
    notes: list[str]
    """Sentences on how files and rows were read."""


def read_own(own: OwnTabular | OwnText) -> Tables:
    """Read the tables of a data set; see `Tables`."""
    paths = splits.given_paths(own)
    train = read_table(paths.pop("train"), own)
    columns = _required_columns(own, train)
    tables = {"train": train}
    tables |= {split: read_table(path, own, train.separator) for split, path in paths.items()}
    labels, notes = dict[str, FileLabels](), list[str]()
    seen = pd.Series(dtype="uint64")
    for split, table in tables.items():
        table.require(columns, f"{train.path} has")
        if own.drop_duplicates:
            digests = pd.util.hash_pandas_object(table.frame[columns], index=False)
            repeated = digests.duplicated() | digests.isin(seen)
            seen = pd.concat([seen, digests])
            table = _drop_rows(table, repeated.to_numpy(), "repeated rows left out")
        known = labels["train"].names if labels else None
        tables[split], labels[split] = labelled(table, own, known)
        notes += [f"{NOTED[split]}: {note}" for note in table.notes]
    classes, parts = splits.assign(labels, _draw_function(tables["train"], own))
    return Tables(tables, classes, parts, notes)


def _drop_rows(table: Table, rows: NDArray[np.bool_], reason: str) -> Table:
    """Return a table without some `rows` (n,), and note their number with the reason."""
    if not rows.any():
        return table
    table.notes.append(f"{reason}: {table.count(rows)}")
    return replace(table, frame=table.frame[~rows])


def _required_columns(own: OwnRows, train: Table) -> list[str]:
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
    used = [own.target, own.text] if isinstance(own, OwnText) else train.columns
    left_out = {own.group, own.order, *given.get("drop", [])}
    return [name for name in used if name not in left_out]


def labelled(table: Table, own: OwnRows, known: Sequence[str] | None) -> tuple[Table, FileLabels]:
    """Return the rows with a class, and the classes; `known` are those of the training file."""
    target, where = own.target, table.place(own.target)
    keeps_spelling = isinstance(own, OwnTabular) and target in own.categorical
    names = pd.Series(table.cells(target), dtype=object)
    left_out = (names == "").to_numpy() if keeps_spelling else table.is_missing(target)
    if keeps_spelling:
        spelling = {}
    elif known is None:
        spelling = most_frequent_spellings(Counter(names[~left_out]))
    else:
        spelling = match_names(sorted({*names[~left_out]} - {*known}), {*known})
    names = names.map(lambda text: spelling.get(text, text))
    if own.skip_rows:
        counts = names[~left_out].value_counts()
        few = counts.index[counts < 3 - bool(own.validation) - bool(own.test)]
        rare = few if known is None else counts.index.difference([*known])
        left_out = left_out | names.isin(rare).to_numpy()
    elif left_out.any():
        names_too = f"; categorical: [{target}] takes NA and None as classes"
        raise UserError(
            f"{where}: missing classes: {table.count(left_out)}: delete these rows, or "
            "leave them out by skip_rows: true (automata new --skip-rows)"
            f"{names_too * isinstance(own, OwnTabular)}"
        )
    rows = _drop_rows(table, left_out, "rows left out for their class")
    names = names[~left_out]
    if known is None and not keeps_spelling:
        _refuse_amounts(where, target, names)
    changes = [f"'{text}' is read as '{name}'" for text, name in spelling.items() if text != name]
    if changes:
        table.notes.append(f"classes: {', '.join(changes)}")
    return rows, FileLabels(where, [*names])


def _refuse_amounts(where: str, target: str, names: pd.Series[Any]) -> None:
    """Raise UserError if classes are fractions, or too many different numbers."""
    numbers = pd.to_numeric(names, errors="coerce")
    count, most = names.nunique(), max(FEW_CLASSES, min(MOST_CLASSES, len(numbers) // 2))
    broken = names[numbers % 1 != 0]
    if numbers.notna().all() and (len(broken) or count > most):
        raise UserError(
            f"{where}: {count:,} different numbers, such as {[*broken, *names][0]}, are amounts: "
            f"make classes of them, such as low and high; or, of a table, categorical: [{target}]"
        )


def _draw_function(train: Table, own: OwnRows) -> splits.Draw:
    """Return the function that draws splits without a file; raises UserError for a bad column."""
    name = own.group or own.order
    if name is None:
        return splits.draw
    if (missing := train.is_missing(name)).any():
        raise UserError(f"{train.place(name)}: missing cells: {train.count(missing)}")
    decimal = getattr(own, "decimal", None)
    plain = OwnTabular(kind="tabular", path=own.path, target=own.target, decimal=decimal)
    column = classify(train, name, plain)
    if not isinstance(column, Column) or not column.is_number or column.missing:
        if own.order:
            raise UserError(f"{train.place(name)}: rows are ordered by numbers or dates alone")
        column = Column(name, "category")
    draw = splits.draw_groups if own.group else splits.draw_last
    return partial(draw, parse_cells(train, column)[0])
