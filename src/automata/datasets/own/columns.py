"""The kinds of a table's columns, decided once from the training file, as plain data."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own import cells as spelling
from automata.datasets.own.reader import Table
from automata.errors import UserError

Cells = NDArray[Any]
"""One column (n,): float64 with NaN, or names with None, where cells are missing."""

MARKS = ("?", "-", "--", ".", "missing", "Missing", "unknown", "Unknown", "none", "nil")
"""Further marks of a missing cell in a column of numbers or dates."""

MOST_ODD = 0.05
"""The largest share of cells in a column of numbers or dates that are neither, and so gaps."""

FEWEST_NAMES, NAMES_PER_ROW = 20, 0.9
"""A column of texts names rows if it has at least so many different ones, and so many per row."""

NUMBERING = "seems to number the rows"
IDENTIFIER = "looks like an identifier: drop leaves it out"
UNIQUE = 0.95
"""The share of cells that differ in an identifier of whole numbers."""

MOST_UNITS = 3
"""Numbers with more different units are codes such as 12a and 12b."""

EXAMPLES = 5
"""How many odd cells or names a sentence shows."""


@dataclass(frozen=True)
class Column:
    """How the cells of one column are read, and how they become features."""

    name: str
    kind: Literal["number", "date", "category"]
    reason: str = ""
    """What decided the kind, unless it is plain."""
    decimal: str = "."
    unit: str = ""
    format: str = ""
    """The format of dates, one of `cells.DATES`."""
    missing: list[str] = field(default_factory=list)
    fill: float | str | None = None
    marked: bool = False
    """Whether one more feature marks the missing cells."""
    categories: list[str] = field(default_factory=list)
    """Those of the training rows that have a feature of their own, sorted."""
    rare: bool = False
    """Whether one more feature marks all other categories."""

    @property
    def is_number(self) -> bool:
        """Whether cells become one number, and not one of several categories."""
        return self.kind in ("number", "date")

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        if self.is_number:
            return [self.name, *[f"{self.name} is missing"] * self.marked]
        return [f"{self.name}={it}" for it in [*self.categories, *["(rare)"] * self.rare]]

    def described(self, gaps: NDArray[np.bool_]) -> str:
        """Return the kind with its reasons; `gaps` (n,) are the missing cells of the file."""
        parts = [self.reason] if self.reason else []
        parts += [f"unit {self.unit}"] if self.unit else []
        parts += ["decimal comma"] if self.decimal == "," else []
        if self.categories:
            parts.append(f"{len(self.categories)} values{', and one for the others' * self.rare}")
        if gaps.any():
            parts.append(f"{gaps.sum()} of {len(gaps)} cells are gaps{shown(self.missing)}")
        return f"{self.kind} ({'; '.join(parts)})" if parts else self.kind


@dataclass(frozen=True)
class Refused:
    """A column rejected as a feature."""

    name: str
    reason: str
    """What is wrong, and what a user may do."""
    remedy: Literal["drop", "categorical"] | None = None
    """The key that certainly helps: such a column says nothing, or has few different cells."""


def shown(cells: list[str]) -> str:
    """Return some cells in quotes, behind a colon; nothing without cells."""
    more = f" and {len(cells) - EXAMPLES} others" if len(cells) > EXAMPLES else ""
    return (": " if cells else "") + ", ".join(f"'{it:.40}'" for it in cells[:EXAMPLES]) + more


def decided(train: Table, name: str, own: OwnTabular) -> Column | Refused:
    """Return what the column `name` of the training file is."""
    if name in own.categorical:
        return Column(name, "category")
    counts = Counter(train.cells(name))
    for mark in train.marks & counts.keys():
        del counts[mark]
    if not counts:
        return Refused(name, "has no cells", remedy="drop")
    if len(counts) == 1 and counts.total() == len(train.frame):
        return Refused(name, "has one value", remedy="drop")
    found = None if train.types.get(name) == "text" else _number(train, name, counts, own)
    if found := found or _date(name, counts):
        return found
    if len(counts) >= max(FEWEST_NAMES, NAMES_PER_ROW * len(train.frame)) and not own.rare_below:
        return Refused(
            name,
            f"names rows: {len(counts):,} different texts in {len(train.frame):,} rows, such as "
            f"'{next(iter(counts)):.40}': rare_below merges rare texts, categorical keeps all",
        )
    code = spelling.code_among([*counts])
    return Column(name, "category", f"codes such as '{code}'" if code else "")


def _number(
    train: Table, name: str, counts: Counter[str], own: OwnTabular
) -> Column | Refused | None:
    """Return a column of numbers, however they are written; None if most cells are none."""
    texts = [*counts]
    if spelling.code_among(texts):
        return None
    # Where commas separate the cells, "1,3" may be two answers.
    joined = "\0".join(texts)
    commas = "," in joined and (train.separator != "," or spelling.COMMA.search(joined))
    decimals = [own.decimal] if own.decimal else [",", "."] if commas else ["."]
    read = {mark: spelling.numbers(texts, mark) for mark in decimals}
    decimal = min(decimals, key=lambda mark: int(np.isnan(read[mark][0]).sum()))
    values, units = read[decimal]
    if not (any(units) or np.isnan(values).any()):
        return Column(name, "number", _identity(values, counts.total()), decimal)
    odd = {text for text, value in zip(texts, values, strict=True) if value != value}
    named = sorted({*units} - {""})
    if len(named) > MOST_UNITS:
        return None
    unit = named[0] if named else ""
    if unit[:1].isalpha():  # a word must be in all cells, or it is odd
        bare = {text for text, its in zip(texts, units, strict=True) if not its} - odd
        fewer = min(bare, {*texts} - bare - odd, key=lambda it: sum(counts[text] for text in it))
        odd, unit = odd | fewer, unit if fewer is bare else ""
    found = _unless_odd(Column(name, "number", decimal=decimal, unit=unit), counts, odd)
    if isinstance(found, Column) and len(named) > 1:
        few: Any = "categorical" if len(counts) <= FEWEST_NAMES and named[0].isalpha() else None
        return Refused(name, f"numbers in several units{shown(named)}: write them in one", few)
    return found


def _identity(values: NDArray[np.float64], rows: int) -> str:
    """Return what different whole numbers seem to be, in the order of the rows."""
    if len(values) < max(FEWEST_NAMES, UNIQUE * rows) or (values % 1 != 0).any():
        return ""
    steps = np.diff(values)
    in_order = (steps > 0).all() or (steps < 0).all() or np.ptp(values) == len(steps)
    return NUMBERING if in_order and len(values) == rows else IDENTIFIER


def _date(name: str, counts: Counter[str]) -> Column | Refused | None:
    """Return a column of dates in one format; None if most cells are none."""
    texts, cells = [*counts], np.array([*counts.values()])
    read = spelling.date_formats(texts)
    fitting = {form: int(cells[~np.isnan(values)].sum()) for form, values in read.items()}
    best = [form for form in fitting if fitting[form] == max(fitting.values())]
    if not best:
        return None
    values = read[best[0]]
    row = int(np.isfinite(values).argmax())
    first = texts[row]
    problem = ""
    if not all(np.array_equal(values, read[it], equal_nan=True) for it in best):
        problem = "day and month apart"
    elif "%y" in best[0] and np.nanmax(values) - np.nanmin(values) > 50 * 366:
        problem = "the century"
    if problem:
        return Refused(name, f"'{first}': nothing tells {problem}: write 2020-01-31")
    reason = f"'{first}' is {spelling.day_text(values[row])}" if best[0] else "a time"
    odd = {text for text, value in zip(texts, values, strict=True) if value != value}
    return _unless_odd(Column(name, "date", reason, format=best[0]), counts, odd)


def _unless_odd(column: Column, counts: Counter[str], odd: set[str]) -> Column | Refused | None:
    """Return a column whose odd cells are gaps; None if most cells are odd, refused if many are."""
    total, gaps = counts.total(), sum(counts[text] for text in odd)
    others = [text for text in counts if text in odd and text not in MARKS]
    if gaps < total and sum(counts[text] for text in others) <= MOST_ODD * total:
        return replace(column, missing=sorted(odd))
    if 2 * gaps >= total:
        return None
    return Refused(
        column.name,
        f"{gaps} of {total} cells are no {column.kind}{shown(others)}: missing makes them gaps "
        f"(missing: {json.dumps(others[:EXAMPLES])}), categorical takes all cells as names",
        remedy="categorical" if len(counts) <= FEWEST_NAMES else None,
    )


def cells_of(table: Table, column: Column) -> tuple[Cells, list[str]]:
    """Return a column as `Cells`, and its odd cells, which are gaps; raises UserError for many."""
    texts = table.cells(column.name)
    marks = table.marks.union(column.missing, MARKS if column.is_number else ()).intersection(texts)
    if not column.is_number:
        names = {text: spelling.spelled(text) for text in {*texts} - marks}
        return np.array([names.get(text) for text in texts], dtype=object), []
    whole = ["0" if text in marks else text for text in texts] if marks else texts
    is_typed = table.types.get(column.name) == column.kind  # its cells are spelled by the reader
    if column.kind == "date":
        values, units = spelling.days(whole, spelling.ISO if is_typed else column.format), [""]
    else:
        values, units = spelling.numbers(whole, "." if is_typed else column.decimal)
    broken = np.isnan(values)
    is_word = column.unit[:1].isalpha()  # it must stand in all cells, as in the training file
    if is_word or any(units):
        broken |= ~np.isin(units, [column.unit] if is_word else ["", column.unit])
    if marks:
        values[[text in marks for text in texts]] = np.nan
        broken &= [text not in marks for text in texts]
    odd = [texts[row] for row in np.flatnonzero(broken)]
    if len(odd) > MOST_ODD * len(texts):
        raise UserError(
            f"{table.column(column.name)}: '{odd[0]}' is no {column.kind} that the training file "
            f"has (such cells: {table.count(broken)}): missing makes them gaps"
        )
    return np.where(broken, np.nan, values), [*dict.fromkeys(odd)]
