"""A first description of a user's file: what its columns are to be, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from automata.config.data import OwnTabular
from automata.datasets.own.columns import (
    FEWEST_NAMES,
    Cells,
    Column,
    Refused,
    cells_of,
    decided,
    numbers_rows,
)
from automata.datasets.own.folders import holds_texts
from automata.datasets.own.reader import Table, read_table
from automata.datasets.own.tables import FEW_CLASSES, labelled
from automata.datasets.prepared import Dataset
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


UNIQUE = 0.95
"""A column of whole numbers may be an identifier if this share of its cells differ."""

JUDGED = 2000
"""How many rows judge whether a column holds texts, and whether an identifier holds the class."""
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")

_GROUP = re.compile(
    r"(?:.*[\W_])?(?:id|patient|subject|person|participant|user|customer|client|session|speaker)s?"
    r"|.*[a-z]I[dD]s?"
)
"""Names of columns whose repeated cells may be one patient's or the like."""


@dataclass
class Guess:
    """The section `own_datasets` for a file, and the reasons."""

    own: dict[str, Any]
    reasons: dict[str, str] = field(default_factory=dict)
    """By key, or by the name of a column."""
    advice: list[str] = field(default_factory=list)
    """Sentences on keys that may be better."""
    identifiers: list[str] = field(default_factory=list)
    """Features of whole numbers that differ in nearly every row."""

    def drop(self, names: Sequence[str], reason: str) -> None:
        """Leave columns out."""
        self.own["drop"] = [*self.own.get("drop", []), *names]
        self.reasons |= dict.fromkeys(names, reason)


def guess(
    path: Path,
    target: str | None,
    text: str | None,
    skip_rows: bool = False,
    encoding: str | None = None,
) -> Guess:
    """Return what the file or folder at `path` seems to be.

    Raises UserError if the data is unusable, or if a table has no `target`.
    """
    if not (path.is_file() or path.is_dir()):
        raise UserError(f"{path}: no file or folder")
    spelled = {"encoding": encoding} if encoding else {}
    if path.is_dir() and holds_texts(path):
        return Guess({"kind": "text", "path": str(path), **spelled})
    if path.is_dir() or path.suffix.lower() == ".npz":
        mirrored = {"flip": "false where a mirrored image is another class, as with digits"}
        return Guess({"kind": "image", "path": str(path), "flip": True}, mirrored)
    plain = OwnTabular(kind="tabular", path=str(path), target=target or "-", encoding=encoding)
    table = read_table(path, plain)
    own: dict[str, Any] = {"path": str(path), "target": target, **spelled}
    reasons = {"path": "; ".join(table.notes)} if table.notes else {}
    names = pd.to_numeric(pd.Series(table.columns), errors="coerce")
    if table.separator and names.notna().mean() > 0.5:
        own["header"], reasons["header"] = False, "the first line is a row"
        table = read_table(path, plain.model_copy(update={"header": False}))
    if target not in table.columns:
        counts = {name: table.frame[name].nunique() for name in table.columns}
        few = [name for name, count in counts.items() if 2 <= count <= MOST_CLASSES]
        problem = "missing" if target is None else f"'{target}' is no column"
        raise UserError(f"--target: {problem}; columns that can be classes: {listed(few)}")
    if skip_rows:
        own["skip_rows"], reasons["skip_rows"] = True, "without a class, or of a class of few rows"
    others = [name for name in table.columns if name != target]
    long = [name for name in others if _is_long(table.cells(name)[:JUDGED])]
    if text or (len(long) == 1 and len(others) - 1 <= MOST_BESIDE):
        own["text"] = text or long[0]
        left_out = [name for name in others if name != own["text"]]
        reasons["text"] = "the column that holds the texts"
        advice = [f"{listed(left_out)}: left out (beside the texts)"] if left_out else []
        return Guess({"kind": "text", **own}, reasons, advice)
    return _table(table, Guess({"kind": "tabular", **own}, reasons), long)


