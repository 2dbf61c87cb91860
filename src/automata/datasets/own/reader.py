"""Read a user's table from a file: its cells as texts, spelled as in the file."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
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
OTHER_SEPARATORS = (";", "\t", "|", ",", " ")

MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>", "#N/A"]
"""Marks of a missing cell in a text file. In a column of texts to classify they are texts."""

HEAD, FIRST_ROWS, MOST_RAGGED = 4_000_000, 20, 0.1
"""Characters and rows that decide the layout, and the most of these rows with another width."""

_NON_ASCII = re.compile(rb"[^\s,;\"]{0,40}[\x80-\xff][^\s,;\"]{0,40}")


@dataclass(frozen=True)
class Table:
    """The rows of one file; the index of the frame keeps the numbers of the rows in the file."""

    path: Path
    frame: pd.DataFrame
    """The cells as texts, as the file spells them; "" for a missing one."""
    marks: frozenset[str]
    """All marks of a missing cell."""
    lines_above: int
    separator: str | None
    encoding: str | None
    """The configured encoding of a text file."""
    types: Mapping[str, str]
    """The content of a column by its type in Parquet: text, number or date."""
    notes: list[str]
    """Sentences on how the file was read."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return [*self.frame]

    def cells(self, column: str) -> list[str]:
        """Return the cells of a column without blanks around them."""
        return [cell.strip() for cell in self.frame[column].tolist()]

    def place(self, name: str) -> str:
        """Return the file and a column, for the start of a message."""
        return f"{self.path}: column '{name}'"

    def is_missing(self, column: str) -> NDArray[np.bool_]:
        """Return which cells (n,) are missing, in a column that does not hold texts."""
        return np.array([cell in self.marks for cell in self.cells(column)], dtype=np.bool_)

    def require(self, columns: Iterable[str], why: str) -> None:
        """Raise UserError if a column is missing; `why` says who needs it."""
        if absent := [name for name in columns if name not in self.frame]:
            present = f"it has {listed(self.columns)}"
            if self.encoding:
                present += f" (read as {self.encoding}, the encoding of the training file)"
            raise UserError(f"{self.path}: no column {listed(absent)}, which {why}; {present}")

    def count(self, rows: NDArray[np.bool_]) -> str:
        """Return how many `rows` (n,) are true, and the first of them as spreadsheets count."""
        first = int(self.frame.index[int(rows.argmax())]) + 1 + self.lines_above
        return f"{int(rows.sum())}, the first in row {first}"


def _cell_text(cell: Any) -> str:
    """Return a cell of a Parquet file as a text; whole numbers have no decimal point."""
    is_whole = isinstance(cell, (float, np.floating)) and float(cell).is_integer()
    return str(int(cell)) if is_whole and abs(float(cell)) < 1e15 else str(cell)


def read_table(path: Path, own: OwnTabular | OwnText, usual_separator: str | None = None) -> Table:
    """Return the rows of a file; `usual_separator` is the one of the training file."""
    suffix = next((end for end in SUFFIXES if path.name.lower().endswith(end)), None)
    if suffix is None:
        raise UserError(f"{path}: the name of a table must end in one of {', '.join(SUFFIXES)}")
    notes: list[str] = []
    separator, above, types = None, 0, dict[str, str]()
    try:
        if suffix == ".parquet":
            frame, types = _read_parquet(path, notes)
        else:
            text = _read_text(path, own.encoding)
            usual = usual_separator or SEPARATORS[suffix]
            separator, above = _layout(text, own, usual, bool(usual_separator), notes)
            frame = _cells(text, separator, above, own.header, notes)
            above += own.header
    except (OSError, EOFError, LookupError, ValueError, zlib.error, ArrowException) as error:
        raise UserError(f"{path}: not a readable {suffix} file: {error}") from error
    marks = frozenset([*MISSING, *getattr(own, "missing", [])])
    encoding = own.encoding if separator else None
    return Table(path, _named(frame, notes), marks, above, separator, encoding, types, notes)


def decoded(content: bytes, encoding: str | None) -> str:
    """Return the text of a file in `encoding`; by default UTF-8, or UTF-16 with a mark."""
    has_mark = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    text = content.decode(encoding or ("utf-16" if has_mark else "utf-8")).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_text(path: Path, encoding: str | None) -> str:
    """Return the text of a table; an error proposes other encodings."""
    content = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        content = gzip.decompress(content)
    try:
        return decoded(content, encoding)
    except (LookupError, UnicodeError) as error:
        # Only a hint: cells are short, and half of the guesses were wrong.
        words = b" ".join(dict.fromkeys(_NON_ASCII.findall(content)))[:2000]
        guesses = dict[str, str]()
        with suppress(UnicodeError):  # the most frequent one first
            guesses[words.decode("cp1252")] = "cp1252"
        for guess in charset_normalizer.from_bytes(words, threshold=0.5):
            guesses.setdefault(str(guess), guess.encoding)
        fits = ", ".join(f"{name} ('{text:.40}')" for text, name in [*guesses.items()][:5] if text)
        assumed = encoding or getattr(error, "encoding", "")
        raise ValueError(
            f"it is not {assumed} ({getattr(error, 'reason', error)}): name its encoding (key: "
            f"encoding; automata new --encoding){f': perhaps {fits}' * bool(fits)}"
        ) from error


