"""Decide from the training file what each column holds, and read its cells accordingly."""

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
"""Largest share of odd cells, which do not fit the kind, in a column of numbers or dates."""

FEWEST_NAMES, NAMES_PER_ROW = 20, 0.9
"""A column of texts names rows if it has at least so many different ones, and so many per row."""

NUMBERING = "seems to number the rows"
IDENTIFIER = "kept; looks like an identifier: add it to drop to leave it out"
UNIQUE = 0.95
"""Smallest share of different cells in an identifier of whole numbers."""

MOST_UNITS = 3
"""Numbers with more different units are codes such as 12a and 12b."""

EXAMPLES = 5
"""How many cells or names a message quotes."""


@dataclass(frozen=True)
class Column:
    """How to read the cells of one column, and which features they become."""

    name: str
    kind: Literal["number", "date", "category"]
    reason: str = ""
    """Why the column has this kind, if this is not obvious."""
    decimal: str = "."
    unit: str = ""
    format: str = ""
    """Format of dates, one of `cells.DATES`."""
    missing: list[str] = field(default_factory=list)
    """Odd cells of the training file, which count as missing."""
    fill: float | str | None = None
    marked: bool = False
    """Whether an indicator feature marks missing cells."""
    categories: list[str] = field(default_factory=list)
    """Categories of the training rows with a feature each, sorted."""
    rare: bool = False
    """Whether all other categories share one feature."""

    @property
    def is_number(self) -> bool:
        """Whether a cell becomes one number; otherwise it is one of several categories."""
        return self.kind in ("number", "date")

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        if self.is_number:
            return [self.name, *[f"{self.name} is missing"] * self.marked]
        return [f"{self.name}={name}" for name in [*self.categories, *["(rare)"] * self.rare]]

    def description(self, missing: NDArray[np.bool_]) -> str:
        """Return the kind and its details; `missing` (n,) marks the file's missing cells."""
        parts = [self.reason] if self.reason else []
        parts += [f"unit {self.unit}"] if self.unit else []
        parts += ["decimal comma"] if self.decimal == "," else []
        if self.categories:
            parts.append(f"{len(self.categories)} values{', and one for the others' * self.rare}")
        if missing.any():
            parts.append(f"{missing.sum()} of {len(missing)} cells are gaps{quoted(self.missing)}")
        return f"{self.kind} ({'; '.join(parts)})" if parts else self.kind


@dataclass(frozen=True)
class Refused:
    """A column that cannot be a feature."""

    reason: str
    """The problem, and what the user can do."""
    remedy: Literal["drop", "categorical"] | None = None
    """The key that solves the problem in any case; None if the user must choose."""


def quoted(cells: list[str]) -> str:
    """Return the first cells in quotes after a colon, and the number of the others."""
    more = f" and {len(cells) - EXAMPLES} others" if len(cells) > EXAMPLES else ""
    return (": " if cells else "") + ", ".join(f"'{cell:.40}'" for cell in cells[:EXAMPLES]) + more


def classify(train: Table, name: str, own: OwnTabular) -> Column | Refused:
    """Return how to read the column `name` of the training file, or why it is unusable."""
    if name in own.categorical:
        return Column(name, "category")
    counts = Counter(train.cells(name))
    for mark in train.marks & counts.keys():
        del counts[mark]
    if not counts:
        return Refused("has no cells", remedy="drop")
    if len(counts) == 1 and counts.total() == len(train.frame):
        return Refused("has one value", remedy="drop")
    column = None if train.types.get(name) == "text" else _number_column(train, name, counts, own)
    if column := column or _date_column(name, counts):
        return column
    if len(counts) >= max(FEWEST_NAMES, NAMES_PER_ROW * len(train.frame)) and not own.rare_below:
        return Refused(
            f"looks like an identifier ({len(counts):,} different texts in {len(train.frame):,} "
            f"rows, such as '{next(iter(counts)):.40}'): rare_below merges rare texts, categorical "
            "keeps all"
        )
    code = spelling.find_code([*counts])
    return Column(name, "category", f"codes such as '{code}'" if code else "")


def _number_column(
    train: Table, name: str, counts: Counter[str], own: OwnTabular
) -> Column | Refused | None:
    """Return a column of numbers in any notation; None if most cells are not numbers."""
    texts, is_typed = [*counts], train.types.get(name) == "number"
    if not is_typed and spelling.find_code(texts):
        return None
    decimals = ["."]
    if own.decimal and not is_typed:
        decimals = [own.decimal]
    elif not is_typed:
        # Where commas separate the cells, "1,3" may be two answers.
        sign = spelling.DECIMAL_COMMA if train.separator == "," else spelling.NO_THOUSANDS
        joined = "\0".join(texts)
        if "," in joined and (train.separator == ";" or sign.search(joined)):
            decimals = [",", "."]
    readings = {mark: spelling.parse_numbers(texts, mark) for mark in decimals}
    decimal = min(decimals, key=lambda mark: int(np.isnan(readings[mark][0]).sum()))
    values, units = readings[decimal]
    if not (any(units) or np.isnan(values).any()):
        return Column(name, "number", _identifier_reason(values, counts.total()), decimal)
    odd = {text for text, value in zip(texts, values, strict=True) if np.isnan(value)}
    different = sorted({*units} - {""})
    if len(different) > MOST_UNITS:
        return None
    unit = different[0] if different else ""
    if unit[:1].isalpha():  # a word is a unit only if most cells have it; the others are odd
        without = {text for text, word in zip(texts, units, strict=True) if not word} - odd
        groups = without, {*texts} - without - odd
        fewer = min(groups, key=lambda group: sum(counts[text] for text in group))
        odd, unit = odd | fewer, unit if fewer is without else ""
    column = _with_gaps(Column(name, "number", decimal=decimal, unit=unit), counts, odd)
    if isinstance(column, Column) and len(different) > 1:
        few = len(counts) <= FEWEST_NAMES and different[0].isalpha()
        reason = f"numbers in several units{quoted(different)}: write them in one"
        return Refused(reason, "categorical" if few else None)
    return column


