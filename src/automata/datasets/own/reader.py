"""The one reader of a user's table: from a file to cells, as the file spells them.

Training files, test files, `automata new` and `automata predict` call `read_table`.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import charset_normalizer
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype
from pyarrow.lib import ArrowException  # type: ignore[import-untyped]
from pyarrow.parquet import read_schema  # type: ignore[import-untyped]

from automata.datasets.own.paths import fault, listed

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = [*SEPARATORS, ".parquet"]
OTHERS = (";", "\t", "|", ",", " ")
"""Separators that are tried where that of the suffix makes one column."""

MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>", "#N/A"]
"""What a cell of a text file holds where there is no value, but for columns of texts."""

ENCODINGS = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254"),
    *("cp932", "gb18030", "big5", "cp949", "euc_jp"),
]
"""What a text file may be in that is not UTF-8."""

INDEX = "index"
"""What a first column without a name is called: pandas and R write row names so."""

MOST_COLUMNS = 100_000

csv.field_size_limit(2**24)  # characters of a cell, which a header without separators is

_SEP = re.compile(r'"?sep=(.)"?[ \t]*\r?\n')
"""The first line that some spreadsheets write."""


@dataclass(frozen=True)
class Dialect:
    """What a user says of how a text file is written; None: as the file shows."""

    key: str = "own_datasets.NAME"
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()
    header: bool = True
    fallback: str | None = None
    """Encoding of a file that is not UTF-8, where the training file shows one."""
    usual: str | None = None
    """Separator of the training file."""

    @staticmethod
    def of(own: Mapping[str, Any], key: str) -> Dialect:
        """Return the dialect in the description `own` of a data set, which stands at `key`."""
        said = {name: own[name] for name in ("separator", "decimal", "encoding") if own.get(name)}
        header = own.get("header", True)
        return Dialect(key, missing=tuple(own.get("missing") or ()), header=header, **said)


@dataclass(frozen=True)
class Table:
    """The rows of one file, numbered from 0."""

    path: Path
    frame: pd.DataFrame
    """Columns of texts as the file spells them; those of Parquet also numbers and truth values."""
    dialect: Dialect = field(default_factory=Dialect)
    separator: str | None = None
    """What separates the cells; None in Parquet, whose columns have types."""
    notes: list[str] = field(default_factory=list)
    """What was decided of the file, as sentences."""
    encoding: str | None = None
    """What its bytes show, None where they are UTF-8."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return [str(column) for column in self.frame]

    def place(self, row: int) -> str:
        """Return where a user finds row number `row`, as spreadsheets count: a header is row 1."""
        has_header = self.separator is not None and self.dialect.header
        return f"row {row + 1 + has_header}"

    def where(self, column: str) -> str:
        """Return file and column, as messages begin."""
        return f"{self.path}: column '{column}'"

    def empty(self, column: str, marks: Sequence[str] = ("",)) -> NDArray[np.bool_]:
        """Return which rows (n,) have nothing in `column`, or one of the `marks`."""
        cells = self.frame[column]
        found = cells.isna()
        if is_text(cells):
            found |= cells.str.strip().isin(marks)
        return found.to_numpy(dtype=bool)

    def gaps(self, column: str) -> NDArray[np.bool_]:
        """Return which cells (n,) of a column that holds no texts are missing."""
        return self.empty(column, [*MISSING, *self.dialect.missing])

    def some(self, rows: NDArray[np.bool_]) -> str:
        """Return how many rows those are, and where the first is."""
        return f"{int(rows.sum())}, the first in {self.place(int(rows.argmax()))}"


def is_text(cells: pd.Series[Any]) -> bool:
    """Say whether a column holds texts."""
    return bool(pd.api.types.is_string_dtype(cells.dtype))


def suffix_of(path: Path) -> str:
    """Return the suffix of a table; raises UserError for others."""
    found = next((end for end in SUFFIXES if path.name.lower().endswith(end)), None)
    if found is None:
        raise fault(f"{path}: the name of a table must end in one of {', '.join(SUFFIXES)}")
    return found


