"""Propose the section `own_datasets` for a user's data, with a reason for each decision."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from automata.config.base import parsed
from automata.config.data import OwnTabular
from automata.datasets.own import columns
from automata.datasets.own.columns import Column, Refused
from automata.datasets.own.folders import holds_texts
from automata.datasets.own.reader import Table, read_table
from automata.datasets.own.splits import FileLabels
from automata.datasets.own.tables import FEW_CLASSES, labelled
from automata.errors import UserError, listed

MOST_PROPOSED = 100
"""A column with more different values is not proposed as the target."""

MANY_CATEGORIES, RARE_BELOW = 50, 10
"""If a column has more categories, all categories with fewer rows become one."""

TEXT_WORDS, TEXT_CHARACTERS = 4, 10
"""A column holds texts if its average cell has so many words, or characters that are not Latin."""

MOST_BESIDE = 2
"""A table is a set of texts if at most so many other columns stand beside its texts."""

DENSE = 10
"""The range of identifiers is at most so many times their count; that of prices is larger."""

JUDGED = 2000
"""How many rows decide whether a column holds texts, and whether an identifier holds the class."""

_NON_LATIN = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")

_GROUP = re.compile(
    r"(?i:(?:.*[\W_])?(?:id|patient|subject|person|participant|user|customer|client|session|speaker)s?)"
    r"|.*[a-z]I[dD]s?"
)
"""Names of columns that may identify groups of rows, such as the rows of one patient."""


@dataclass
class Guess:
    """A proposed section `own_datasets`, with its reasons."""

    own: dict[str, Any]
    reasons: dict[str, str] = field(default_factory=dict)
    """Reasons by key, or by column."""
    advice: list[str] = field(default_factory=list)
    """Sentences on further keys that may help."""

    @property
    def dropped(self) -> dict[str, str]:
        """The columns that the proposal leaves out, without those of the user, and the reasons."""
        names = self.own.get("drop", [])
        return {name: self.reasons[name] for name in names if name in self.reasons}

    @property
    def left_out(self) -> list[str]:
        """A line for each of these columns."""
        return [f"{name}: left out: {reason}" for name, reason in self.dropped.items()]


def guess(
    path: Path, target: str | None, text: str | None, asked: Mapping[str, Any] | None = None
) -> Guess:
    """Return a proposal with the keys `asked`, to which it adds columns that are left out.

    Raises UserError if data are unusable, or if a table has no `target`.
    """
    if not (path.is_file() or path.is_dir()):
        raise UserError(f"{path}: no file or folder")
    own: dict[str, Any] = {"path": str(path), **(asked or {})}
    text, target = text or own.get("text"), target and str(target).strip()  # `reader` strips names
    reasons: dict[str, str] = {}
    if path.is_dir() and holds_texts(path):
        return Guess({"kind": "text", **own})
    if path.is_dir() or path.suffix.lower() == ".npz":
        flip = "false where a mirrored image is another class, as with digits"
        return Guess({"kind": "image", "flip": True, **own}, {"flip": flip})
    known = {key: value for key, value in own.items() if key in OwnTabular.model_fields}
    plain = parsed(OwnTabular, {**known, "kind": "tabular", "target": target or "-"})
    table = read_table(path, plain)
    own = {"path": str(path), "target": target, **own}
    names = pd.to_numeric(pd.Series(table.columns), errors="coerce")
    nameless = "header" not in own and names.notna().mean() > 0.5 and target not in table.columns
    if table.separator and nameless:
        own["header"], reasons["header"] = False, "the first line is a row"
        table = read_table(path, plain.model_copy(update={"header": False}))
    if target not in table.columns:
        counts = {name: table.frame[name].nunique() for name in table.columns}
        few = [name for name, count in counts.items() if 2 <= count <= MOST_PROPOSED]
        problem = "missing" if target is None else f"there is no column '{target}'"
        raise UserError(f"target: {problem}; columns that can be classes: {listed(few)}")
    if own.get("skip_rows"):
        reasons["skip_rows"] = "without a class, or of a class of few rows"
    others = [name for name in table.columns if name != target]
    text_columns = [name for name in others if _are_texts(table, name, plain)]
    if text or (len(text_columns) == 1 and len(others) - 1 <= MOST_BESIDE):
        own["text"] = text or text_columns[0]
        reasons["text"] = "the column that holds the texts"
        left_out = [name for name in others if name != own["text"]]
        advice = [f"{listed(left_out)}: left out (beside the texts)"] if left_out else []
        return Guess({"kind": "text", **own}, reasons, advice)
    return _guess_table(table, Guess({"kind": "tabular", **own}, reasons), text_columns)


def _are_texts(table: Table, name: str, own: OwnTabular) -> bool:
    """Return whether cells are texts that a model reads word by word, not names, dates, answers."""
    texts = [cell for cell in table.cells(name)[:JUDGED] if cell]
    words, characters = sum(len(text.split()) for text in texts), sum(map(len, texts))
    non_latin = sum(bool(_NON_LATIN.search(text)) for text in texts)
    if not texts or not (
        (words >= TEXT_WORDS * len(texts) and len({*texts}) >= columns.FEWEST_NAMES)
        or (2 * non_latin > len(texts) and characters >= TEXT_CHARACTERS * len(texts))
    ):
        return False
    column = columns.classify(table, name, own)  # slow, so of such columns alone
    return not (isinstance(column, Column) and column.is_number)


def _guess_table(table: Table, result: Guess, text_columns: list[str]) -> Guess:
    """Add the columns of a table that are left out or are categories; return the result."""
    own, reasons, target = result.own, result.reasons, result.own["target"]
    own |= {key: [*own[key]] for key in ("categorical", "drop") if key in own}
    classes = pd.to_numeric(table.frame[target], errors="coerce").dropna()
    if (classes % 1 != 0).any() and classes.nunique() <= FEW_CLASSES:
        own["categorical"] = [*dict.fromkeys([*own.get("categorical", []), target])]
        reasons[target] = "each number is a class"
    settings = parsed(OwnTabular, own)
    table, labels = labelled(table, settings, None)
    features: list[Column] = []
    no_features = {target, settings.group, settings.order, *settings.drop}
    for name in [name for name in table.columns if name not in no_features]:
        column = columns.classify(table, name, settings)
        if isinstance(column, Refused) and column.remedy == "categorical":
            own.setdefault("categorical", []).append(name)
            reasons[name] = column.reason
        elif isinstance(column, Refused) or column.reason == columns.NUMBERING:
            own.setdefault("drop", []).append(name)
            texts = f"; text: {name} classifies these texts" * (name in text_columns)
            reasons[name] = f"{column.reason}{texts}"
        else:
            features.append(column)
            if column.kind == "date" and column.format:
                last = f"with order: {name} the last rows are the test set"
                result.advice.append(f"{name}: dates; {last}")
        if _GROUP.fullmatch(name) and 2 < len({*table.cells(name)}) <= len(table.frame) / 2:
            result.advice.append(f"{name}: repeats; with group: {name} its rows stay in one split")
    if not features and "categorical" not in own:
        why = listed(map(" ".join, result.dropped.items())) or "there is no other"
        raise UserError(f"{table.path}: no column can be a feature: {why}")
    identifiers = [it for it in features if it.reason == columns.IDENTIFIER and _dense(table, it)]
    others = [column for column in features if column not in identifiers]
    for column in identifiers if others else []:
        if _accuracy(table, [column], labels) > _accuracy(table, others, labels):
            own.setdefault("drop", []).append(column.name)
            reasons[column.name] = "predicts alone better than all others together: an identifier"
    categories = [column.name for column in features if column.kind == "category"]
    counts = {name: Counter(table.cells(name)) for name in categories}
    many = [name for name in categories if len(counts[name]) > MANY_CATEGORIES]
    most = [max(rows.values()) for rows in counts.values()]  # each column must keep two values
    if many and "rare_below" not in own and min(most) >= 2 * RARE_BELOW:
        own["rare_below"] = RARE_BELOW
        reasons["rare_below"] = f"many categories: {listed(many)}; those with fewer rows become one"
    return result


def _dense(table: Table, column: Column) -> bool:
    """Return whether the range of a column of numbers is at most DENSE times its rows."""
    values = columns.parse_cells(table, column)[0]
    return bool(np.nanmax(values) - np.nanmin(values) <= DENSE * len(values))


def _accuracy(table: Table, features: Sequence[Column], labels: FileLabels) -> float:
    """Return the cross-validated accuracy of a decision tree on these columns."""
    cells = [columns.parse_cells(table, column)[0] for column in features]
    inputs = [part if part.dtype != object else pd.factorize(part)[0] for part in cells]
    rows = slice(None, None, max(1, len(labels.names) // JUDGED))
    tree, folds = DecisionTreeClassifier(random_state=0), KFold(5, shuffle=True, random_state=0)
    chosen, names = np.column_stack(inputs)[rows], np.array(labels.names)[rows]
    return float(cross_val_score(tree, chosen, names, cv=folds).mean())
