"""What a column of a user's table is: numbers, dates, categories, or no feature."""

from __future__ import annotations

import logging
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.config.data import OwnTabular
from automata.datasets.own.paths import fault
from automata.datasets.own.tables import DATE, DATES, Table, cell_names, days_of, holds
from automata.errors import UserError

Kind = Literal["numbers", "dates", "categories"]

Cells = NDArray[Any]
"""One column (n,): float64 with NaN, or strings with None, where cells are missing."""

FEWEST_NAMES, NAMES_PER_ROW = 20, 0.9
"""A column of texts names rows if it has at least so many different ones, and so many per row."""

_LOG = logging.getLogger(__name__)
_NUMERIC = {"integer", "floating", "mixed-integer-float", "decimal", "empty"}
_CATEGORICAL = {"string", "boolean"}
_DAYS = {"date", "datetime", "datetime64", "string", "empty"}
_THOUSANDS = r"[-+]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3})+(?:,\d+)?)"
_OTHER_MARK = str.maketrans(",.", ".,")


def kind_of(train: Table, column: str, own: OwnTabular) -> Kind:
    """Return what `column` of the training file is; raise UserError if it cannot be a feature."""
    if column in own.categorical:
        return "categories"
    if column in own.dates:
        return "dates"
    cells, key = train.frame[column], train.layout.key
    kind, is_category = holds(train, column), cells.dtype == "category"
    if kind == "string" and not is_category:
        _require_no_numbers(train, column, own)
    if kind in DATES or (kind == "string" and are_dates(cells)):
        raise fault(
            f"{train.where(column)}: it holds dates, which are no features: name it in "
            f"{key}.dates to make days since 1970 of them, or in {key}.drop to leave it out"
        )
    if kind not in _NUMERIC | _CATEGORICAL:
        raise fault(
            f"{train.where(column)}: it holds {kind} values, features are numbers, text or "
            f"true/false: {key}.drop leaves it out"
        )
    if kind == "string" and own.rare_below is None and names_rows(cells):
        raise _names(train, column)
    if kind == "integer" and seem_row_numbers(cells):
        _LOG.warning(
            "%s: whole numbers that seem to number the rows; it counts as a number unless %s.drop "
            "leaves it out",
            train.where(column),
            key,
        )
    return "categories" if kind in _CATEGORICAL or is_category else "numbers"


def cells_of(table: Table, column: str, kind: Kind) -> Cells:
    """Return a column of any file as `Cells` of a kind.

    Raises UserError for cells of another kind, for infinity, and for what is no date.
    """
    if kind == "categories":
        return cell_names(table.frame[column])
    return _days(table, column) if kind == "dates" else _numbers(table, column)


def _numbers(table: Table, column: str) -> Cells:
    kind = holds(table, column)
    if kind not in _NUMERIC:
        raise fault(
            f"{table.where(column)}: it holds {kind} values, but numbers in the training file"
        )
    values = table.frame[column].to_numpy(dtype=np.float64, na_value=np.nan)
    with np.errstate(over="ignore"):
        infinite = np.isinf(values.astype(np.float32))
    if infinite.any():
        row = int(infinite.argmax())
        raise fault(
            f"{table.where(column)}: {table.place(row)}: {values[row]} is infinite or beyond "
            "float32's 3.4e38"
        )
    return values


def _days(table: Table, column: str) -> Cells:
    kind, cells = holds(table, column), table.frame[column]
    if kind not in _DAYS:
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


def are_dates(cells: pd.Series[Any]) -> bool:
    """Return whether all texts are dates."""
    texts = [text for text in cell_names(cells) if text is not None]
    return bool(texts) and all(DATE.fullmatch(text.strip()) for text in texts)


def _require_no_numbers(train: Table, column: str, own: OwnTabular) -> None:
    """Raise UserError for texts that seem to be numbers but for how some of them are written.

    Texts with the marks of numbers may be categories, such as answers "1,3": they are, with a line
    in the log, unless the user says how the file is written, most cells are plain numbers, or the
    column is refused anyway.
    """
    texts = train.frame[column].dropna().astype("str")
    broken = texts[_no_numbers(train, texts)]
    reason, few = _other_marks(train, broken), 0 < len(broken) < len(texts) / 2
    if reason is None and not few:
        return
    row = int(broken.index[0])
    said = (
        f"{train.where(column)}: {train.place(row)}: '{broken[row]}' "
        f"{reason or 'among numbers: empty the cell if it is missing'}, or name the column in "
        "`categorical`"
    )
    unique = own.rare_below is None and names_rows(train.frame[column])
    if few or train.layout.separator is not None or unique:
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
    key = f"{train.layout.key}.decimal"
    return f"is a number only with the decimal mark '{other}': give {key}: \"{other}\""


def names_rows(cells: pd.Series[Any]) -> bool:
    """Return whether nearly all of the texts occur once, as names of rows do."""
    return cells.nunique() >= max(FEWEST_NAMES, NAMES_PER_ROW * len(cells))


def _names(train: Table, column: str) -> UserError:
    """Return the error for a column of texts that names the rows."""
    cells, key = train.frame[column], train.layout.key
    first = str(cells.dropna().iloc[0])
    shown = first if len(first) <= 40 else f"{first[:40]}..."
    return fault(
        f"{train.where(column)}: {cells.nunique():,} different texts in {len(cells):,} rows, such "
        f"as '{shown}': it names rows, and each would be a feature of its own: leave it out "
        f"({key}.drop), make one of rare texts ({key}.rare_below), or name it in {key}.categorical"
    )


def seem_row_numbers(numbers: pd.Series[Any]) -> bool:
    """Return whether whole numbers may number the rows: a time or a count may as well."""
    if len(numbers) < FEWEST_NAMES or numbers.isna().any() or not numbers.is_unique:
        return False
    sorted_already = numbers.is_monotonic_increasing or numbers.is_monotonic_decreasing
    return sorted_already or int(numbers.max()) - int(numbers.min()) == len(numbers) - 1