def read_table(path: Path, dialect: Dialect | None = None) -> Table:
    """Return the rows of a file; raises UserError, in one line, if it is no table."""
    dialect = dialect or Dialect()
    suffix = suffix_of(path)
    if path.is_dir():
        raise fault(f"{path}: this is a folder, a table is a file ({', '.join(SUFFIXES)})")
    notes: list[str] = []
    separator = encoding = None
    try:
        if suffix == ".parquet":
            frame = _read_parquet(path, notes)
        else:
            text, encoding = _decoded(path, dialect)
            if encoding and not dialect.fallback:
                notes.append(f"the encoding seems to be {encoding} (key: encoding)")
            separator = dialect.separator or _separator(
                text, dialect.usual or SEPARATORS[suffix], notes
            )
            frame = _cells_of(text, separator, dialect.header)
    except (OSError, EOFError, ValueError, zlib.error, csv.Error, ArrowException) as error:
        raise fault(f"{path}: not a readable {suffix} file: {error}") from error
    return Table(path, _named(path, frame, notes), dialect, separator, notes, encoding)


def _cells_of(text: str, separator: str, has_header: bool) -> pd.DataFrame:
    """Return the cells of a text, each as it is spelled."""
    names, after = _header(text, separator)
    if not has_header:
        names, after = [f"column {number}" for number in range(1, len(names) + 1)], 0
    frame = pd.read_csv(
        io.StringIO(text),
        sep=r"\s+" if separator == " " else separator,
        names=range(len(names) + 1),  # one more column: a row that is too long shows in it
        skiprows=after,
        index_col=False,
        dtype="str",
        keep_default_na=False,
    )
    return _fitted(frame, names)


