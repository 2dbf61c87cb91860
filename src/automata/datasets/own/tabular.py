"""A user's tables: numbers as they are, categories one-hot, as the training rows decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.kinds import standardised
from automata.datasets.own.cells import matched
from automata.datasets.own.columns import Cells, Column, Refused, cells_of, decided, shown
from automata.datasets.own.reader import read_table
from automata.datasets.own.splits import KEYS, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import Numbers, RawSplits
from automata.errors import UserError, listed

GAP = "(missing)"

MOST_CATEGORIES = 255
"""How many categories of a column have a feature of their own; the rarer ones share one."""


def load(own: OwnTabular) -> RawSplits[NDArray[np.float64]]:
    """Return the splits of a user's table: inputs (n, features) float64, in order of columns."""
    read = read_own(own)
    train, rows = read.tables["train"], read.parts["train"].rows
    columns, cells, refused = [], {}, []
    described = {"left out (drop)": own.drop} if own.drop else {}
    for name in train.columns:
        if name in (own.target, own.group, own.order, *own.drop):
            continue
        found = decided(train, name, own)
        if isinstance(found, Column):
            cells[name] = cells_of(train, found)
            found = fit(found, cells[name][0][rows], own)
        if isinstance(found, Column):
            columns.append(found)
            what = found.described(pd.isna(cells[name][0]))
        else:
            refused += [] if found.remedy == "drop" else [f"column '{name}': {found.reason}"]
            what = f"left out ({found.reason})"
        described.setdefault(what, []).append(name)
    if refused:
        raise UserError(f"{train.path}: {listed(refused)}; or leave columns out (drop)")
    if not columns:
        raise UserError(f"{train.path}: there is no column but the target '{own.target}'")
    notes = [*read.notes, *(f"{listed(names)}: {what}" for what, names in described.items())]
    encoded = {}
    for split, table in read.tables.items():
        if split != "train":
            cells = {it.name: cells_of(table, it) for it in columns}
        encoded[split], odd = encoded_cells(columns, cells, with_gaps=split != "train")
        notes += [f"{KEYS[split]}: {note}" for note in odd]
    return raw_splits(
        own,
        read.classes,
        read.parts,
        lambda part: features(columns, encoded[part.file], part.rows),
        notes,
        columns=[asdict(column) for column in columns],
        separator=train.separator,
    )


def read_rows(
    path: Path, own: OwnTabular | None, encoding: Mapping[str, Any]
) -> tuple[Numbers, list[str], list[str]]:
    """Return new rows (n, features) float32, numbered from 1; see `automata.datasets.own`."""
    if own is None:
        raise UserError("the model is of official data: it reads no table")
    table = read_table(path, own, encoding.get("separator"))
    columns = [Column(**column) for column in encoding["columns"]]
    table.require([column.name for column in columns], "the model needs")
    read = {column.name: cells_of(table, column) for column in columns}
    cells, notes = encoded_cells(columns, read, with_gaps=True)
    rows = np.arange(len(table.frame))
    mean, scale = (np.array(encoding[key]) for key in ("mean", "scale"))
    inputs = standardised(features(columns, cells, rows), mean, scale)
    return inputs, [*map(str, rows + 1)], [*table.notes, *notes]


def fit(column: Column, training: Cells, own: OwnTabular) -> Column | Refused:
    """Return a column with what its cells in the training rows decide, ready for other files."""
    gaps = pd.isna(training)
    if column.is_number:
        median = 0.0 if gaps.all() else float(np.median(training[~gaps]))
        return replace(column, fill=median, marked=bool(gaps.any()))
    counts = Counter(np.where(gaps, GAP, training).tolist())
    frequent = sorted(counts, key=lambda name: (-counts[name], name))
    common = [it for it in frequent[:MOST_CATEGORIES] if counts[it] >= (own.rare_below or 1)]
    if not common and len(counts) > 1:
        categories = f"one value of all its {len(counts)} categories"
        return Refused(column.name, f"rare_below: {own.rare_below} makes {categories}: lower it")
    fill = GAP if gaps.any() else frequent[0]
    return replace(column, fill=fill, categories=sorted(common), rare=len(common) < len(counts))


def encoded_cells(
    columns: Sequence[Column], read: Mapping[str, tuple[Cells, list[str]]], with_gaps: bool
) -> tuple[list[Cells], list[str]]:
    """Return the cells that `cells_of` has read, as training rows spell them, and notes on them."""
    every, notes = [], []
    for column in columns:
        cells, odd = read[column.name]
        gaps, parts = pd.isna(cells), []
        if with_gaps and gaps.any():
            parts.append(f"{gaps.sum()} of {len(gaps)} cells are gaps{shown(odd)}")
        if column.categories:
            unknown = {*cells[~gaps]} - {*column.categories}
            names = {} if column.rare else matched(unknown, column.categories)
            cells = np.array([names.get(it, it) for it in cells], dtype=object)
            parts += [f"'{text}' is read as '{name}'" for text, name in sorted(names.items())]
            if not column.rare and (new := sorted(unknown - names.keys())):
                parts.append(f"categories without a training row{shown(new)}")
        every.append(cells)
        notes += [f"{column.name}: {'; '.join(parts)}"] if parts else []
    return every, notes


def features(
    columns: Sequence[Column], cells: Sequence[Cells], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the features (len(rows), d) of the `cells` (n,) of each column in some rows."""
    inputs = np.zeros((len(rows), sum(len(column.features) for column in columns)))
    place = 0
    for column, every in zip(columns, cells, strict=True):
        some = every[rows]
        gaps = pd.isna(some)
        if column.is_number:
            inputs[:, place] = np.where(gaps, np.float64(column.fill), some)
            if column.marked:
                inputs[:, place + 1] = gaps
        else:
            numbers = {name: number for number, name in enumerate(column.categories)}
            other = len(numbers) if column.rare else -1
            fill = numbers.get(str(column.fill), other)
            codes = np.array([fill if it is None else numbers.get(it, other) for it in some], int)
            known = np.flatnonzero(codes >= 0)
            inputs[known, place + codes[known]] = 1
        place += len(column.features)
    return inputs
