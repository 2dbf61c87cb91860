"""A user's tables by split: their files, their classes, and who is in which split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from automata.config.data import OwnTabular, OwnText
from automata.datasets.own.columns import Refused, cells_of, decided
from automata.datasets.own.paths import KEYS, fault, given_paths, listed
from automata.datasets.own.reader import Dialect, Table, cell_name, read_table
from automata.datasets.own.splits import (
    Draw,
    FileLabels,
    Part,
    assign,
    draw,
    draw_groups,
    draw_last,
)

FEW_CLASSES, MOST_CLASSES = 20, 1000
"""Numbers with more different values are no classes: of a small table, of any."""

CLASSIFIES = (
    "this project classifies, and does not predict amounts; make classes of it, such as low and "
    "high"
)


@dataclass(frozen=True)
class Tables:
    """The tables of a data set by split, its classes, and the rows of each split."""

    tables: dict[str, Table]
    classes: list[str]
    parts: dict[str, Part]
    notes: list[str]
    """What was decided of files and rows, as sentences."""


def read_own(name: str, own: OwnTabular | OwnText) -> Tables:
    """Return the tables of the data set `name`, its classes, and the rows of each split.

    Raises UserError if a file cannot be read or split, or lacks a column.
    """
    dialect = Dialect.of(own.model_dump(), f"own_datasets.{name}")
    paths = given_paths(name, own)
    train, notes = read_table(paths["train"], dialect), []
    alike = replace(dialect, fallback=train.encoding, usual=train.separator)
    others = {split: read_table(path, alike) for split, path in paths.items() if split != "train"}
    tables = {"train": train, **others}
    for split, table in tables.items():
        _require_columns(own, train, table, f"own_datasets.{name}", split)
        notes += [f"{KEYS[split]}: {note}" for note in table.notes]
    labels: dict[str, FileLabels] = {}
    for split, table in tables.items():
        tables[split], labels[split], note = _labelled(table, own, f"own_datasets.{name}")
        notes += [note] if note else []
    classes, parts = assign(name, labels, _drawing(tables["train"], own))
    return Tables(tables, classes, parts, notes)


def _require_columns(
    own: OwnTabular | OwnText, train: Table, table: Table, key: str, split: str
) -> None:
    """Raise UserError if `own` names a column that is not there, or a file lacks one."""
    said = own.model_dump()
    if table is not train:
        read = {own.target, *([own.text] if isinstance(own, OwnText) else train.columns)}
        read -= {own.group, own.order, *(said.get("drop") or [])}
        absent = [one for one in train.columns if one in read and one not in table.columns]
        if absent:
            raise fault(
                f"{key}.{KEYS[split]}: {table.path} lacks columns that {train.path} has: "
                f"{listed(absent)}; it has {listed(table.columns)}"
            )
        return
    named = [(one, said[one]) for one in ("target", "text", "group", "order") if said.get(one)]
    named += [(one, it) for one in ("drop", "categorical", "dates") for it in said.get(one) or []]
    named += [("fill", it) for it in said.get("fill") or [] if it not in ("numbers", "texts")]
    for one, column in named:
        if column not in train.columns:
            raise fault(
                f"{key}.{one}: {train.path} has no column '{column}' for it: "
                f"{listed(train.columns)}"
            )
        if column == own.target and one not in ("target", "categorical"):
            raise fault(f"{key}.{one}: '{column}' is the target as well")
    if own.group and own.order:
        raise fault(f"{key}.order: {key}.group is given as well: rows are split by one of them")


def _labelled(
    table: Table, own: OwnTabular | OwnText, key: str
) -> tuple[Table, FileLabels, str | None]:
    """Return the table and the class of each row, and which rows were left out, if any."""
    target = own.target
    as_it_is = target in (own.categorical if isinstance(own, OwnTabular) else [])
    gaps = table.empty(target) if as_it_is else table.gaps(target)
    names = table.frame[target].map(cell_name).str.strip()
    left_out = gaps if own.skip_rows else np.zeros(len(gaps), dtype=bool)
    if own.skip_rows:
        needed = 3 - bool(own.validation) - bool(own.test)
        counts = names[~gaps].value_counts()
        left_out = left_out | names.isin(counts.index[counts < needed]).to_numpy()
    elif gaps.any():
        raise fault(
            f"{table.where(target)}: missing classes: {table.some(gaps)}: {key}.skip_rows: true "
            "(automata new --skip-rows) leaves such rows out; "
            f"{key}.categorical: [{target}] takes NA and the like as classes"
        )
    kept = ~left_out
    names = names[kept].reset_index(drop=True)
    rest = replace(table, frame=table.frame[kept].reset_index(drop=True))
    if not as_it_is:
        names = names.map(_class_name)
        _require_classes(table, target, names)
    note = f"rows left out for their class: {table.some(left_out)}" if left_out.any() else None
    places = np.flatnonzero(kept)
    labels = FileLabels(
        names.tolist(), table.where(target), lambda row: table.place(int(places[row]))
    )
    return rest, labels, note


def _class_name(text: str) -> str:
    """Return the name of a class: 1.0 is 1, and true is True, as spreadsheets and R write them."""
    try:
        number = float(text)
    except ValueError:
        return {"true": "True", "false": "False"}.get(text.lower(), text)
    return str(int(number)) if number.is_integer() else text


def _require_classes(table: Table, target: str, names: Any) -> None:
    """Raise UserError for amounts: numbers that are not whole, or more than classes could be."""
    numbers = pd.to_numeric(names, errors="coerce")
    if not len(numbers) or numbers.isna().any():
        return
    broken = (numbers % 1 != 0).to_numpy()
    if broken.any():
        found = names[broken].iloc[0]
        raise fault(f"{table.where(target)}: {found} is not a whole number: {CLASSIFIES}")
    if numbers.nunique() > max(FEW_CLASSES, min(MOST_CLASSES, len(numbers) // 2)):
        raise fault(f"{table.where(target)}: {numbers.nunique():,} different numbers: {CLASSIFIES}")


def _drawing(train: Table, own: OwnTabular | OwnText) -> Draw:
    """Return how splits without a file are drawn; raises UserError for a column that will not do.

    Rows of one group stay together; in an order the last ones are drawn.
    """
    column = own.group or own.order
    if column is None:
        return draw
    gaps = train.gaps(column)
    if gaps.any():
        raise fault(
            f"{train.where(column)}: missing cells: {train.some(gaps)}: every row needs one, to be "
            "split by it"
        )
    if own.group is not None:
        return partial(draw_groups, train.frame[column].map(cell_name).to_numpy(dtype=object))
    reading = OwnTabular(kind="tabular", path=own.path, target=own.target, rare_below=2)
    found = decided(train, column, reading)
    if isinstance(found, Refused) or found.kind not in ("number", "date"):
        raise fault(f"{train.where(column)}: rows are ordered by numbers or dates; it holds others")
    return partial(draw_last, cells_of(train, found))
