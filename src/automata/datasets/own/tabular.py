"""A user's tables: numeric columns as they are, categories one-hot."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace

import numpy as np

from automata.config.data import OwnTabular
from automata.datasets.own.columns import Cells, cells_of, kind_of
from automata.datasets.own.features import Column, filling, fillings, fit, missing
from automata.datasets.own.header import MOST_FEATURES, features_of
from automata.datasets.own.paths import fault, listed
from automata.datasets.own.splits import Part, raw_splits
from automata.datasets.own.tables import Table, read_own
from automata.datasets.raw import Numbers, RawSplits
from automata.errors import UserError

MOST_BYTES = 4 * 2**30
"""Limit of a table as float32, all splits together: larger ones are refused."""

_LOG = logging.getLogger(__name__)


def load(name: str, own: OwnTabular) -> RawSplits[Numbers]:
    """Return the splits of a user's table: inputs (n, features) float32.

    Features are in the order of the columns. A numeric column is one; a column of categories has
    one for each value in the training rows, in sorted order, and all are 0 for any other value.
    Nothing but the training rows decides how a row is encoded.

    Raises UserError for columns that are not there, cells that are missing or infinite, dates, and
    files that cannot be read or split.
    """
    tables, classes, parts = read_own(name, own, words=[*own.categorical, *own.dates])
    train = tables["train"]
    names = features_of(own.model_dump(), train.columns)
    kinds = {c: kind_of(train, c, own) for c in names}
    cells = {
        split: {c: cells_of(table, c, kinds[c]) for c in names} for split, table in tables.items()
    }
    gaps = {c: any(missing(found[c]).any() for found in cells.values()) for c in names}
    training = {c: found[parts["train"].rows] for c, found in cells["train"].items()}
    filled = {
        c: filling(
            f"own_datasets.{name}.fill: column '{c}' of {train.path}", kinds[c], value, training[c]
        )
        for c, value in fillings(own, kinds, gaps).items()
    }
    _require_filled(name, tables, cells, filled)
    columns = [fit(c, kinds[c], training[c], filled.get(c), own.rare_below) for c in names]
    _require_room(train, columns, parts)
    return raw_splits(
        {split: table.path for split, table in tables.items()},
        classes,
        parts,
        lambda part: _encode(columns, cells[part.file], part),
        {"columns": [asdict(column) for column in _ready_for_gaps(own, columns, training)]},
        features=[feature for column in columns for feature in column.features],
        filled=filled,
    )


def _ready_for_gaps(
    own: OwnTabular, columns: list[Column], training: Mapping[str, Cells]
) -> Iterator[Column]:
    """Yield the columns for other files: those without gaps so far are filled as `own` says."""
    kinds = {column.name: column.kind for column in columns}
    wanted = fillings(own, kinds, dict.fromkeys(kinds, True))
    for column in columns:
        name, value = column.name, column.fill
        if value is None and name in wanted:
            with suppress(UserError):  # what fits no such column fills none
                value = filling(name, column.kind, wanted[name], training[name])
        yield replace(column, fill=value)


def _encode(columns: list[Column], cells: Mapping[str, Cells], part: Part) -> Numbers:
    """Return the inputs (n, features) of one split."""
    return np.hstack([column.transform(cells[column.name][part.rows]) for column in columns])


def _require_filled(
    name: str,
    tables: Mapping[str, Table],
    cells: Mapping[str, Mapping[str, Cells]],
    filled: Mapping[str, float | str],
) -> None:
    """Raise UserError for missing cells that nothing fills: all columns with any, and how many."""
    said = [text for split in tables for text in _gaps(tables[split], cells[split], filled)]
    if said:
        key = f"own_datasets.{name}"
        raise fault(
            f"{'; '.join(said)}: give {key}.fill a value for each, as in {{numbers: median, texts: "
            f"missing}}, or drop rows or columns ({key}.drop)"
        )


def _gaps(
    table: Table, cells: Mapping[str, Cells], filled: Mapping[str, float | str]
) -> Iterator[str]:
    """Yield what cells are missing in one file, if any are that nothing fills."""
    gaps = {c: missing(found) for c, found in cells.items() if c not in filled}
    gaps = {c: found for c, found in gaps.items() if found.any()}
    if gaps:
        counts = listed(f"column '{c}': {found.sum()} missing cell(s)" for c, found in gaps.items())
        first = min(int(found.argmax()) for found in gaps.values())
        yield f"{table.path}: {counts}, the first in {table.place(first)}"


def _require_room(table: Table, columns: list[Column], parts: Mapping[str, Part]) -> None:
    """Raise UserError, before anything large is there, if the features are beyond the limits."""
    widths = {column.name: len(column.features) for column in columns}
    features, rows = sum(widths.values()), sum(len(part.rows) for part in parts.values())
    size = rows * features * np.dtype(np.float32).itemsize
    widest = sorted(widths, key=lambda column: -widths[column])[:3]
    most = ", ".join(f"'{column}' {widths[column]:,}" for column in widest)
    _LOG.info("%s: %d features, most of them by %s", table.path, features, most)
    if features > MOST_FEATURES or size > MOST_BYTES:
        key = table.layout.key
        raise fault(
            f"{table.path}: {features:,} features x {rows:,} rows x 4 bytes are "
            f"{size / 2**30:,.1f} GiB, the most are {MOST_FEATURES:,} features and "
            f"{MOST_BYTES // 2**30} GiB; features by column: {most}; leave columns out "
            f"({key}.drop), or make one of rare categories ({key}.rare_below)"
        )
