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
from automata.datasets.own.cells import match_names
from automata.datasets.own.columns import Cells, Column, Refused, classify, parse_cells, quoted
from automata.datasets.own.reader import read_table
from automata.datasets.own.splits import NOTED, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import Numbers, RawSplits
from automata.errors import UserError, listed

GAP = "(missing)"

MOST_CATEGORIES = 255
"""The most frequent categories have a feature each, at most so many; the others share one."""


def load(own: OwnTabular) -> RawSplits[NDArray[np.float64]]:
    """Return the splits of a user's table; inputs (n, features) float64 in the order of columns."""
    read = read_own(own)
    train, rows = read.tables["train"], read.parts["train"].rows
    columns, cells, refused = [], {}, []
    described = {"left out (drop)": own.drop} if own.drop else {}
    for name in train.columns:
        if name in (own.target, own.group, own.order, *own.drop):
            continue
        column = classify(train, name, own)
        if isinstance(column, Column):
            cells[name] = parse_cells(train, column)
            column = fit_column(column, cells[name][0][rows], own)
        if isinstance(column, Column):
            columns.append(column)
            description = column.description(pd.isna(cells[name][0]))
        else:
            refused += [] if column.remedy == "drop" else [f"column '{name}': {column.reason}"]
            description = f"left out: {column.reason}"
        described.setdefault(description, []).append(name)
    if refused:
        raise UserError(f"{train.path}: {listed(refused)}; or leave columns out (drop)")
    if not columns:
        raise UserError(f"{train.path}: there is no column but the target '{own.target}'")
    notes = [*read.notes, *(f"{listed(names)}: {text}" for text, names in described.items())]
    encoded = {}
    for split, table in read.tables.items():
        if split != "train":
            cells = {column.name: parse_cells(table, column) for column in columns}
        encoded[split], changes = match_categories(columns, cells, with_gaps=split != "train")
        notes += [f"{NOTED[split]}: {note}" for note in changes]
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
    """Read new rows (n, features) float32 from a table, named by their numbers from 1."""
    if own is None:
        raise UserError("the model is of official data: it reads no table")
    table = read_table(path, own, encoding.get("separator"))
    columns = [Column(**column) for column in encoding["columns"]]
    table.require([column.name for column in columns], "the model needs")
    read = {column.name: parse_cells(table, column) for column in columns}
    cells, notes = match_categories(columns, read, with_gaps=True)
    rows = np.arange(len(table.frame))
    mean, scale = (np.array(encoding[key]) for key in ("mean", "scale"))
    inputs = standardised(features(columns, cells, rows), mean, scale)
    return inputs, [*map(str, rows + 1)], [*table.notes, *notes]


def fit_column(column: Column, training: Cells, own: OwnTabular) -> Column | Refused:
    """Return the column with its fill and categories, which its training cells (n,) decide."""
    gaps = pd.isna(training)
    if column.is_number:
        median = 0.0 if gaps.all() else float(np.median(training[~gaps]))
        return replace(column, fill=median, marked=bool(gaps.any()))
    counts = Counter(np.where(gaps, GAP, training).tolist())
    frequent = sorted(counts, key=lambda name: (-counts[name], name))
    kept = [name for name in frequent[:MOST_CATEGORIES] if counts[name] >= (own.rare_below or 1)]
    if not kept and len(counts) > 1:
        categories = f"one value of all its {len(counts)} categories"
        return Refused(f"rare_below: {own.rare_below} makes {categories}: lower it")
    fill = GAP if gaps.any() else frequent[0]
    return replace(column, fill=fill, categories=sorted(kept), rare=len(kept) < len(counts))


def match_categories(
    columns: Sequence[Column], read: Mapping[str, tuple[Cells, list[str]]], with_gaps: bool
) -> tuple[list[Cells], list[str]]:
    """Return parsed cells with categories as training rows spell them, and notes on changes."""
    matched, notes = [], []
    for column in columns:
        cells, odd = read[column.name]
        gaps, parts = pd.isna(cells), []
        if with_gaps and gaps.any():
            parts.append(f"{gaps.sum()} of {len(gaps)} cells are gaps{quoted(odd)}")
        if column.categories:
            unknown = {*cells[~gaps]} - {*column.categories}
            names = {} if column.rare else match_names(unknown, column.categories)
            cells = np.array([names.get(cell, cell) for cell in cells], dtype=object)
            parts += [f"'{text}' is read as '{name}'" for text, name in sorted(names.items())]
            if not column.rare and (new := sorted(unknown - names.keys())):
                parts.append(f"categories without a training row{quoted(new)}")
        matched.append(cells)
        notes += [f"{column.name}: {'; '.join(parts)}"] if parts else []
    return matched, notes


def features(
    columns: Sequence[Column], cells: Sequence[Cells], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the features (len(rows), d) of some rows, from the `cells` (n,) of each column."""
    inputs = np.zeros((len(rows), sum(len(column.features) for column in columns)))
    start = 0
    for column, all_cells in zip(columns, cells, strict=True):
        chosen = all_cells[rows]
        gaps = pd.isna(chosen)
        if column.is_number:
            inputs[:, start] = np.where(gaps, np.float64(column.fill), chosen)
            if column.marked:
                inputs[:, start + 1] = gaps
        else:
            numbers = {name: number for number, name in enumerate(column.categories)}
            other = len(numbers) if column.rare else -1
            fill = str(column.fill)
            codes = np.array([numbers.get(name or fill, other) for name in chosen], int)
            known = np.flatnonzero(codes >= 0)
            inputs[known, start + codes[known]] = 1
        start += len(column.features)
    return inputs
