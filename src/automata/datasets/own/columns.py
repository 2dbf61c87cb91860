"""What a column of a user's table is: numbers, categories, dates, or no feature."""

from __future__ import annotations

import logging
import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own.layout import SEPARATORS, suffix_of
from automata.datasets.own.paths import fault
from automata.datasets.own.tables import DATES, Table, cell_names, holds, read_table

Cells = NDArray[Any]
"""One column (n,): float64 with NaN, or strings with None, where cells are missing."""

NUMERIC = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}
CATEGORICAL = {"string", "boolean"}

FEWEST_NAMES, NAMES_PER_ROW = 20, 0.9
"""A column of texts names rows if it has at least so many different ones, and so many per row."""

_LOG = logging.getLogger(__name__)
_DAYS = {"date", "datetime", "datetime64", "string"}
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
_DAY_FIRST = r"^(\d{1,2})\.(\d{1,2})\.(\d{4})"
_THOUSANDS = r"[-+]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)"
_OTHER_MARK = str.maketrans(",.", ".,")


def is_categorical(train: Table, column: str, own: OwnTabular) -> bool:
    """Return whether `column` is one of categories; raise UserError if it cannot be a feature."""
    if column in own.categorical:
        return True
    if column in own.dates:
        return False
    kind, key = holds(train, column), train.layout.key
    is_category = train.frame[column].dtype == "category"
    if kind == "string" and not is_category:
        _require_own_marks(train, column, own)
        _require_words(train, column)
    if kind in DATES or (kind == "string" and _are_dates(train, column)):
        days_too = f"{key}.dates to make days since 1970 of them, or in "
        raise fault(
            f"{train.where(column)}: it holds dates, which are no features: name it in "
            f"{days_too if _have_days(train, column) else ''}{key}.drop to leave it out"
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
    if kind == "floating":
        _warn_of_thousands(train, column)
    return kind in CATEGORICAL or is_category


def days(table: Table, column: str) -> Cells:
    """Return a column of dates as days since 1970-01-01 (UTC where a zone is given), with NaN.

    Raises UserError for a column of anything else, and for a cell that is no date.
    """
    kind = holds(table, column)
    cells = table.frame[column]
    if kind not in {*_DAYS, "empty"}:
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
        cells = texts.where(texts.str.fullmatch(_DATE.pattern, na=False))
    stamps = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    times = stamps.dt.tz_localize(None).to_numpy("datetime64[us]")
    return (times - np.datetime64(0, "us")) / np.timedelta64(1, "D")


def _require_own_marks(train: Table, column: str, own: OwnTabular) -> None:
    """Raise UserError for texts that are numbers with another decimal mark, or with thousands.

    They may be categories, such as answers "1,3": they are, with a line in the log, unless the user
    says how the file is written, or the column is refused anyway.
    """
    texts = train.frame[column].dropna().astype("str")
    broken = _no_numbers(train, texts)
    reason = _other_marks(train, texts[broken])
    if reason is None:
        return
    row = int(texts.index[broken][0])
    said = (
        f"{train.where(column)}: {train.place(row)}: '{texts[row]}' {reason}, or name the column "
        "in `categorical`"
    )
    names_rows = own.rare_below is None and _names_rows(train.frame[column])
    if train.layout.separator is not None or broken.mean() < 0.5 or names_rows:
        raise fault(said)
    _LOG.warning("%s; it counts as categories", said)


def _no_numbers(train: Table, texts: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return which texts (n,) are no numbers as the file writes them."""
    if train.layout.decimal == ",":
        texts = texts.str.translate(_OTHER_MARK)
    return pd.to_numeric(texts, errors="coerce").isna().to_numpy(dtype=bool)


def _other_marks(train: Table, broken: pd.Series[Any]) -> str | None:
    """Return what marks make numbers of all the texts `broken`, as messages say it; else None."""
    if broken.empty:
        return None
    if broken.str.fullmatch(_THOUSANDS).all():
        return "seems to have thousands separators: write the numbers without them"
    if _no_numbers(train, broken.str.translate(_OTHER_MARK)).any():
        return None
    other = "." if train.layout.decimal == "," else ","
    return (
        f"is a number only with the decimal mark '{other}': give {train.layout.key}.decimal: "
        f'"{other}"'
    )


def _warn_of_thousands(train: Table, column: str) -> None:
    """Log a column whose decimal commas may all be thousands separators: 7,000 is read as 7."""
    numbers = train.frame[column].dropna()
    if train.layout.decimal != "," or suffix_of(train.path) not in SEPARATORS:
        return
    if not ((numbers == numbers.round(3)) & (numbers.abs().ge(1) | numbers.eq(0))).all():
        return  # without reading the file once more
    texts = read_table(train.path, train.layout, words=[column]).frame[column].dropna()
    marked = texts[texts.str.contains(",", regex=False)]
    if len(marked) and marked.str.fullmatch(_THOUSANDS).all():
        row = int(marked.index[0])
        _LOG.warning(
            "%s: %s: '%s' is read as %s: if its commas are thousands separators, write the numbers "
            "without them",
            train.where(column),
            train.place(row),
            marked[row],
            numbers[row],
        )


def _require_words(train: Table, column: str) -> None:
    """Raise UserError for a column of numbers that a few other cells, such as "?", make text."""
    broken = _no_numbers(train, train.frame[column].dropna().astype("str"))
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


def _have_days(train: Table, column: str) -> bool:
    """Return whether `days` can read every cell of a column of dates."""
    known = train.frame[column][~train.empty(column)]
    return holds(train, column) in _DAYS and not np.isnan(days_of(known)).any()


def _names_rows(cells: pd.Series[Any]) -> bool:
    return cells.nunique() >= max(FEWEST_NAMES, NAMES_PER_ROW * len(cells))


def _require_categories(train: Table, column: str) -> None:
    """Raise UserError for a column of texts nearly all of which occur once, as names of rows do."""
    cells = train.frame[column]
    if _names_rows(cells):
        key, values, rows = train.layout.key, cells.nunique(), len(cells)
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
