"""The one reader of a user's table: from a file to cells, as the file spells them.

Training files, test files, `automata new` and `automata predict` call `read_table`.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import charset_normalizer
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyarrow.lib import ArrowException  # type: ignore[import-untyped]
from pyarrow.parquet import read_schema  # type: ignore[import-untyped]

from automata.config.data import OwnTabular, OwnText
from automata.errors import UserError, listed

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = [*SEPARATORS, ".parquet"]
OTHERS = (";", "\t", "|", ",", " ")
"""Separators that are tried where that of the suffix makes one column."""

MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>", "#N/A"]
"""Marks of a missing cell in a text file; in a column of texts they are texts."""

ENCODINGS = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254"),
    *("cp932", "gb18030", "big5", "cp949", "euc_jp"),
]
"""Encodings that are tried on a text file that is not UTF-8."""

UNNAMED, INDEX = "Unnamed: 0", "index"
"""Names of a first column that has none, in pandas and here: pandas and R write row names so."""

_SEP = re.compile(r'"?sep=(.)"?[ \t]*\r?\n')
"""The first line that some spreadsheets write."""


@dataclass(frozen=True)
class Table:
    """The rows of one file; those that are left out leave gaps in the index of the frame."""

    path: Path
    frame: pd.DataFrame
    """The cells as texts, as the file spells them; "" for a missing one."""
    missing: Sequence[str] = ()
    """Further marks of a missing cell, by the user."""
    has_header: bool = False
    separator: str | None = None
    """None for Parquet."""
    encoding: str | None = None
    """None for UTF-8 and Parquet."""
    texts: set[str] = field(default_factory=set)
    """Columns whose type in Parquet says that they hold texts, and no numbers."""
    notes: list[str] = field(default_factory=list)
    """Decisions on the file, as sentences."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return [*self.frame]

    def row(self, index: Any) -> str:
        """Return a row, by its index in the frame, as spreadsheets count: the header is row 1."""
        return f"row {index + 1 + self.has_header}"

    def column(self, name: str) -> str:
        """Return file and column, as messages begin."""
        return f"{self.path}: column '{name}'"

    def gaps(self, column: str, *more: str) -> NDArray[np.bool_]:
        """Return which cells (n,) are missing in a column that holds no texts."""
        marks = [*MISSING, *self.missing, *more]
        return self.frame[column].str.strip().isin(marks).to_numpy(dtype=bool)

    def require(self, columns: Iterable[str], why: str) -> None:
        """Raise UserError if a column is not there; `why` says who needs it."""
        absent = [name for name in columns if name not in self.columns]
        if absent:
            raise UserError(
                f"{self.path}: no column {listed(absent)}, which {why}; it has "
                f"{listed(self.columns)}"
            )

    def count(self, rows: NDArray[np.bool_]) -> str:
        """Return how many rows (n,) are marked, and the first of them."""
        return f"{int(rows.sum())}, the first in {self.row(self.frame.index[int(rows.argmax())])}"


def cell_name(cell: Any) -> str:
    """Return a cell as a text: whole numbers without a point, and nothing for a missing one."""
    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return ""
    is_whole = isinstance(cell, (float, np.floating)) and float(cell).is_integer()
    return str(int(cell)) if is_whole else str(cell)


def read_table(
    path: Path,
    own: OwnTabular | OwnText | None = None,
    usual_separator: str | None = None,
    usual_encoding: str | None = None,
) -> Table:
    """Return the rows of a file; raises UserError, in one line, if it is no table.

    A text file is written as `own` says. What that leaves out shows in the file; `usual_separator`
    and `usual_encoding` are those that the training file shows.
    """
    suffix = next((end for end in SUFFIXES if path.name.lower().endswith(end)), None)
    if suffix is None:
        raise UserError(f"{path}: the name of a table must end in one of {', '.join(SUFFIXES)}")
    notes: list[str] = []
    separator = encoding = None
    texts: set[str] = set()
    has_header = own is None or own.header
    try:
        if suffix == ".parquet":
            (frame, texts), has_header = _read_parquet(path, notes), False
        else:
            text, encoding = _decoded(path, own.encoding if own else None, usual_encoding)
            if encoding and not usual_encoding:
                notes.append(f"the encoding seems to be {encoding} (key: encoding)")
            if said := _SEP.match(text):
                text = text[said.end() :]
            separator = (own and own.separator) or (said and said[1])
            separator = separator or _separator(text, usual_separator or SEPARATORS[suffix], notes)
            frame = _cells(text, separator, has_header)
    except (OSError, EOFError, LookupError, ValueError, zlib.error, ArrowException) as error:
        raise UserError(f"{path}: not a readable {suffix} file: {error}") from error
    missing = own.missing if isinstance(own, OwnTabular) else []
    return Table(path, _named(frame, notes), missing, has_header, separator, encoding, texts, notes)


