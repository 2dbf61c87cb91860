"""The one reader of a user's table: from a file to cells, as the file spells them."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
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
OTHERS = (";", "\t", "|", ",", " ")

MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>", "#N/A"]
"""Marks of a missing cell in a text file; in a column of texts they are texts."""

HEAD, FIRST_ROWS, MOST_RAGGED = 4_000_000, 20, 0.1
"""Characters and rows that show the layout, and the share of rows that may have more cells."""

_FOREIGN = re.compile(rb"[^\s,;\"]{0,40}[\x80-\xff][^\s,;\"]{0,40}")


@dataclass(frozen=True)
class Table:
    """The rows of one file; those that are left out leave gaps in the index of the frame."""

    path: Path
    frame: pd.DataFrame
    """The cells as texts, as the file spells them; "" for a missing one."""
    missing: Sequence[str] = ()
    lines_above: int = 0
    separator: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    """What the type of a column in Parquet says that it holds: text, number or date."""
    notes: list[str] = field(default_factory=list)
    """Decisions on the file, as sentences."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return [*self.frame]

    @cached_property
    def marks(self) -> set[str]:
        """All marks of a missing cell."""
        return {*MISSING, *self.missing}

    def cells(self, column: str) -> list[str]:
        """Return the cells of a column without blanks around them."""
        return [cell.strip() for cell in self.frame[column].tolist()]

    def column(self, name: str) -> str:
        """Return file and column, as messages begin."""
        return f"{self.path}: column '{name}'"

    def gaps(self, column: str) -> NDArray[np.bool_]:
        """Return which cells (n,) of a column that holds no texts are missing."""
        return np.array([cell in self.marks for cell in self.cells(column)], dtype=np.bool_)

    def require(self, columns: Iterable[str], why: str) -> None:
        """Raise UserError if a column is not there; `why` says who needs it."""
        if absent := [name for name in columns if name not in self.frame]:
            there = f"it has {listed(self.columns)}"
            raise UserError(f"{self.path}: no column {listed(absent)}, which {why}; {there}")

    def count(self, rows: NDArray[np.bool_]) -> str:
        """Return how many rows (n,) are marked, and the first of them, as spreadsheets count."""
        first = int(self.frame.index[int(rows.argmax())]) + 1 + self.lines_above
        return f"{int(rows.sum())}, the first in row {first}"


def cell_name(cell: Any) -> str:
    """Return a number, truth value or text as a text: whole numbers without a point."""
    is_whole = isinstance(cell, (float, np.floating)) and float(cell).is_integer()
    return str(int(cell)) if is_whole and abs(float(cell)) < 1e15 else str(cell)


def read_table(path: Path, own: OwnTabular | OwnText, usual_separator: str | None = None) -> Table:
    """Return the rows of a file that is written as `own` and the training file's separator say."""
    suffix = next((end for end in SUFFIXES if path.name.lower().endswith(end)), None)
    if suffix is None:
        raise UserError(f"{path}: the name of a table must end in one of {', '.join(SUFFIXES)}")
    notes: list[str] = []
    separator, above, types = None, 0, dict[str, str]()
    try:
        if suffix == ".parquet":
            frame, types = _read_parquet(path, notes)
        else:
            text = _decoded(path, own.encoding)
            usual = usual_separator or SEPARATORS[suffix]
            separator, above = _layout(text, own, usual, bool(usual_separator), notes)
            frame = _cells(text, separator, above, own.header, notes)
            above += own.header
    except (OSError, EOFError, LookupError, ValueError, zlib.error, ArrowException) as error:
        raise UserError(f"{path}: not a readable {suffix} file: {error}") from error
    missing = getattr(own, "missing", [])
    return Table(path, _named(frame, notes), missing, above, separator, types, notes)


def _decoded(path: Path, encoding: str | None) -> str:
    """Return the text of a file that is UTF-8, or UTF-16 with a mark, or in `encoding`."""
    content = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        content = gzip.decompress(content)
    has_mark = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    supposed = encoding or ("utf-16" if has_mark else "utf-8")
    try:
        text = content.decode(supposed).removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except (LookupError, UnicodeError) as error:
        # Cells are too short for a safe guess: half of the guesses were wrong.
        words = b" ".join(dict.fromkeys(_FOREIGN.findall(content)))[:2000]
        found = charset_normalizer.from_bytes(words, threshold=0.5)
        fits = ", ".join(f"{it.encoding} ('{it!s:.40}')" for it in [*found][:5])
        raise ValueError(
            f"it is not {supposed} ({getattr(error, 'reason', error)}): name its encoding (key: "
            f"encoding; automata new --encoding){f': perhaps {fits}' * bool(fits)}"
        ) from error


