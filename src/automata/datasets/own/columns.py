"""What a column of a user's table is: numbers, categories, dates, or no feature."""

from __future__ import annotations

import logging
import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own.paths import fault
from automata.datasets.own.tables import DATES, Table, cell_names, holds

Cells = NDArray[Any]
"""One column (n,): float64 with NaN, or strings with None, where cells are missing."""

NUMERIC = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}
CATEGORICAL = {"string", "boolean"}

FEWEST_NAMES, NAMES_PER_ROW = 20, 0.9
"""A column of texts names rows if it has at least so many different ones, and so many per row."""

_LOG = logging.getLogger(__name__)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
_READ_DATE = r"(?:\d{4}-\d{1,2}-\d{1,2})(?:[T ].*)?"
_DAY_FIRST = r"^(\d{1,2})\.(\d{1,2})\.(\d{4})"


def is_categorical(train: Table, column: str, own: OwnTabular) -> bool:
    """Return whether `column` is one of categories; raise UserError if it cannot be a feature."""
    if column in own.categorical:
        return True
    if column in own.dates:
        return False
    kind, key = holds(train, column), train.layout.key
    is_category = train.frame[column].dtype == "category"
    if kind == "string" and not is_category:
        _require_no_other_decimals(train, column)
        _require_words(train, column)
    if kind in DATES or (kind == "string" and _are_dates(train, column)):
        raise fault(
            f"{train.where(column)}: it holds dates, which are no features: name it in {key}.dates "
            f"to make days since 1970 of them, or in {key}.drop to leave it out"
        )
    if kind not in NUMERIC | CATEGORICAL:
        raise fault(
            f"{train.where(column)}: it holds {kind} values, features are numbers, text or "
            f"true/false: {key}.drop leaves it out"
        )
    if kind == "string" and own.rare_below is None:
        _require_categories(train, column)
    if kind == "integer":
        _warn_of_row_numbers(train, column)
    return kind in CATEGORICAL or is_category


def days(table: Table, column: str) -> Cells:
    """Return a column of dates as days since 1970-01-01 (UTC where a zone is given), with NaN.

    Raises UserError for a column of anything else, and for a cell that is no date.
    """
    kind = holds(table, column)
    cells = table.frame[column]
    if kind not in {"date", "datetime", "datetime64", "string", "empty"}:
        raise fault(f"{table.where(column)}: it holds {kind} values, no dates")
    found = days_of(cells)
    broken = np.isnan(found) & ~table.empty(column)
    if broken.any():
        row = int(broken.argmax())
        raise fault(
            f"{table.where(column)}: {table.place(row)}: '{cells[row]}' is no date; valid: "
            "2020-01-31, 2020-01-31 10:00, 31.1.2020"
        )
    return found


def days_of(cells: pd.Series[Any]) -> Cells:
    """Return dates, or texts of dates, as days since 1970-01-01; NaN for what is none."""
    if not pd.api.types.is_datetime64_any_dtype(cells):
        texts = cells.astype("str").str.strip().str.replace(_DAY_FIRST, r"\3-\2-\1", regex=True)
        cells = texts.where(texts.str.fullmatch(_READ_DATE, na=False))
    stamps = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    times = stamps.dt.tz_localize(None).to_numpy("datetime64[us]")
    return (times - np.datetime64(0, "us")) / np.timedelta64(1, "D")


def _require_no_other_decimals(train: Table, column: str) -> None:
    """Raise UserError for numbers whose decimal mark is a comma, or a point where it is a comma.

    A few different ones may be categories, such as answers "1,3": they are, with a line in the log,
    unless the user says how the file is written.
    """
    other = "." if train.layout.decimal == "," else ","
    texts = train.frame[column].dropna().astype("str")
    marked = texts.str.contains(other, regex=False)
    if not marked.any():
        return
    if pd.to_numeric(texts.str.replace(other, ".", regex=False), errors="coerce").isna().any():
        return
    row = int(texts.index[marked.to_numpy()][0])
    said = (
        f"{train.where(column)}: {train.place(row)}: '{texts[row]}' is a number only with the "
        f"decimal mark '{other}': give {train.layout.key}.decimal: \"{other}\", or name the column "
        "in `categorical`"
    )
    if train.layout.separator is not None or texts.nunique() >= FEWEST_NAMES:
        raise fault(said)
    _LOG.warning("%s; it counts as categories", said)


def _require_words(train: Table, column: str) -> None:
    """Raise UserError for a column of numbers that a few other cells, such as "?", make text."""
    texts = train.frame[column].dropna().astype("str")
    if train.layout.decimal == ",":
        texts = texts.str.replace(",", ".", regex=False)
    broken = pd.to_numeric(texts, errors="coerce").isna().to_numpy()
    if len(broken) and 0 < broken.mean() < 0.5:
        row = int(np.flatnonzero(train.frame[column].notna())[broken.argmax()])
        found = train.frame[column][row]
        raise fault(
            f"{train.where(column)}: {train.place(row)}: '{found}' among numbers: empty the cell "
            "if it is missing, or name the column in `categorical`"
        )


def _are_dates(train: Table, column: str) -> bool:
    texts = [text for text in cell_names(train.frame[column]) if text is not None]
    return bool(texts) and all(_DATE.fullmatch(text.strip()) for text in texts)


def _require_categories(train: Table, column: str) -> None:
    """Raise UserError for a column of texts nearly all of which occur once, as names of rows do."""
    cells = train.frame[column]
    values, rows = cells.nunique(), len(cells)
    if values >= FEWEST_NAMES and values >= NAMES_PER_ROW * rows:
        key = train.layout.key
        raise fault(
            f"{train.where(column)}: {values:,} different texts in {rows:,} rows, such as "
            f"'{_short(cells.dropna().iloc[0])}': it names rows, and each would be a feature of "
            f"its own: leave it out ({key}.drop), make one of rare texts ({key}.rare_below), or "
            f"name it in {key}.categorical"
        )


def _short(text: object) -> str:
    shown = str(text)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."


def _warn_of_row_numbers(train: Table, column: str) -> None:
    """Log a column of whole numbers that may number the rows: a time or a count may as well."""
    numbers = train.frame[column]
    if len(numbers) < FEWEST_NAMES or numbers.isna().any() or not numbers.is_unique:
        return
    steps = np.sign(np.diff(numbers.to_numpy(dtype=np.float64)))
    if abs(steps.sum()) == len(steps) or int(numbers.max()) - int(numbers.min()) == len(steps):
        _LOG.warning(
            "%s: whole numbers that seem to number the rows; it counts as a number unless %s.drop "
            "leaves it out",
            train.where(column),
            train.layout.key,
        )