def _decoded(path: Path, encoding: str | None, usual: str | None) -> tuple[str, str | None]:
    """Return the text of a file, and its encoding where that had to be guessed."""
    content = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        content = gzip.decompress(content)
    if encoding is None and content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    try:
        return content.decode(encoding or "utf-8").removeprefix("\ufeff"), None
    except (LookupError, UnicodeError) as error:
        if encoding is not None:
            reason = getattr(error, "reason", error)
            text = f"it is not {encoding} ({reason}): change the key encoding, or leave it out"
            raise ValueError(text) from error
    found = usual or _guessed(content)
    return content.decode(found, errors="replace" if usual else "strict"), found


def _guessed(content: bytes) -> str:
    """Return the encoding that fits bytes best; among equals the Western one."""
    west = charset_normalizer.from_bytes(content, cp_isolation=["cp1252"]).best()
    best = charset_normalizer.from_bytes(content, cp_isolation=ENCODINGS).best()
    if best is None or (west and (west.chaos, -west.coherence) <= (best.chaos, -best.coherence)):
        return "cp1252"
    return best.encoding


def _separator(text: str, usual: str, notes: list[str]) -> str:
    """Return the usual separator, or if it makes one column, the one that makes the most."""
    widths = {separator: _width(text, separator) for separator in (usual, *OTHERS)}
    best = max(widths, key=lambda separator: widths[separator])
    if widths[usual] > 1 or widths[best] <= 1:
        return usual
    notes.append(f"cells are separated by {best!r}")
    return best


def _width(text: str, separator: str) -> int:
    """Return the number of columns of the first rows, or 0 if it is not the same in all."""
    try:
        rows = _parsed(text, separator, header=None, nrows=20)
    except ValueError:
        return 0
    return 0 if rows.isna().to_numpy().any() else rows.shape[1]


def _parsed(text: str, separator: str, **how: Any) -> pd.DataFrame:
    """Return the cells of a text, each as it is spelled, and NaN at the end of short rows."""
    pattern = r"\s+" if separator == " " else separator
    frame: pd.DataFrame = pd.read_csv(
        io.StringIO(text), sep=pattern, dtype="str", keep_default_na=False, **how
    )
    return frame


def _cells(text: str, separator: str, has_header: bool) -> pd.DataFrame:
    """Return the cells of a text below the names of their columns."""
    frame = _parsed(text, separator, header=0 if has_header else None)
    if not isinstance(frame.index, pd.RangeIndex):  # rows have more cells than the header
        if frame.index.nlevels > 1:
            raise ValueError(f"rows have {frame.index.nlevels} cells more than the header")
        if (frame.iloc[:, -1].fillna("") == "").all():  # rows end with a separator
            frame = frame.reset_index().iloc[:, :-1].set_axis(frame.columns, axis=1)
        else:
            frame = frame.reset_index(names=UNNAMED)
    if not has_header:
        frame.columns = pd.Index([f"column {n}" for n in range(1, frame.shape[1] + 1)])
    return frame.fillna("")


def _named(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return the table without unnamed columns that are empty, or number the rows."""
    for number, name in enumerate(map(str, frame.columns)):
        if not name.startswith("Unnamed: "):
            continue
        numbers = pd.to_numeric(frame[name], errors="coerce")
        counts = number == 0 and (numbers % 1 == 0).all() and numbers.is_unique
        if counts or (frame[name] == "").all():
            what = "numbers the rows" if counts else "has no cells"
            notes.append(f"column {number + 1} has no name and {what}: left out")
            frame = frame.drop(columns=name)
    return frame if INDEX in frame else frame.rename(columns={UNNAMED: INDEX})


def _read_parquet(path: Path, notes: list[str]) -> tuple[pd.DataFrame, set[str]]:
    """Return the cells of a Parquet file as texts, and the columns that are of texts there."""
    try:
        # Without partitioning=None, folders called a=1 would add columns.
        frame = pd.read_parquet(path, engine="pyarrow", partitioning=None).reset_index(drop=True)
        # Categories of numbers come back as numbers; only the metadata know.
        about = (read_schema(path).pandas_metadata or {"columns": []})["columns"]
        texts = {str(it["name"]) for it in about if it["pandas_type"] == "categorical"}
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"its pandas metadata are damaged ({error!r}): write it again") from error
    frame.columns = frame.columns.map(str)
    for name in frame.select_dtypes("timedelta"):
        notes.append(f"column '{name}': durations become seconds")
        frame[name] = frame[name].dt.total_seconds()
    texts |= {str(name) for name in frame.select_dtypes(["category", "str"])}
    return frame.map(cell_name).astype("str"), texts