def _is_long(cells: Sequence[str]) -> bool:
    """Say whether the first cells of a column are texts, and not names."""
    texts = [cell for cell in cells if cell]
    words, characters = (sum(map(len, it)) for it in (map(str.split, texts), texts))
    foreign = sum(bool(_FOREIGN.search(text)) for text in texts)
    return bool(texts) and (
        words >= TEXT_WORDS * len(texts)
        or (2 * foreign > len(texts) and characters >= TEXT_CHARACTERS * len(texts))
    )


def _table(table: Table, guessed: Guess, long: list[str]) -> Guess:
    """Return the description of a table: which columns are left out, or are categories."""
    own, reasons, target = guessed.own, guessed.reasons, guessed.own["target"]
    categorical, drop, many, frequent = [], [], [], []
    classes = pd.to_numeric(table.frame[target], errors="coerce").dropna()
    if (classes % 1 != 0).any() and classes.nunique() <= FEW_CLASSES:
        categorical.append(target)
        reasons[target] = "each number is a class"
    reading = OwnTabular.model_validate(own | {"categorical": categorical})
    table, _ = labelled(table, reading, None)
    for name in [column for column in table.columns if column != target]:
        found, counts = decided(table, name, reading), Counter(table.cells(name))
        different = len(counts.keys() - table.marks)
        values = np.zeros(0)
        if isinstance(found, Column) and found.kind == "number":
            values, _ = cells_of(table, found)
        if reason := _why_dropped(found, different, values):
            drop.append(name)
            reasons[name] = reason + f"; --text {name} classifies these texts" * (name in long)
        elif isinstance(found, Refused):
            categorical.append(name)
            reasons[name] = found.reason
        elif found.kind == "category":
            many += [name] if different > MANY_CATEGORIES else []
            frequent.append(max(counts.values()))
        elif found.kind == "date" and found.format:
            guessed.advice.append(f"{name}: order: {name} tests on the last rows")
        elif _is_identifier(values):
            guessed.identifiers.append(name)
            guessed.advice.append(f"{name}: looks like an identifier; drop: [{name}] leaves it out")
        if _GROUP.fullmatch(name) and 2 < different <= len(table.frame) / 2:
            guessed.advice.append(f"{name}: group: {name} keeps rows of one in the same split")
    if len(drop) == len(table.columns) - 1:
        why = listed(f"{name} {reasons[name]}" for name in drop)
        raise UserError(f"{table.path}: no column can be a feature: {why}")
    own |= {"drop": drop} if drop else {}
    own |= {"categorical": categorical} if categorical else {}
    if many and min(frequent) >= 2 * RARE_BELOW:  # else it might leave a column one value
        own["rare_below"] = RARE_BELOW
        reasons["rare_below"] = f"many categories: {listed(many)}; those with fewer rows become one"
    return guessed


def _why_dropped(found: Column | Refused, different: int, values: Cells) -> str:
    """Return why a column with so many different cells, or `values`, is no feature, or nothing."""
    if different <= 1:
        return "has one value"
    if isinstance(found, Refused):
        return "" if found.few else f"{found.reason}: {found.remedy}"
    return "seems to number the rows" if numbers_rows(values) else ""


def _is_identifier(values: Cells) -> bool:
    """Say whether numbers are whole, and differ in nearly every row."""
    if not len(values) or values[0] % 1 != 0:
        return False
    different = np.unique(values[~np.isnan(values)])
    many = len(different) >= max(FEWEST_NAMES, UNIQUE * len(values))
    return bool(many and (different % 1 == 0).all())


def best_alone(data: Dataset, names: Sequence[str]) -> list[str]:
    """Return those features of a table that predict alone better than all others together.

    They hold the class by accident, as numbers of sorted rows do.
    """
    if not names:
        return []
    features = [name for it in data.encoding["columns"] for name in Column(**it).features]
    inputs, labels = data.train.inputs[:JUDGED].numpy(), data.train.labels[:JUDGED].numpy()

    def accuracy(chosen: NDArray[np.bool_]) -> float:
        tree = DecisionTreeClassifier(random_state=0)
        return float(cross_val_score(tree, inputs[:, chosen], labels, cv=KFold(5)).mean())

    alone = {name: np.array([it == name for it in features]) for name in names}
    return [
        name
        for name, chosen in alone.items()
        if not chosen.all() and accuracy(chosen) > accuracy(~chosen)
    ]
