"""A first description of a user's file: what its columns are to be, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automata.config.data import OwnTabular
from automata.datasets.own.columns import Column, Refused, cells_of, decided, numbers_rows
from automata.datasets.own.paths import fault, listed, problem_of_file
from automata.datasets.own.reader import Dialect, Table, is_text, read_table
from automata.datasets.own.text import holds_texts

MOST_CLASSES = 100
"""A target with more values than this is not proposed."""

MANY_CATEGORIES, RARE_BELOW = 50, 10
"""Of a column with more categories those with fewer rows become one."""

TEXT_WORDS, TEXT_CHARACTERS = 4, 30
"""Words, or characters without blanks between, of a cell on average, from which on it is a text."""

MOST_BESIDE = 2
"""Other columns beside a text that are left out."""


@dataclass
class Guess:
    """What `own_datasets` shall say of a file, and the reason for each entry that has one."""

    own: dict[str, Any]
    reasons: dict[str, str] = field(default_factory=dict)
    """By key, or by the name of a column."""


def guess(path: Path, target: str | None, text: str | None, skip_rows: bool = False) -> Guess:
    """Return what the file or folder at `path` seems to be.

    Raises UserError, in one line, for what no data set can be made of, and for a table without a
    `target`, with the columns that it can be.
    """
    problem = problem_of_file(str(path), "image")
    if problem is not None:
        raise fault(problem)
    if path.is_dir() and holds_texts(path):
        return Guess({"kind": "text", "path": str(path)})
    if path.is_dir() or path.suffix.lower() == ".npz":
        return Guess(
            {"kind": "image", "path": str(path), "flip": True},
            {"flip": "false where a mirrored image is another class, as with digits"},
        )
    table = read_table(path, Dialect(key="own_datasets"))
    own: dict[str, Any] = {"path": str(path)}
    reasons = {"path": "; ".join(table.notes)} if table.notes else {}
    if _lacks_header(table):
        table = read_table(path, Dialect(key="own_datasets", header=False))
        own["header"] = False
        reasons["header"] = "the first line is a row"
    _require_target(table, target)
    own |= {"target": target}
    if skip_rows:
        own["skip_rows"] = True
        reasons["skip_rows"] = "rows without a class, and classes of few rows"
    found = text or _text(table, str(target))
    if found is not None:
        return Guess(
            {"kind": "text", **own, "text": found},
            {**reasons, "text": "the column that holds the texts"},
        )
    return _table(table, {"kind": "tabular", **own}, reasons)


def _lacks_header(table: Table) -> bool:
    """Say whether the names of the columns are numbers, as a row has them."""
    if table.separator is None:
        return False
    named = pd.to_numeric(pd.Series(table.columns), errors="coerce").notna()
    return bool(named.mean() > 0.5)


def _require_target(table: Table, target: str | None) -> None:
    """Raise UserError, with the columns that can be classes, where `target` is none."""
    if target is None or target not in table.columns:
        counts = {column: table.frame[column].nunique() for column in table.columns}
        few = [column for column, count in counts.items() if 2 <= count <= MOST_CLASSES]
        said = "--target: missing" if target is None else f"--target: {target}: no such column"
        raise fault(f"{said}; columns that can be classes: {listed(few)}")


def _text(table: Table, target: str) -> str | None:
    """Return the column of texts, if there is one and little else."""
    others = [column for column in table.columns if column != target]
    long = [column for column in others if _is_long(table, column)]
    return long[0] if len(long) == 1 and len(others) - 1 <= MOST_BESIDE else None


def _is_long(table: Table, column: str) -> bool:
    cells = table.frame[column]
    texts = cells[cells != ""] if is_text(cells) else cells[:0]
    if not len(texts):
        return False
    words = texts.str.split().map(len).mean()
    foreign = texts.str.contains(r"[^\W\d_a-zA-Z\u00c0-\u024f]").mean() > 0.5
    return bool(words >= TEXT_WORDS or (foreign and texts.map(len).mean() >= TEXT_CHARACTERS / 3))


def _table(table: Table, own: dict[str, Any], reasons: dict[str, str]) -> Guess:
    """Return the description of a table: which columns are left out, or are categories."""
    reading = OwnTabular.model_validate(own)
    drop, categorical, many = [], [], []
    for name in [column for column in table.columns if column != own["target"]]:
        found = decided(table, name, reading)
        reason = _why_dropped(table, name, found)
        if reason:
            drop.append(name)
        elif isinstance(found, Refused):
            categorical.append(name)
            reason = f"numbers and texts together: {found.reason}"
        elif found.kind == "number" and _codes(table, name):
            categorical.append(name)
            reason = "codes that begin with a zero"
        elif found.kind == "category" and table.frame[name].nunique() > MANY_CATEGORIES:
            many.append(name)
        reasons |= {name: reason} if reason else {}
    own |= {"drop": drop} if drop else {}
    own |= {"categorical": categorical} if categorical else {}
    if many:
        own["rare_below"] = RARE_BELOW
        reasons["rare_below"] = f"many categories: {listed(many)}; those with fewer rows become one"
    return Guess(own, reasons)


def _why_dropped(table: Table, name: str, found: Column | Refused) -> str:
    """Return why a column is no feature; nothing if it is one."""
    if table.frame[name][~table.gaps(name)].nunique() <= 1:
        return "has one value"
    if isinstance(found, Refused):
        among_numbers = found.remedy.startswith("missing")
        return "" if among_numbers else found.reason
    if found.kind == "number":
        values = cells_of(table, found)
        if np.isfinite(values).all() and numbers_rows(values):
            return "seems to number the rows"
    return ""


def _codes(table: Table, name: str) -> bool:
    """Say whether some cells are digits that begin with a zero, such as "01069"."""
    cells = table.frame[name]
    return is_text(cells) and bool(cells.str.fullmatch(r"0\d+").any())
