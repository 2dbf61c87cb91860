"""A user's tables: numeric columns as they are, categories one-hot."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from automata.config.data import OwnTabular
from automata.datasets.own.columns import NUMERIC, Cells, days, is_categorical
from automata.datasets.own.filling import fill
from automata.datasets.own.header import features_of
from automata.datasets.own.layout import Layout
from automata.datasets.own.paths import checksums, fault, given_paths, source_of
from automata.datasets.own.splits import Part, assign, rows_by_class
from automata.datasets.own.tables import (
    Table,
    cell_names,
    holds,
    read_tables,
    require_columns,
    target_labels,
)
from automata.datasets.raw import Numbers, RawSplits, Rows

MOST_FEATURES = 100_000
MOST_BYTES = 4 * 2**30
"""Limits of a table as float32, all splits together: wider and larger ones are refused."""

_LOG = logging.getLogger(__name__)


def load(name: str, own: OwnTabular) -> RawSplits[Numbers]:
    """Return the splits of a user's table: inputs (n, features) float32.

    Features are in the order of the columns. A numeric column is one; a column of categories has
    one for each value in the training rows, in sorted order, and all are 0 for any other value.
    Nothing but the training rows decides how a row is encoded.

    Raises UserError for columns that are not there, cells that are missing or infinite, dates, and
    files that cannot be read or split.
    """
    paths = given_paths(name, own)
    said = own.model_dump()
    layout = Layout.of(said, f"own_datasets.{name}")
    tables = read_tables(paths, layout, words=[*own.categorical, *own.dates])
    require_columns(said, tables)
    columns = features_of(said, tables["train"].columns)
    if not columns:
        raise fault(f"{paths['train']}: there is no column but the target '{own.target}'")
    labels = {split: target_labels(table, own.target) for split, table in tables.items()}
    classes, parts = assign(name, labels)
    chosen = {c: is_categorical(tables["train"], c, own) for c in columns}
    cells = {
        split: {c: _cells(table, c, chosen[c], own) for c in columns}
        for split, table in tables.items()
    }
    filled = fill(name, own, tables, cells, parts["train"])
    _require_room(tables["train"], own, cells["train"], parts)
    features, inputs = _encode(cells, parts, own.rare_below)
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


def _cells(table: Table, column: str, categorical: bool, own: OwnTabular) -> Cells:
    """Return a column as `Cells`; raise UserError for infinity, and for what are no numbers."""
    cells = table.frame[column]
    if column in own.dates:
        return days(table, column)
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


def _require_room(
    table: Table, own: OwnTabular, training: Mapping[str, Cells], parts: Mapping[str, Part]
) -> None:
    """Raise UserError, before anything large is there, if the features are beyond the limits."""
    widths = {
        c: _width(found[parts["train"].rows], own.rare_below) for c, found in training.items()
    }
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


def _width(training: Cells, rare_below: int | None) -> int:
    """Return the number of features that a column with these training cells becomes."""
    if training.dtype != object:
        return 1
    counts = Counter(training)
    common = sum(count >= (rare_below or 1) for count in counts.values())
    return common + (common < len(counts))


def _encode(
    cells: Mapping[str, Mapping[str, Cells]], parts: Mapping[str, Part], rare_below: int | None
) -> tuple[list[str], dict[str, Numbers]]:
    """Return the names of the features, and the inputs (n, features) of each split.

    Categories with fewer training rows than `rare_below` share the last feature of their column,
    and so do those that no training row has.
    """
    features: list[str] = []
    blocks: dict[str, list[Numbers]] = {split: [] for split in parts}
    for column, training in cells["train"].items():
        rows = {s: cells[part.file][column][part.rows][:, None] for s, part in parts.items()}
        if training.dtype != object:
            features.append(column)
            block = {split: values.astype(np.float32) for split, values in rows.items()}
        else:
            encoder = OneHotEncoder(
                handle_unknown="ignore" if rare_below is None else "infrequent_if_exist",
                min_frequency=rare_below,
                sparse_output=False,
                dtype=np.float32,
            ).fit(rows["train"])
            features += [f"{column}={value}" for value in _categories(encoder)]
            block = {split: encoder.transform(values) for split, values in rows.items()}
        for split in parts:
            blocks[split].append(block[split])
    return features, {split: np.hstack(found) for split, found in blocks.items()}


def _categories(encoder: OneHotEncoder) -> list[str]:
    """Return the names of the features of one column, in the order in which they are encoded."""
    (known,), (rare,) = encoder.categories_, getattr(encoder, "infrequent_categories_", [None])
    if rare is None:
        return list(known)
    return [*(value for value in known if value not in set(rare)), "(rare)"]