def _layout(
    text: str, own: OwnTabular | OwnText, usual: str, known: bool, notes: list[str]
) -> tuple[str, int]:
    """Return the separator, and how many lines are above the table; the usual one if it fits."""
    usual, others = (own.separator, ()) if own.separator else (usual, OTHERS)
    shapes = {it: _shape(text[:HEAD], it, own.header) for it in (usual, *others)}
    # What separates no header may be a part of the cells of one column.
    sure = {it for it in shapes if it == usual or not (shapes[it][1] and (known or it == " "))}
    fits = {it for it in sure if shapes[it][0] > 1}
    best = max(shapes, key=lambda it: (it in fits, -shapes[it][1], it == usual, shapes[it]))
    above = shapes[best][1]
    if best not in fits:
        return usual, 0
    if best != usual:
        notes.append(f"cells are separated by {best!r}")
    if above:
        first = text.strip().partition("\n")[0]
        notes.append(f"lines above the table are left out: {above}, such as '{first:.40}'")
    return best, above


def _shape(text: str, separator: str, header: bool) -> tuple[int, int]:
    """Return how many columns the first rows have, 0 if they differ, and the lines above them."""
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
        if row and row[0].startswith("#"):  # a header, too, may begin so
            is_title |= len(row) < width or separator == " " or "".join(after[:1])[:1] == "#"
        if not header or (width - 1 <= len(row) <= width and not is_title):
            below = [len(it) for it in rows[number + 1 :] if it]
            even = sum(count != width for count in below) <= MOST_RAGGED * len(below)
            return (width, ends[number]) if even else (0, 0)
    return 0, 0


def _cells(
    text: str, separator: str, above: int, has_header: bool, notes: list[str]
) -> pd.DataFrame:
    """Return the cells of a text below the names of their columns, as they are spelled."""
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
        notes.append(
            f"{lines} lines are {len(frame)} rows: the cell in row {row + first + 1} of column "
            f"'{column}' has {breaks[column][row]} line breaks: is a quote open there?"
        )
    return frame


def _named(frame: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Return the table without columns that have no name, as row names have none."""
    names = [str(name).strip() for name in frame.columns]
    if len({*names}) == len(names):
        frame.columns = pd.Index(names)
    unnamed = {name: n for n, name in enumerate(frame, 1) if str(name).startswith("Unnamed: ")}
    notes += [f"column {number} has no name: left out" for number in unnamed.values()]
    return frame.drop(columns=unnamed) if unnamed else frame


def _read_parquet(path: Path, notes: list[str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the cells of a Parquet file as texts, and the types of its columns."""
    try:
        # Without partitioning=None, folders called a=1 would add columns.
        frame = pd.read_parquet(path, engine="pyarrow", partitioning=None).reset_index(drop=True)
        # Categories of numbers come back as numbers; only the metadata know.
        about = (read_schema(path).pandas_metadata or {"columns": []})["columns"]
        names = [str(it["name"]) for it in about if it["pandas_type"] == "categorical"]
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"its pandas metadata are damaged ({error!r}): write it again") from error
    frame.columns = frame.columns.map(str)
    for name in frame.select_dtypes("timedelta"):
        notes.append(f"column '{name}': durations become seconds")
        frame[name] = frame[name].dt.total_seconds()
    of: dict[str, Any] = {"number": "number", "date": ["datetime", "datetimetz"]}
    of["text"] = ["category", "str"]
    types = {str(name): kind for kind in of for name in frame.select_dtypes(of[kind])}
    types |= dict.fromkeys(names, "text")
    cells = {}
    for name, column in frame.items():
        is_broken = column.dtype == np.float64 and not (column % 1 == 0).any()
        spell = repr if is_broken else cell_name  # three times as fast
        cells[name] = [spell(cell) for cell in column.tolist()]
        for row in np.flatnonzero(column.isna()):
            cells[name][row] = ""
    return pd.DataFrame(cells, dtype=object), types
