"""A user's tables: numeric columns as they are, categories one-hot."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own.columns import (
    Cells,
    Column,
    Refused,
    cells_of,
    decided,
    numbers_rows,
)
from automata.datasets.own.encoder import fit, missing, transform
from automata.datasets.own.paths import KEYS, fault, listed
from automata.datasets.own.reader import Table
from automata.datasets.own.splits import Part, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import RawSplits

MOST_FEATURES, MOST_BYTES = 100_000, 4 * 2**30
"""Limits of a table: features, and bytes as float32, all splits together."""

_LOG = logging.getLogger(__name__)


def load(name: str, own: OwnTabular) -> RawSplits[NDArray[np.float64]]:
    """Return the splits of a user's table: inputs (n, features) float64.

    Features are in the order of the columns. Nothing but the training rows decides how a row is
    encoded. Raises UserError, in one line, for what cannot be read, split or learned from.
    """
    read = read_own(name, own)
    train, rows = read.tables["train"], read.parts["train"].rows
    unread = {own.target, own.group, own.order, *own.drop}
    names = [column for column in train.columns if column not in unread]
    found = {column: decided(train, column, own) for column in names}
    empty = [it.name for it in found.values() if isinstance(it, Refused) and not it.remedy]
    refused = [it for it in found.values() if isinstance(it, Refused) and it.remedy]
    if refused:
        said = [f"column '{it.name}': {it.reason}: {it.remedy}" for it in refused[:5]]
        said += [f"and {len(refused) - 5} more columns"] * (len(refused) > 5)
        raise fault(f"{train.path}: {'; '.join(said)} (keys of own_datasets.{name})")
    kinds = [it for it in found.values() if isinstance(it, Column)]
    if not kinds:
        raise fault(f"{train.path}: there is no column but the target '{own.target}'")
    cells = {
        split: {column.name: cells_of(table, column) for column in kinds}
        for split, table in read.tables.items()
    }
    columns = [fit(column, cells["train"][column.name][rows], own, {*names}) for column in kinds]
    _require_room(train, columns, read.parts)
    notes = [*read.notes, *(f"column '{column}' has no cells: left out" for column in empty)]
    notes += _told(train, columns, cells, f"own_datasets.{name}")
    for note in notes:
        _LOG.info("%s: %s", train.path, note)
    notes += _kinds(columns)
    return raw_splits(
        {split: table.path for split, table in read.tables.items()},
        read.classes,
        read.parts,
        lambda part: _encode(columns, cells[part.file], part.rows),
        {
            "columns": [asdict(column) for column in columns],
            "encoding": train.encoding,
            "separator": train.separator,
        },
        features=[feature for column in columns for feature in column.features],
        read=notes,
    )


def _encode(
    columns: Sequence[Column], cells: Mapping[str, Cells], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the inputs (n, features) of some rows of a file."""
    return np.hstack([transform(column, cells[column.name][rows]) for column in columns])


def _told(
    train: Table, columns: Sequence[Column], cells: Mapping[str, Mapping[str, Cells]], key: str
) -> list[str]:
    """Return what a user should know of the columns, as sentences."""
    notes = []
    for column in columns:
        gaps = {KEYS[split]: missing(found[column.name]).sum() for split, found in cells.items()}
        if count := sum(gaps.values()):
            others = [f"{gaps[key]} of {key}" for key in ("validation", "test") if gaps.get(key)]
            where = f" ({listed(others)})" if others else ""
            shown = f"{column.fill:.4g}" if isinstance(column.fill, float) else column.fill
            marked = ", and a feature marks them" if column.marked else ""
            text = f"{count} missing cells{where} become {shown}{marked}"
            notes.append(f"column '{column.name}': {text}")
        if column.kind == "number" and numbers_rows(cells["train"][column.name]):
            whole = f"column '{column.name}' seems to number the rows ({key}.drop leaves it out)"
            notes.append(whole)
        for split, found in cells.items():
            unknown = (
                {*found[column.name]} - {*column.categories, None} if column.categories else {}
            )
            if unknown and split != "train" and not column.rare:
                shown = listed(sorted(unknown))
                notes.append(f"column '{column.name}': unknown in training: {shown}")
    return notes


def _kinds(columns: Sequence[Column]) -> Iterator[str]:
    """Yield for each kind of column what it becomes, and which columns are of it."""
    names: dict[str, list[str]] = {}
    for column in columns:
        if column.kind in ("truth", "category"):
            what, name = "categories", f"{column.name} ({len(column.features)})"
        else:
            order = {None: "", True: ", day first", False: ", month first"}[column.day_first]
            kind = "numbers" if column.kind == "number" else f"dates, as days since 1970{order}"
            what, name = kind + ", with a mark of gaps" * column.marked, column.name
        names.setdefault(what, []).append(name)
    for what, those in sorted(names.items()):
        yield f"{what}: {listed(those)}"


def _require_room(table: Table, columns: Sequence[Column], parts: Mapping[str, Part]) -> None:
    """Raise UserError, before anything large is there, if the features are beyond the limits."""
    widths = {column.name: len(column.features) for column in columns}
    features, rows = sum(widths.values()), sum(len(part.rows) for part in parts.values())
    size = rows * features * np.dtype(np.float32).itemsize
    if features > MOST_FEATURES or size > MOST_BYTES:
        widest = sorted(widths, key=lambda column: -widths[column])[:3]
        most = ", ".join(f"'{column}' {widths[column]:,}" for column in widest)
        key = table.dialect.key
        raise fault(
            f"{table.path}: {features:,} features x {rows:,} rows x 4 bytes are "
            f"{size / 2**30:,.1f} GiB, the most are {MOST_FEATURES:,} features and "
            f"{MOST_BYTES // 2**30} GiB; features by column: {most}; leave columns out "
            f"({key}.drop), or make one of rare categories ({key}.rare_below)"
        )
