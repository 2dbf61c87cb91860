"""Tables in a text that quote the results of an experiment, brought up to date with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from automata.analysis.tables import read_texts
from automata.errors import UserError

Cells = tuple[str, ...]

KEYS = frozenset(
    {
        "dataset",
        "search",
        "scheduler",
        "selector",
        "baseline",
        "fraction",
        "hyper-parameter",
        "epochs",
        "epoch",
        "id",
    }
)
"""Columns that say which row of a table one is; the others are what it says."""

CLAIM = ["id", "verdict", "firm", "ours"]
"""What is quoted of the table of claims."""

Quotable = dict[Cells, dict[Cells, Cells]]
"""The rows of tables by their heading, and there by the cells of their keys."""


def quotable(tables: Path) -> Quotable:
    """Return what may be quoted of the folder `tables`: the overview's tables, and the claims."""
    found: Quotable = {}
    for heading, row in rows((tables / "overview.md").read_text(encoding="utf-8")):
        found.setdefault(heading, {})[_key(heading, row)] = row
    claims = read_texts(tables / "claims.csv")[CLAIM]
    found[tuple(CLAIM)] = {(str(row[0]),): tuple(row) for row in claims.to_numpy().tolist()}
    return found


def rows(text: str) -> Iterator[tuple[Cells, Cells]]:
    """Yield each row of the Markdown tables in `text`, after the heading of its table."""
    for _, heading, row in _rows(text.splitlines()):
        yield heading, row


def quoted(text: str, known: Quotable) -> str:
    """Return `text` with each row of a table that is `known` by its heading as it is there.

    What a row has in the columns KEYS says which one it is; it may end after them. Other tables
    stay. Raises UserError for a row that is not in its table.
    """
    lines = text.splitlines()
    for number, heading, row in _rows(lines):
        if heading not in known:
            continue
        key = _key(heading, row)
        if key not in known[heading]:
            raise UserError(f"line {number + 1}: the results have no row of {', '.join(key)}")
        lines[number] = f"| {' | '.join(known[heading][key])} |"
    return "\n".join(lines) + "\n"


def _rows(lines: list[str]) -> Iterator[tuple[int, Cells, Cells]]:
    """Yield the place of each row of a table, the table's heading, and the row."""
    heading: Cells = ()
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            heading = ()
        elif not heading:
            heading = _cells(line)
        elif not line.startswith(("| ---", "|---")):
            yield number, heading, _cells(line)


def _cells(line: str) -> Cells:
    return tuple(line.removeprefix("| ").removesuffix(" |").split(" | "))


def _key(heading: Cells, row: Cells) -> Cells:
    """Return the cells of `row` that say which one it is."""
    return tuple(cell for name, cell in zip(heading, row, strict=False) if name in KEYS)