def _layout(
    text: str, own: OwnTabular | OwnText, usual: str, known: bool, notes: list[str]
) -> tuple[str, int]:
    """Return the separator, the usual one if it fits, and the number of lines above the table."""
    usual, others = (own.separator, ()) if own.separator else (usual, OTHER_SEPARATORS)
    columns, above = {}, {}
    for mark in (usual, *others):
        columns[mark], above[mark] = _shape(text[:HEAD], mark, own.header)
    # A mark that is not in the first line may be a part of cells, in a table of one column.
    sure = {mark for mark in above if mark == usual or not (above[mark] and (known or mark == " "))}
    fits = {mark for mark in sure if columns[mark] > 1}
    best = max(above, key=lambda m: (m in fits, -above[m], m == usual, columns[m]))
    if best not in fits:
        return usual, 0
    if best != usual:
        notes.append(f"cells are separated by {best!r}")
    if above[best]:
        first = text.strip().partition("\n")[0]
        notes.append(f"lines above the table are left out: {above[best]}, such as '{first:.40}'")
    return best, above[best]


def _shape(text: str, separator: str, header: bool) -> tuple[int, int]:
    """Return the number of columns, 0 if the first rows differ, and the number of lines above."""
    rows, ends = [], [0]
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    with suppress(csv.Error):
        for row in islice(reader, FIRST_ROWS):
            rows.append([cell for cell in row if cell] if separator == " " else row)
            ends.append(reader.line_num)
    width = Counter(len(row) for row in rows if row).most_common(1)[0][0] if any(rows) else 0
    for number, row in enumerate(rows):
        is_title = not any(cell.strip() for cell in row[1:])
        after = rows[number + 1] if number + 1 < len(rows) else []
        if row and row[0].startswith("#"):  # a comment, or a header
            is_title |= len(row) < width or separator == " " or "".join(after[:1])[:1] == "#"
        if not header or (width - 1 <= len(row) <= width and not is_title):
            below = [len(row) for row in rows[number + 1 :] if row]
            is_even = sum(count != width for count in below) <= MOST_RAGGED * len(below)
            return (width, ends[number]) if is_even else (0, 0)
    return 0, 0


def _cells(
    text: str, separator: str, above: int, has_header: bool, notes: list[str]
) -> pd.DataFrame:
    """Return the cells of a text file as it spells them."""
    frame: pd.DataFrame = pd.read_csv(
        io.StringIO(text),
        sep=r"\s+" if separator == " " else separator,
        header=0 if has_header else None,
        skiprows=above,
        skip_blank_lines=separator in "".join(text.split("\n")[above : above + 1]),
        dtype=object,
        keep_default_na=False,
        skipinitialspace=True,
    )
    if not isinstance(frame.index, pd.RangeIndex):  # rows have more cells than the header
        if frame.index.nlevels > 1:
            raise ValueError(f"rows have {frame.index.nlevels} cells more than the header")
        frame = frame.reset_index(names="Unnamed: 0")
        if (frame.iloc[:, -1].fillna("") == "").all():  # rows end with a separator
            frame = frame.iloc[:, :-1].set_axis(frame.columns[1:], axis=1)
    if not has_header:
        frame.columns = pd.Index([f"column {n}" for n in range(1, frame.shape[1] + 1)])
    first = above + has_header
    lines = sum(bool(line.strip()) for line in text.split("\n")[first:])
    if lines > len(frame):
        breaks = frame.apply(lambda cells: cells.str.count("\n"))
        column, row = breaks.max().idxmax(), int(breaks.max(axis=1).argmax())
        if most := breaks[column][row]:  # else the header has them
            notes.append(
                f"{lines} lines are {len(frame)} rows: the cell in row {row + first + 1} of column "
                f"'{column}' has {most} line breaks: is a quote open there?"
            )
    return frame


def _named(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return the table without columns that have no name, such as row numbers."""
    names = [str(name).strip() for name in frame.columns]
    if len({*names}) == len(names):
        frame.columns = pd.Index(names)
    unnamed = {name: n for n, name in enumerate(frame, 1) if str(name).startswith("Unnamed: ")}
    notes += [f"column {number} has no name: left out" for number in unnamed.values()]
    return frame.drop(columns=unnamed) if unnamed else frame


def _read_parquet(path: Path, notes: list[str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the cells of a Parquet file as texts, and the content of its columns by type."""
    try:
        # partitioning=None: else a folder called a=1 would add a column.
        frame = pd.read_parquet(path, engine="pyarrow", partitioning=None)
        # pandas returns categories of numbers as numbers; the metadata has their type.
        stored = (read_schema(path).pandas_metadata or {"columns": []})["columns"]
        categories = [str(it["name"]) for it in stored if it["pandas_type"] == "categorical"]
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"its pandas metadata are damaged ({error!r}): write it again") from error
    notes += [f"index '{name}': left out" for name in frame.index.names if name is not None]
    frame = frame.reset_index(drop=True)
    frame.columns = frame.columns.map(str)
    for name in frame.select_dtypes("timedelta"):
        notes.append(f"column '{name}': durations become seconds")
        frame[name] = frame[name].dt.total_seconds()
    dtypes: dict[str, Any] = {"number": "number", "date": ["datetime", "datetimetz"]}
    dtypes["text"] = ["category", "str"]
    types = {str(name): kind for kind in dtypes for name in frame.select_dtypes(dtypes[kind])}
    stored_as = {"decimal": "number", "date": "date"}
    for name in frame.select_dtypes("object"):
        if kind := stored_as.get(pd.api.types.infer_dtype(frame[name])):
            types[str(name)] = kind
    types |= dict.fromkeys(categories, "text")
    types = {name.strip(): kind for name, kind in types.items()} | types  # as in `_named`
    cells = {}
    for name, column in frame.items():
        has_whole = column.dtype != np.float64 or (column % 1 == 0).any()
        spell = _cell_text if has_whole else repr  # repr is three times as fast
        cells[name] = [spell(cell) for cell in column.tolist()]
        for row in np.flatnonzero(column.isna()):
            cells[name][row] = ""
    return pd.DataFrame(cells, dtype=object), types