def _identifier_reason(values: NDArray[np.float64], rows: int) -> str:
    """Return NUMBERING or IDENTIFIER for different whole numbers in row order, otherwise ""."""
    if len(values) < max(FEWEST_NAMES, UNIQUE * rows) or (values % 1 != 0).any():
        return ""
    steps = np.diff(values)
    in_order = (steps > 0).all() or (steps < 0).all() or np.ptp(values) == len(steps)
    return NUMBERING if in_order and len(values) == rows else IDENTIFIER


def _date_column(name: str, counts: Counter[str]) -> Column | Refused | None:
    """Return a column of dates in one format; None if most cells are not dates."""
    texts, rows = [*counts], np.array([*counts.values()])
    readings = spelling.dates_by_format(texts)
    fitting = {form: int(rows[~np.isnan(days)].sum()) for form, days in readings.items()}
    best = [form for form in fitting if fitting[form] == max(fitting.values())]
    if not best:
        return None
    days = readings[best[0]]
    first = int(np.isfinite(days).argmax())
    problem = ""
    if not all(np.array_equal(days, readings[form], equal_nan=True) for form in best):
        problem = "day and month apart"
    elif "%y" in best[0] and np.nanmax(days) - np.nanmin(days) > 50 * 366:
        problem = "the century"
    if problem:
        return Refused(f"'{texts[first]}': nothing tells {problem}: write 2020-01-31")
    reason = f"'{texts[first]}' is {spelling.date_text(days[first])}" if best[0] else "a time"
    odd = {text for text, day in zip(texts, days, strict=True) if np.isnan(day)}
    return _with_gaps(Column(name, "date", reason, format=best[0]), counts, odd)


def _with_gaps(column: Column, counts: Counter[str], odd: set[str]) -> Column | Refused | None:
    """Return the column with `odd` cells as gaps; refuse it for many, return None for most."""
    total, gaps = counts.total(), sum(counts[text] for text in odd)
    others = [text for text in counts if text in odd and text not in MARKS]
    if gaps < total and sum(counts[text] for text in others) <= MOST_ODD * total:
        return replace(column, missing=sorted(odd))
    if 2 * gaps >= total:
        return None
    return Refused(
        f"{gaps} of {total} cells are no {column.kind}{quoted(others)}: missing makes them gaps "
        f"(missing: {json.dumps(others[:EXAMPLES])}), categorical takes all cells as names",
        remedy="categorical" if len(counts) <= FEWEST_NAMES else None,
    )


def parse_cells(table: Table, column: Column) -> tuple[Cells, list[str]]:
    """Return the cells of a column, and its odd cells; raises UserError for many odd cells."""
    texts = table.cells(column.name)
    marks = table.marks.union(column.missing, MARKS if column.is_number else ()).intersection(texts)
    if not column.is_number:
        names = {text: spelling.spelled(text) for text in {*texts} - marks}
        return np.array([names.get(text) for text in texts], dtype=object), []
    whole = ["0" if text in marks else text for text in texts] if marks else texts
    is_typed = table.types.get(column.name) == column.kind  # `reader` spells cells of Parquet
    if column.kind == "date":
        form = spelling.ISO if is_typed else column.format
        values, units = spelling.parse_dates(whole, form), [""]
    else:
        values, units = spelling.parse_numbers(whole, "." if is_typed else column.decimal)
    is_odd = np.isnan(values)
    is_word = column.unit[:1].isalpha()  # then all cells must have it, as in the training file
    if is_word or any(units):
        is_odd |= ~np.isin(units, [column.unit] if is_word else ["", column.unit])
    if marks:
        is_marked = np.array([text in marks for text in texts])
        values[is_marked] = np.nan
        is_odd &= ~is_marked
    odd = [texts[row] for row in np.flatnonzero(is_odd)]
    if len(odd) > MOST_ODD * len(texts):
        raise UserError(
            f"{table.place(column.name)}: '{odd[0]}' is not a {column.kind} as in the training "
            f"file (such cells: {table.count(is_odd)}): empty them, and the median replaces them"
        )
    return np.where(is_odd, np.nan, values), [*dict.fromkeys(odd)]
