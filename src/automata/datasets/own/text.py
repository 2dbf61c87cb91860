"""A user's texts: a column of them, and one of their classes."""

from __future__ import annotations

from automata.config.data import OwnText
from automata.datasets.own.layout import Layout
from automata.datasets.own.paths import checksums, fault, given_paths, source_of
from automata.datasets.own.splits import assign, rows_by_class
from automata.datasets.own.tables import (
    Table,
    holds,
    read_tables,
    require_columns,
    target_labels,
)
from automata.datasets.own.words import tokenise
from automata.datasets.raw import RawSplits, Rows, Tokens


def load(name: str, own: OwnText) -> RawSplits[Tokens]:
    """Return the splits of a user's texts as the words of each.

    Raises UserError for columns that are not there, missing texts or classes, and files that
    cannot be read or split.
    """
    paths = given_paths(name, own)
    said = own.model_dump()
    layout = Layout.of(said, f"own_datasets.{name}")
    tables = read_tables(paths, layout, texts=[own.text])
    require_columns(said, tables)
    labels = {split: target_labels(table, own.target) for split, table in tables.items()}
    classes, parts = assign(name, labels)
    words = {split: _words(table, own.text) for split, table in tables.items()}
    rows = {
        split: Rows([words[part.file][row] for row in part.rows], part.labels)
        for split, part in parts.items()
    }
    return RawSplits(
        **rows,
        classes=classes,
        source=source_of(paths["train"]),
        files=checksums(paths),
        facts={"rows_by_class": rows_by_class(classes, parts)},
    )


def _words(table: Table, column: str) -> Tokens:
    missing = table.empty(column, blank=True)
    if missing.any():
        raise table.nothing(column, missing, "text(s)", "drop such rows")
    kind = holds(table, column)
    if kind != "string":
        raise fault(f"{table.where(column)}: it holds {kind} values, not texts")
    return [tokenise(text) for text in table.frame[column].astype(object)]
