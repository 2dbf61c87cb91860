"""A first description of a user's file: what its columns are to be, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from automata.config.data import OwnTabular
from automata.datasets.own.columns import Column, Refused, cells_of, decided, numbers_rows
from automata.datasets.own.folders import holds_texts
from automata.datasets.own.reader import Table, read_table
from automata.errors import UserError, listed

MOST_CLASSES = 100
"""A target with more values than this is not proposed."""

MANY_CATEGORIES, RARE_BELOW = 50, 10
"""In a column with more categories, those with fewer rows become one."""

TEXT_WORDS, TEXT_CHARACTERS = 4, 10
"""A column whose cells have so many words on average, or, in a script other than Latin, so many
characters, holds texts."""

MOST_BESIDE = 2
"""Other columns beside a text that are left out."""


@dataclass
class Guess:
    """The section `own_datasets` for a file, and the reasons."""

    own: dict[str, Any]
    reasons: dict[str, str] = field(default_factory=dict)
    """By key, or by the name of a column."""


def guess(path: Path, target: str | None, text: str | None, skip_rows: bool = False) -> Guess:
    """Return what the file or folder at `path` seems to be.

    Raises UserError for what no data set can be made of, and without a `target` for a table.
    """
    if not (path.is_file() or path.is_dir()):
        raise UserError(f"{path}: no file or folder")
    if path.is_dir() and holds_texts(path):
        return Guess({"kind": "text", "path": str(path)})
    if path.is_dir() or path.suffix.lower() == ".npz":
        mirrored = {"flip": "false where a mirrored image is another class, as with digits"}
        return Guess({"kind": "image", "path": str(path), "flip": True}, mirrored)
    table = read_table(path)
    own: dict[str, Any] = {"path": str(path), "target": target}
    reasons = {"path": "; ".join(table.notes)} if table.notes else {}
    names = pd.to_numeric(pd.Series(table.columns), errors="coerce")
    if table.separator and names.notna().mean() > 0.5:
        own["header"], reasons["header"] = False, "the first line is a row"
        table = read_table(path, OwnTabular(kind="tabular", path="-", target="-", header=False))
    if target not in table.columns:
        counts = {name: table.frame[name].nunique() for name in table.columns}
        few = [name for name, count in counts.items() if 2 <= count <= MOST_CLASSES]
        problem = "missing" if target is None else f"{target}: no such column"
        raise UserError(f"--target: {problem}; columns that can be classes: {listed(few)}")
    if skip_rows:
        own["skip_rows"], reasons["skip_rows"] = True, "without a class, or of a class of few rows"
    long = [name for name in table.columns if name != target and _is_long(table.frame[name])]
    if text or (len(long) == 1 and len(table.columns) - 2 <= MOST_BESIDE):
        reasons["text"] = "the column that holds the texts"
        return Guess({"kind": "text", **own, "text": text or long[0]}, reasons)
    return _table(table, {"kind": "tabular", **own}, reasons)


def _is_long(cells: pd.Series[Any]) -> bool:
    """Say whether a column holds texts, and not names."""
    texts = cells[cells != ""]
    if not len(texts):
        return False
    foreign = texts.str.contains(r"[^\W\d_a-zA-Z\u00c0-\u024f]").mean() > 0.5
    words, characters = texts.str.split().map(len).mean(), texts.map(len).mean()
    return bool(words >= TEXT_WORDS or (foreign and characters >= TEXT_CHARACTERS))


def _table(table: Table, own: dict[str, Any], reasons: dict[str, str]) -> Guess:
    """Return the description of a table: which columns are left out, or are categories."""
    reading = OwnTabular.model_validate(own)
    drop, categorical, many = [], [], []
    for name in [column for column in table.columns if column != own["target"]]:
        found, cells = decided(table, name, reading), table.frame[name]
        if reason := _why_dropped(table, name, found):
            drop.append(name)
        elif isinstance(found, Refused):
            categorical.append(name)
            reason = f"numbers and texts together: {found.reason}"
        elif found.kind == "number" and cells.str.fullmatch(r"0\d+").any():
            categorical.append(name)
            reason = "codes that begin with a zero"
        elif found.kind == "category" and cells.nunique() > MANY_CATEGORIES:
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
        return "" if found.is_mixed else found.reason
    if found.kind == "number" and numbers_rows(cells_of(table, found)):
        return "seems to number the rows"
    return ""
