"""What a column of a user's table is, decided once from the training file, as plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype

from automata.config.data import OwnTabular
from automata.datasets.own.paths import fault
from automata.datasets.own.reader import Table, cell_name, is_text

Kind = Literal["number", "date", "truth", "category"]

Cells = NDArray[Any]
"""One column (n,): float64 with NaN, or strings with None, where cells are missing."""

MARKS = ("?", "-", "--", ".", "missing", "Missing", "unknown", "Unknown", "none", "nil")
"""What people write for a missing number; in a column of numbers it is one."""

FEWEST_NAMES, NAMES_PER_ROW = 20, 0.9
"""A column of texts names rows if it has at least so many different ones, and so many per row."""

TRUTH = {"true": "True", "false": "False"}

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_DECORATION = r"^\s*[-+]?\s*[$€£¥]\s*|\s*[$€£¥%]\s*$"
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})([T ]\d{1,2}:\d{2}.*)?")
_LOCAL = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})([T ]\d{1,2}:\d{2}.*)?")


@dataclass(frozen=True)
class Column:
    """How the cells of one column are read, and how they become features."""

    name: str
    kind: Kind
    decimal: str = "."
    """The decimal mark of numbers."""
    day_first: bool | None = None
    """Whether dates such as 1/2/2020 begin with the day; None: they are not written so."""
    missing: list[str] = field(default_factory=list)
    """What the column holds in place of a missing cell, beside the usual marks."""
    fill: float | str | None = None
    """What missing cells become."""
    marked: bool = False
    """Whether one more feature says which cells were missing."""
    categories: list[str] = field(default_factory=list)
    """Those of the training rows that have a feature of their own, sorted."""
    rare: bool = False
    """Whether one more feature is of all other categories."""

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        if self.kind in ("truth", "category"):
            own = [f"{self.name}={value}" for value in self.categories]
            return [*own, *[f"{self.name}=(rare)"] * self.rare]
        return [self.name, *[f"{self.name} is missing"] * self.marked]


@dataclass(frozen=True)
class Refused:
    """A column that cannot be a feature, or would lie as one."""

    name: str
    reason: str
    remedy: str


def decided(train: Table, name: str, own: OwnTabular) -> Column | Refused:
    """Return what the column `name` of the training file is."""
    cells = train.frame[name]
    if name in own.categorical:
        return Column(name, "category")
    if cells.dtype == object:
        return Refused(name, f"it holds {infer_dtype(cells)} values", "drop leaves it out")
    if not is_text(cells):
        is_date = pd.api.types.is_datetime64_any_dtype(cells.dtype)
        return Column(name, "date" if is_date else "number")
    texts = cells[~train.gaps(name)].str.strip()
    if not len(texts):
        return Refused(name, "it has no cells", "")
    if set(texts.str.lower()) <= TRUTH.keys():
        return Column(name, "truth")
    as_dates = _dates(name, texts)
    if as_dates is not None or name in own.dates:
        return _with_order(train, name, texts, as_dates)
    number = _number(train, name, texts, own)
    if number is not None:
        return number
    unique = texts.nunique() >= max(FEWEST_NAMES, NAMES_PER_ROW * len(cells))
    if unique and own.rare_below is None:
        first = str(texts.iloc[0])
        shown = first if len(first) <= 40 else f"{first[:40]}..."
        return Refused(
            name,
            f"{texts.nunique():,} different texts in {len(cells):,} rows, such as '{shown}': it "
            "names rows, and each would be a feature of its own",
            "drop leaves it out, rare_below makes one of rare texts, categorical takes it as it is",
        )
    return Column(name, "category")


def _number(
    train: Table, name: str, texts: pd.Series[Any], own: OwnTabular
) -> Column | Refused | None:
    """Return a column of numbers, however they are written; None where most are none."""
    if train.separator is None:  # Parquet: texts are texts
        return None
    # Where commas separate the cells, "1,3" may be two answers.
    comma = train.separator != "," and texts.str.contains(",").any()
    decimals = [own.decimal] if own.decimal else [",", "."] if comma else ["."]
    broken = {mark: texts[np.isnan(numbers(texts, mark))] for mark in decimals}
    best = min(decimals, key=lambda mark: len(broken[mark]))
    left = broken[best]
    if not len(left):
        return Column(name, "number", decimal=best)
    if left.isin(MARKS).all() and len(left) < len(texts):
        return Column(name, "number", decimal=best, missing=sorted(set(left)))
    if len(left) >= len(texts) / 2:
        return None
    row = int(left.index[0])
    return Refused(
        name,
        f"{train.place(row)}: '{left.iloc[0]}' among numbers ({len(left)} such cells)",
        f'missing takes it for a missing cell (missing: ["{left.iloc[0]}"]), categorical takes all '
        "cells as names",
    )


def numbers(texts: pd.Series[Any], decimal: str) -> NDArray[np.float64]:
    """Return texts (n,) as numbers, NaN for what is none.

    Signs of currencies and per cent do not count, nor do separators of thousands.
    """
    plain = texts.str.replace(_DECORATION, "", regex=True)
    minus = texts.str.match(r"\s*-\s*[$€£¥]")
    if decimal == ",":
        plain = plain.str.translate(str.maketrans(",.", ".,"))
    found = np.full(len(texts), np.nan)
    for row, (text, negative) in enumerate(zip(plain, minus, strict=True)):
        if _THOUSANDS.fullmatch(text):
            text = text.replace(",", "")
        if _NUMBER.fullmatch(text):
            found[row] = -float(text) if negative else float(text)
    return found


def _dates(name: str, texts: pd.Series[Any]) -> Column | None:
    """Return a column of dates, with the order of day and month as None; None for other texts."""
    parts = texts.map(lambda text: bool(_ISO.fullmatch(text) or _LOCAL.fullmatch(text)))
    return Column(name, "date") if len(texts) and parts.all() else None


def _with_order(
    train: Table, name: str, texts: pd.Series[Any], found: Column | None
) -> Column | Refused:
    """Return a column of dates with the order of day and month, if its dates show it."""
    if found is None:
        wrong = texts[~texts.map(lambda one: bool(_ISO.fullmatch(one) or _LOCAL.fullmatch(one)))]
        row = int(wrong.index[0])
        return Refused(
            name,
            f"{train.place(row)}: '{wrong.iloc[0]}' is no date; valid: 2020-01-31, 31.1.2020, "
            "1/31/2020, with a time or without",
            "drop leaves the column out",
        )
    local = [parts for text in texts if (parts := _LOCAL.fullmatch(text))]
    if not local:
        return found
    points = all(parts[2] == "." for parts in local)
    first, second = (max(int(parts[place]) for parts in local) for place in (1, 3))
    if first > 12 or points:
        return Column(name, "date", day_first=True)
    if second > 12:
        return Column(name, "date", day_first=False)
    return Refused(
        name,
        f"'{local[0][0]}': nothing tells day and month apart",
        "write such dates as 2020-01-31, or leave the column out (drop)",
    )


def days(texts: pd.Series[Any], day_first: bool | None) -> NDArray[np.float64]:
    """Return texts of dates (n,) as days since 1970-01-01; NaN for what is none."""
    order = r"\4-\3-\1\5" if day_first else r"\4-\1-\3\5"
    plain = texts.str.strip().str.replace(
        r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})", r"\1-\2-\3", regex=True
    )
    if day_first is not None:
        plain = plain.str.replace(_LOCAL.pattern, order, regex=True)
    stamps = pd.to_datetime(plain, format="ISO8601", errors="coerce", utc=True)
    return days_of(stamps.dt.tz_localize(None))


def days_of(stamps: pd.Series[Any]) -> NDArray[np.float64]:
    """Return datetimes (n,) as days since 1970-01-01."""
    times = stamps.to_numpy("datetime64[us]")
    found: NDArray[np.float64] = (times - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return found


def cells_of(table: Table, column: Column) -> Cells:
    """Return a column of any file as `Cells` of its kind.

    Raises UserError for cells that the kind cannot have: in a column of numbers or dates.
    """
    cells = table.frame[column.name]
    if column.kind in ("truth", "category"):
        names = cells.map(cell_name).to_numpy(dtype=object)
        if column.kind == "truth":
            names = np.array([TRUTH.get(one.strip().lower(), one) for one in names], dtype=object)
        names[_missing(table, column)] = None
        return names
    found = _values(cells, column)
    broken = np.isnan(found) & ~_missing(table, column)
    if broken.any():
        row = int(broken.argmax())
        raise fault(
            f"{table.where(column.name)}: {table.place(row)}: '{cells.iloc[row]}' is no "
            f"{column.kind}, as the training file has ({int(broken.sum())} such cells); "
            f"{table.dialect.key}.missing takes it for a missing cell"
        )
    beyond = np.isinf(found) | (np.abs(found) > float(np.finfo(np.float32).max))
    if beyond.any():
        row = int(beyond.argmax())
        raise fault(
            f"{table.where(column.name)}: {table.place(row)}: {found[row]} is infinite or beyond "
            "float32's 3.4e38"
        )
    return found


def _missing(table: Table, column: Column) -> NDArray[np.bool_]:
    found = table.gaps(column.name)
    return found | table.empty(column.name, column.missing) if column.missing else found


def _values(cells: pd.Series[Any], column: Column) -> NDArray[np.float64]:
    """Return a column of numbers or dates as float64, NaN for what is neither."""
    if column.kind == "date":
        if pd.api.types.is_datetime64_any_dtype(cells.dtype):
            return days_of(cells)
        return days(cells, column.day_first) if is_text(cells) else np.full(len(cells), np.nan)
    if is_text(cells):
        return numbers(cells.str.strip(), column.decimal)
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return cells.to_numpy(dtype=np.float64)
    return np.full(len(cells), np.nan)


def numbers_rows(values: Cells) -> bool:
    """Say whether numbers may number the rows: unique whole ones, in order or without a gap."""
    if len(values) < FEWEST_NAMES or np.isnan(values).any() or (values % 1).any():
        return False
    steps = np.diff(values)
    in_order = bool((steps > 0).all() or (steps < 0).all())
    unique = len(np.unique(values)) == len(values)
    return unique and (in_order or float(values.max() - values.min()) == len(values) - 1)
