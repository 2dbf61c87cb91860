"""The kinds of a table's columns, decided once from the training file, as plain data."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own.reader import Table
from automata.errors import UserError

Cells = NDArray[Any]
"""One column (n,): float64 with NaN, or strings with None, where cells are missing."""

MARKS = ("?", "-", "--", ".", "missing", "Missing", "unknown", "Unknown", "none", "nil")
"""Further marks of a missing cell in a column of numbers."""

FEWEST_NAMES, NAMES_PER_ROW = 20, 0.9
"""A column of texts names rows if it has at least so many different ones, and so many per row."""

KINDS = {True: "numbers", False: "texts"}
"""Names in `fill` for all columns of numbers and dates, and for all others."""

LARGEST = float(np.finfo(np.float32).max)

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DECORATION = re.compile(r"^([-+]?)\s*[$€£¥]\s*|\s*[$€£¥%]$")
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})([T ]\d{1,2}:\d{2}.*)?")
_LOCAL = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})([T ]\d{1,2}:\d{2}.*)?")


@dataclass(frozen=True)
class Column:
    """How the cells of one column are read, and how they become features."""

    name: str
    kind: Literal["number", "date", "category"]
    decimal: str = "."
    """The decimal mark of numbers."""
    day_first: bool | None = None
    """Whether dates such as 1/2/2020 begin with the day; None: they are not written so."""
    missing: list[str] = field(default_factory=list)
    """Further marks of a missing cell in this column."""
    fill: float | str | None = None
    """The value for missing cells."""
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


@dataclass(frozen=True)
class Refused:
    """A column that cannot be a feature, or would lie as one; without cells it has no remedy."""

    name: str
    reason: str
    remedy: str = ""
    is_mixed: bool = False
    """Whether it has numbers among other texts: it may be a category."""


def decided(train: Table, name: str, own: OwnTabular) -> Column | Refused:
    """Return what the column `name` of the training file is."""
    cells = train.frame[name]
    if name in own.categorical:
        return Column(name, "category")
    texts = cells[~train.gaps(name)].str.strip()
    if not len(texts):
        return Refused(name, "it has no cells")
    wrong = texts[[not (_ISO.fullmatch(text) or _LOCAL.fullmatch(text)) for text in texts]]
    if name in own.dates and len(wrong):
        return Refused(
            name,
            f"{train.row(wrong.index[0])}: '{wrong.iloc[0]}' is no date",
            "write 2020-01-31, 31.1.2020 or 1/31/2020, or leave the column out (drop)",
        )
    found = _number(train, name, texts, own) if len(wrong) else _date(name, texts)
    if found is not None:
        return found
    many = texts.nunique() >= max(FEWEST_NAMES, NAMES_PER_ROW * len(cells))
    if many and own.rare_below is None:
        return Refused(
            name,
            f"it names rows: {texts.nunique():,} different texts in {len(cells):,} rows, such as "
            f"'{texts.iloc[0]:.40}'",
            "drop leaves it out, rare_below makes one of rare texts, categorical takes it as it is",
        )
    return Column(name, "category")


def spelled(name: str) -> str:
    """Return the name of a category or class: true and false have one, however they are written."""
    return {"true": "True", "false": "False"}.get(name.strip().lower(), name)


def _date(name: str, texts: pd.Series[Any]) -> Column | Refused:
    """Return a column of dates, if they show the order of day and month."""
    local = [parts for text in texts if (parts := _LOCAL.fullmatch(text))]
    if not local:
        return Column(name, "date")
    first, second = (max(int(parts[place]) for parts in local) for place in (1, 3))
    day_first = first > 12 or all(parts[2] == "." for parts in local)
    if day_first or second > 12:
        return Column(name, "date", day_first=day_first)
    return Refused(
        name,
        f"'{local[0][0]}': nothing tells day and month apart",
        "write such dates as 2020-01-31, or leave the column out (drop)",
    )


def _number(
    train: Table, name: str, texts: pd.Series[Any], own: OwnTabular
) -> Column | Refused | None:
    """Return a column of numbers, however they are written; None if half of them are none."""
    if name in train.texts:
        return None
    # Where commas separate the cells, "1,3" may be two answers.
    comma = train.separator != "," and texts.str.contains(",").any()
    decimals = [own.decimal] if own.decimal else [",", "."] if comma else ["."]
    broken = {mark: texts[np.isnan(numbers(texts, mark))] for mark in decimals}
    best = min(decimals, key=lambda mark: len(broken[mark]))
    left = broken[best]
    if left.isin(MARKS).all() and len(left) < len(texts):
        return Column(name, "number", decimal=best, missing=sorted(set(left)))
    if len(left) >= len(texts) / 2:
        return None
    return Refused(
        name,
        f"{train.row(left.index[0])}: '{left.iloc[0]}' among numbers ({len(left)} such cells)",
        f'missing takes it for a missing cell (missing: ["{left.iloc[0]}"]), categorical takes all '
        "cells as names",
        is_mixed=True,
    )


def numbers(texts: pd.Series[Any], decimal: str) -> NDArray[np.float64]:
    """Return texts (n,) as numbers, NaN for what is none.

    Signs of currencies and per cent do not count, nor do separators of thousands.
    """
    if decimal == ".":
        with suppress(ValueError):  # plain numbers alone: ten times as fast
            found: NDArray[np.float64] = np.array(texts.astype(np.float64))
            if np.isfinite(found).all():
                return found
    found = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        plain = _DECORATION.sub(r"\1", text.strip())
        if decimal == ",":
            plain = plain.translate({ord(","): ".", ord("."): ","})
        if _THOUSANDS.fullmatch(plain):
            plain = plain.replace(",", "")
        if _NUMBER.fullmatch(plain):
            found[row] = float(plain)
    return found


def days(texts: pd.Series[Any], day_first: bool | None) -> NDArray[np.float64]:
    """Return texts of dates (n,) as days since 1970-01-01; NaN for what is none."""
    order = r"\4-\3-\1\5" if day_first else r"\4-\1-\3\5"
    plain = texts.str.strip()
    if day_first is not None:
        plain = plain.map(lambda text: _LOCAL.sub(order, text))
    plain = plain.map(lambda text: _ISO.sub(r"\1-\2-\3\4", text))
    stamps = pd.to_datetime(plain, format="ISO8601", errors="coerce", utc=True)
    times = stamps.dt.tz_localize(None).to_numpy("datetime64[us]")
    found: NDArray[np.float64] = (times - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return found


def cells_of(table: Table, column: Column) -> Cells:
    """Return a column of any file as `Cells` of its kind; UserError for those that are not."""
    cells = table.frame[column.name]
    gaps = table.gaps(column.name, *column.missing)
    if not column.is_number:
        return cells.map(spelled).astype(object).where(~gaps, None).to_numpy()
    whole, is_date = cells.mask(gaps, "0"), column.kind == "date"
    found = days(whole, column.day_first) if is_date else numbers(whole, column.decimal)
    broken = ~(np.abs(found) <= LARGEST) & ~gaps
    if broken.any():
        row, first = next(cells[broken].items())
        raise UserError(
            f"{table.column(column.name)}: {table.row(row)}: '{first}' is no {column.kind}"
            f"{'' if is_date else ' below 3.4e38'} ({int(broken.sum())} such cells): missing takes "
            "it for a missing cell"
        )
    return np.where(gaps, np.nan, found)


def numbers_rows(values: Cells) -> bool:
    """Say whether numbers may number the rows: unique whole ones, in order or without a gap."""
    if len(values) < FEWEST_NAMES or (values % 1 != 0).any() or len({*values}) < len(values):
        return False
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all() or np.ptp(values) == len(steps))
