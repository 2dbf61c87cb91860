"""A first description of a user's file: what each column seems to be, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from automata.config.data import OwnTabular
from automata.datasets.own.columns import (
    are_dates,
    kind_of,
    names_rows,
    seem_row_numbers,
)
from automata.datasets.own.header import SEPARATORS, Layout, columns_of, suffix_of
from automata.datasets.own.paths import fault, listed, problem_of_file
from automata.datasets.own.tables import CLASSIFIES, DATES, Table, holds, read_table, target_labels
from automata.errors import UserError

MOST_CLASSES = 100
"""A target of whole numbers with more values than this is no class."""

MARKS = ("?", "-", "--", ".", "missing", "Missing", "unknown", "Unknown", "none", "nil")
"""What people write for a missing number; what is always read so is not here."""

MANY_CATEGORIES, RARE_BELOW = 50, 10
"""Of a column with more categories those with fewer rows become one."""

TEXT_WORDS = 4
"""Words of a cell, on average, from which on a column is a text."""

MOST_BESIDE = 2
"""Other columns beside a text that are left out."""

_COMMA = re.compile(r"[-+]?\d+(,\d+)?")


@dataclass
class Guess:
    """What `own_datasets` shall say of a file, and the reason for each entry that has one."""

    own: dict[str, Any]
    reasons: dict[str, str] = field(default_factory=dict)
    """By key, or by the name of a column."""


def guess(path: Path, target: str | None, text: str | None) -> Guess:
    """Return what the file or folder at `path` seems to be.

    Raises UserError, in one line, for what no data set can be made of, and for a table without a
    `target`, with the columns that it can be.
    """
    problem = problem_of_file(str(path), "image")
    if problem is not None:
        raise fault(problem)
    if path.is_dir() or path.suffix.lower() == ".npz":
        return Guess(
            {"kind": "image", "path": str(path), "flip": True},
            {"flip": "false where a mirrored image is another class, as with digits"},
        )
    layout, reasons = _layout(path)
    written: dict[str, Any] = {key: it for key, it in layout.items() if it is not None}
    marks = _marks(read_table(path, Layout.of(written, "own_datasets")), {target, text})
    if marks:
        written["missing"] = marks
        reasons["missing"] = "beside numbers"
    table = read_table(path, Layout.of(written, "own_datasets"), texts=[text] if text else [])
    _require_target(table, target)
    assert target is not None
    own = {"kind": "tabular", "path": str(path), "target": target, **written}
    found = text or _text(table, target)
    if found is not None:
        own = {**own, "kind": "text", "text": found}
        for key in ("decimal", "missing"):
            own.pop(key, None)
        return Guess(own, {**reasons, "text": "the column that holds the texts"})
    return _table(table, own, reasons, _codes(path, table))


def _layout(path: Path) -> tuple[dict[str, str | None], dict[str, str]]:
    """Return separator, decimal mark and encoding of a text file where they are not the usual."""
    suffix = suffix_of(path)
    if suffix not in SEPARATORS:
        return {}, {}
    encoding = None if suffix.endswith(".gz") else _encoding(path)
    widths: dict[str, int] = {}
    refused: list[UserError] = []
    for separator in (SEPARATORS[suffix], ";", "\t", "|", ","):
        try:
            layout = Layout.of({"separator": separator, "encoding": encoding}, "own_datasets")
            widths.setdefault(separator, len(columns_of(path, layout) or []))
        except UserError as error:
            refused.append(error)
    if refused and max(widths.values(), default=0) <= 1:  # no separator makes a table of it
        raise refused[0]
    best = max(widths, key=lambda separator: widths[separator])
    said: dict[str, str | None] = {"separator": None if best == SEPARATORS[suffix] else best}
    said["encoding"] = encoding
    reading = {key: value for key, value in said.items() if value is not None}
    frame = read_table(path, Layout.of(reading, "own_datasets")).frame
    texts = [frame[column].dropna().astype(str) for column in frame if frame[column].dtype == "str"]
    commas = [cells for cells in texts if len(cells) and cells.str.fullmatch(_COMMA.pattern).all()]
    with_comma = best != "," and any(cells.str.contains(",").any() for cells in commas)
    said["decimal"] = "," if with_comma else None
    return said, dict.fromkeys(said, "as the file is written")


def _encoding(path: Path) -> str | None:
    head = path.read_bytes()[: 1 << 20]
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        head[: len(head) - 4].decode()
    except UnicodeDecodeError:
        return "cp1252"
    return None


def _marks(table: Table, but: Collection[str | None]) -> list[str]:
    """Return the marks that stand for missing cells in columns that are numbers otherwise."""
    found: set[str] = set()
    for column in table.columns:
        if column in but or holds(table, column) != "string":
            continue
        cells = table.frame[column].dropna().astype(str)
        marked = cells.isin(MARKS)
        numbers = pd.to_numeric(cells[~marked].str.replace(",", "."), errors="coerce")
        if marked.any() and len(numbers) and numbers.notna().all():
            found.update(cells[marked])
    return sorted(found)


def _require_target(table: Table, target: str | None) -> None:
    """Raise UserError for a target that is missing, no column, or a number of many values."""
    if target is None or target not in table.columns:
        counts = {column: table.frame[column].nunique() for column in table.columns}
        few = [column for column, count in counts.items() if 2 <= count <= MOST_CLASSES]
        said = "--target: missing" if target is None else f"--target: {target}: no such column"
        raise fault(f"{said}; columns that can be classes: {listed(few)}")
    target_labels(table, target)  # refuses gaps, fractions and dates
    cells = table.frame[target]
    if holds(table, target) == "integer" and cells.nunique() > MOST_CLASSES:
        raise fault(f"{table.where(target)}: {cells.nunique():,} different numbers: {CLASSIFIES}")


def _text(table: Table, target: str) -> str | None:
    """Return the column of texts, if there is one and little else."""
    others = [column for column in table.columns if column != target]
    long = [column for column in others if _words(table, column) >= TEXT_WORDS]
    return long[0] if len(long) == 1 and len(others) - 1 <= MOST_BESIDE else None


def _words(table: Table, column: str) -> float:
    if holds(table, column) != "string":  # nor all empty
        return 0.0
    cells = table.frame[column].dropna().astype(str)
    return sum(len(cell.split()) for cell in cells) / len(cells)


def _codes(path: Path, table: Table) -> set[str]:
    """Return the columns of digits of which some begin with a zero, such as "01069"."""
    spelled = read_table(path, table.layout, words=table.columns)
    found = set()
    for column in table.columns:
        if holds(table, column) == "integer" and holds(spelled, column) == "string":
            cells = spelled.frame[column].dropna()
            if cells.str.fullmatch(r"0\d+").any():
                found.add(column)
    return found


def _table(
    table: Table, own: dict[str, Any], reasons: dict[str, str], codes: Collection[str]
) -> Guess:
    lists: dict[str, list[str]] = {"drop": [], "dates": [], "categorical": []}
    gaps = {"numbers": False, "texts": False}
    many = []
    for column in table.columns:
        if column == own["target"]:
            continue
        key, reason = _role(table, column, own)
        if column in codes and not key:
            key, reason = "categorical", "codes that begin with a zero"
        if key:
            lists[key].append(column)
            reasons[column] = reason
        if key == "drop":
            continue
        is_number = not key and holds(table, column) not in ("string", "boolean")
        numeric = key == "dates" or is_number
        gaps["numbers" if numeric else "texts"] |= bool(table.empty(column).any())
        if not numeric and table.frame[column].nunique() > MANY_CATEGORIES:
            many.append(column)
    fill = {"numbers": "median", "texts": "missing"}
    own |= {key: columns for key, columns in lists.items() if columns}
    if any(gaps.values()):
        own["fill"] = {key: fill[key] for key, found in gaps.items() if found}
        reasons["fill"] = "what missing cells become, by kind of column"
    if many:
        own["rare_below"] = RARE_BELOW
        reasons["rare_below"] = f"many categories: {listed(many)}; those with fewer rows become one"
    return Guess(own, reasons)


def _role(table: Table, column: str, own: dict[str, Any]) -> tuple[str, str]:
    """Return the list that a column goes into, and why; nothing for what needs no list."""
    cells, kind = table.frame[column], holds(table, column)
    if cells.nunique() <= 1:
        return "drop", "has one value"
    if kind in DATES or (kind == "string" and are_dates(cells)):
        return "dates", "days since 1970"
    if kind == "integer" and seem_row_numbers(cells):
        return "drop", "seems to number the rows"
    if kind == "string" and names_rows(cells):
        return "drop", "differs in nearly every row"
    try:
        kind_of(table, column, OwnTabular.model_validate({**own, "rare_below": RARE_BELOW}))
    except UserError:
        if kind == "string":
            return "categorical", "numbers and texts together"
        return "drop", f"holds {kind} values"
    return "", ""