def _fitted(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the cells below their `names`; raises ValueError for rows that have more."""
    extra = frame[len(names)].fillna("").to_numpy() != ""
    if extra.any():
        raise ValueError(
            f"{int(extra.sum())} rows have more cells than the header has names, the first is row "
            f"{int(extra.argmax()) + 2}"
        )
    frame = frame.drop(columns=len(names)).fillna("")
    frame.columns = pd.Index(names)
    return frame


def _decoded(path: Path, dialect: Dialect) -> tuple[str, str | None]:
    """Return the text of a file, and the encoding that its bytes show where it is not UTF-8."""
    content = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        content = gzip.decompress(content)
    encoding = dialect.encoding
    if encoding is None and content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    try:
        return content.decode(encoding or "utf-8").removeprefix("\ufeff"), None
    except (LookupError, UnicodeError) as error:
        if encoding is not None:
            reason = getattr(error, "reason", error)
            key = f"{dialect.key}.encoding"
            text = f"it is not {encoding} ({reason}): name another {key}, or leave it out"
            raise ValueError(text) from error
    if dialect.fallback is not None:
        return content.decode(dialect.fallback, errors="replace"), dialect.fallback
    found = _guessed(content)
    return content.decode(found), found


def _guessed(content: bytes) -> str:
    """Return the encoding that bytes seem to be in: of all that fit alike, that of the West."""
    west = charset_normalizer.from_bytes(content, cp_isolation=["cp1252"]).best()
    best = charset_normalizer.from_bytes(content, cp_isolation=ENCODINGS).best()
    if best is None or (west and (west.chaos, -west.coherence) <= (best.chaos, -best.coherence)):
        return "cp1252"
    return best.encoding


def _separator(text: str, usual: str, notes: list[str]) -> str:
    """Return the usual separator, or where it makes one column that which makes the most."""
    if said := _SEP.match(text):
        return str(said[1])
    widths: dict[str, int] = {}
    for separator in (usual, *OTHERS):
        records = [*islice(filter(any, _records(text, separator)), 20)]
        alike = len({*map(len, records)}) == 1 or separator == usual
        widths.setdefault(separator, len(records[0]) if records and alike else 0)
    best = max(widths, key=lambda one: widths[one])
    if widths[usual] > 1 or widths[best] == 1:
        return usual
    notes.append(f"cells are separated by {best!r}")
    return best


def _records(text: str, separator: str) -> Iterator[list[str]]:
    """Yield the records of a text, blank ones too."""
    lines = io.StringIO(text, newline="")
    if separator == " ":
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=separator)


def _header(text: str, separator: str) -> tuple[list[str], int]:
    """Return the first record that is not blank, and how many records end with it."""
    for number, record in enumerate(_records(text, separator), start=1):
        if any(cell.strip() for cell in record) and not _SEP.match(separator.join(record) + "\n"):
            if len(record) > MOST_COLUMNS:
                raise ValueError(
                    f"the header has {len(record):,} columns, at most {MOST_COLUMNS:,} are "
                    "allowed: leave columns out of the file"
                )
            return record, number
    raise ValueError("there is no header")


def _named(path: Path, frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return the table without empty unnamed columns and row names; each column has a name."""
    names = [str(name) for name in frame.columns]
    kept = []
    for number, name in enumerate(names):
        cells = frame.iloc[:, number]
        if not name.strip() and is_text(cells) and (cells == "").all():
            notes.append(f"column {number + 1} has no name and no cells: left out")
        elif number == 0 and len(names) > 1 and name in ("", "Unnamed: 0") and _names_rows(cells):
            notes.append("the first column has no name and numbers the rows: left out")
        else:
            kept.append(number)
    frame = frame.iloc[:, kept]
    names = [names[number] for number in kept]
    if names and not names[0].strip() and INDEX not in names:
        names[0] = INDEX
    for number, name in enumerate(names):
        if not name.strip():
            raise fault(f"{path}: column {kept[number] + 1} has no name in the header")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise fault(f"{path}: several columns are called {listed(twice)}")
    frame.columns = pd.Index(names)
    return frame


def _names_rows(cells: pd.Series[Any]) -> bool:
    """Say whether a column has whole numbers that are unique."""
    numbers = pd.to_numeric(cells, errors="coerce")
    return bool(numbers.notna().all() and (numbers % 1 == 0).all() and numbers.is_unique)


def _read_parquet(path: Path, notes: list[str]) -> pd.DataFrame:
    """Return the columns of a Parquet file: texts, float64 numbers, datetimes, or truth values."""
    # Without partitioning=None, folders called a=1 would add columns.
    frame = pd.read_parquet(path, engine="pyarrow", partitioning=None).reset_index(drop=True)
    # Categories of numbers come back as numbers; only the metadata know.
    metadata = read_schema(path).pandas_metadata or {"columns": []}
    names = {column["name"]: column["pandas_type"] for column in metadata["columns"]}
    lasting = [*frame.select_dtypes("timedelta").columns]
    notes += [f"column '{name}': durations become seconds" for name in lasting]
    columns = [
        _typed(frame.iloc[:, number], names.get(str(name)) == "categorical")
        for number, name in enumerate(frame.columns)
    ]
    found = pd.concat(columns, axis=1) if columns else frame
    found.columns = pd.Index([str(name) for name in frame.columns])
    return found


def _typed(cells: pd.Series[Any], is_category: bool) -> pd.Series[Any]:
    """Return a column of Parquet as this reader has columns."""
    if isinstance(cells.dtype, pd.CategoricalDtype) or is_category:
        return cells.map(cell_name).astype("str").fillna("")
    kind = str(infer_dtype(cells, skipna=True))
    if kind == "boolean":
        return cells.map(cell_name, na_action="ignore").astype("str").fillna("")
    if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
        return pd.Series(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in ("timedelta", "timedelta64"):
        return pd.to_timedelta(cells).dt.total_seconds()
    if kind in ("datetime", "datetime64", "date"):
        return pd.to_datetime(cells, utc=True).dt.tz_localize(None)
    if kind in ("string", "empty"):
        return cells.astype("str").fillna("")
    return cells.astype(object)  # of no kind: whoever does not drop it is told


def cell_name(cell: Any) -> str:
    """Return what a cell is called as a category or class: whole numbers without a point."""
    if isinstance(cell, str):
        return cell
    if pd.isna(cell):
        return ""
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell)
