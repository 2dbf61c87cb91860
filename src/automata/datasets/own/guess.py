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
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from automata.config.data import OwnTabular
from automata.datasets.own.columns import (
    IDENTIFIER,
    NUMBERING,
    Column,
    Refused,
    cells_of,
    decided,
)
from automata.datasets.own.folders import holds_texts
from automata.datasets.own.reader import Table, read_table
from automata.datasets.own.splits import FileLabels
from automata.datasets.own.tables import FEW_CLASSES, labelled
from automata.errors import UserError, listed

MOST_CLASSES = 100
"""A target with more values than this is not proposed."""

MANY_CATEGORIES, RARE_BELOW = 50, 10
"""In a column with more categories, those with fewer rows become one."""

TEXT_WORDS, TEXT_CHARACTERS = 4, 10
"""Average words, or characters in a script that is not Latin, of the cells of a column of texts."""

MOST_BESIDE = 2
"""Other columns beside a text that are left out."""


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

    @property
    def left_out(self) -> list[str]:
        """A line for each column that is left out for a reason found here."""
        dropped = [name for name in self.own.get("drop", []) if name in self.reasons]
        return [f"{name}: left out ({self.reasons[name]})" for name in dropped]


def guess(
    path: Path,
    target: str | None,
    text: str | None,
    skip_rows: bool = False,
    encoding: str | None = None,
) -> Guess:
    """Return what the file or folder at `path` seems to be; raises UserError if it is unusable."""
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
    reasons: dict[str, str] = {}
    names = pd.to_numeric(pd.Series(table.columns), errors="coerce")
    if table.separator and names.notna().mean() > 0.5 and target not in table.columns:
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
    classes = pd.to_numeric(table.frame[target], errors="coerce").dropna()
    if (classes % 1 != 0).any() and classes.nunique() <= FEW_CLASSES:
        own["categorical"], reasons[target] = [target], "each number is a class"
    reading = OwnTabular.model_validate(own)
    table, labels = labelled(table, reading, None)
    features: list[Column] = []
    for name in [column for column in table.columns if column != target]:
        found, different = decided(table, name, reading), len({*table.cells(name)})
        if isinstance(found, Refused) and found.remedy == "categorical":
            own.setdefault("categorical", []).append(name)
            reasons[name] = found.reason
        elif isinstance(found, Refused) or found.reason == NUMBERING:
            own.setdefault("drop", []).append(name)
            texts = f"; --text {name} classifies these texts" * (name in long)
            reasons[name] = f"{found.reason}{texts}"
        else:
            features.append(found)
            if found.kind == "date" and found.format:
                last = f"with order: {name} the last rows are the test set"
                guessed.advice.append(f"{name}: dates; {last}")
        if _GROUP.fullmatch(name) and 2 < different <= len(table.frame) / 2:
            guessed.advice.append(f"{name}: repeats; with group: {name} its rows stay in one split")
    if not features and "categorical" not in own:
        why = listed(f"{it} {reasons[it]}" for it in own.get("drop", [])) or "there is no other"
        raise UserError(f"{table.path}: no column can be a feature: {why}")
    measured = [it for it in features if it.reason != IDENTIFIER]
    for it in [it for it in features if it.reason == IDENTIFIER and measured]:
        if _accuracy(table, [it], labels) > _accuracy(table, measured, labels):
            own.setdefault("drop", []).append(it.name)
            reasons[it.name] = "predicts alone better than all others together: an identifier"
    counts = {it.name: Counter(table.cells(it.name)) for it in features if it.kind == "category"}
    many = [name for name, its in counts.items() if len(its) > MANY_CATEGORIES]
    # A column must not be left with one value.
    if many and min(max(its.values()) for its in counts.values()) >= 2 * RARE_BELOW:
        own["rare_below"] = RARE_BELOW
        reasons["rare_below"] = f"many categories: {listed(many)}; those with fewer rows become one"
    return guessed


def _accuracy(table: Table, columns: Sequence[Column], labels: FileLabels) -> float:
    """Return how well columns predict the classes of held-out rows."""
    cells = [cells_of(table, column)[0] for column in columns]
    inputs = [it if it.dtype != object else pd.factorize(it)[0] for it in cells]
    rows = slice(None, None, max(1, len(labels.names) // JUDGED))
    tree, folds = DecisionTreeClassifier(random_state=0), KFold(5, shuffle=True, random_state=0)
    features, names = np.column_stack(inputs)[rows], np.array(labels.names)[rows]
    return float(cross_val_score(tree, features, names, cv=folds).mean())
