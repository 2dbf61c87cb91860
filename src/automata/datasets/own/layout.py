"""How a file of a table is written: suffix, separator, decimal mark, encoding, and its header.

The standard library alone, and pyarrow for Parquet: the workflow asks while it plans.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import IO, Any

from automata.datasets.own.paths import fault

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = [*SEPARATORS, ".parquet"]

UNREADABLE = (OSError, EOFError, ValueError, zlib.error, csv.Error)
"""What reading a file can end with; an encoding that cannot be undone is a ValueError."""

_LONGEST = 2**24  # characters of one line that are read in search of a header
_SAMPLE = 20  # rows that show how numbers are written
_COMMA_NUMBER = re.compile(r"[-+]?\d*,\d+")


@dataclass(frozen=True)
class Layout:
    """What a user says of how files are written; None is what is usual."""

    key: str = "own_datasets.NAME"
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    @staticmethod
    def of(own: Mapping[str, Any], key: str) -> Layout:
        """Return the layout in the description `own` of a data set, which stands at `key`."""
        return Layout(key, own.get("separator"), own.get("decimal"), own.get("encoding"))

    def problem(self, path: Path) -> tuple[str, str] | None:
        """Return the key that says what cannot be of `path`, and why; None if there is none."""
        try:
            " ".encode(self.encoding or "utf-8")
        except (LookupError, ValueError):
            valid = "such as latin-1 or utf-16"
            return f"{self.key}.encoding", f"'{self.encoding}' is no encoding, {valid}"
        if suffix_of(path) in SEPARATORS and self.decimal == self.separator_of(path):
            wanted = f'give {self.key}.separator, such as ";"'
            return f"{self.key}.decimal", f"'{self.decimal}' separates the cells as well: {wanted}"
        return None

    def separator_of(self, path: Path) -> str:
        """Return what separates the cells of a text file."""
        return self.separator or SEPARATORS[suffix_of(path)]

    def codec(self) -> str:
        """Return the encoding; a byte order mark of UTF-8 does not count."""
        name = codecs.lookup(self.encoding or "utf-8").name
        return "utf-8-sig" if name == "utf-8" else name


def suffix_of(path: Path) -> str:
    """Return the suffix of a table; raises UserError for others."""
    found = next((end for end in SUFFIXES if path.name.lower().endswith(end)), None)
    if found is None:
        raise fault(f"{path}: the name of a table must end in one of {', '.join(SUFFIXES)}")
    return found


def opened(path: Path, **how: Any) -> IO[Any]:
    """Open a file that may be compressed."""
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[Any] = opener(path, **how)
    return file


def columns_of(path: Path, layout: Layout) -> list[str] | None:
    """Return the columns by the header, of whatever size the file is; None if it cannot be told.

    Raises UserError if there is no header, or one that no table can have.
    """
    suffix = suffix_of(path)
    try:
        if suffix in SEPARATORS:
            separator = layout.separator_of(path)
            columns = next(_records(path, layout, separator), None)
            if columns is None:
                raise ValueError("there is no header")
        else:
            columns = _parquet_columns(path)
        require_names(columns or [])
    except UNREADABLE as error:
        raise unreadable(path, layout, error) from error
    return columns


def require_names(columns: list[str]) -> None:
    """Raise ValueError for what pandas would silently name itself: 'a.1', 'Unnamed: 0'."""
    seen = set()
    for number, column in enumerate(columns, start=1):
        if not column.strip():
            raise ValueError(f"column {number} has no name in the header; name it or drop it")
        if column in seen:
            raise ValueError(f"two columns are called '{column}'")
        seen.add(column)


def unreadable(path: Path, layout: Layout, error: Exception) -> Exception:
    """Return the error for a table that cannot be read: what it seems to need, or what is said."""
    needs = _needs_encoding(path, layout, error) or needs_separator(path, layout)
    return fault(f"{path}: {needs or f'not a readable {suffix_of(path)} file: {error}'}")


def needs_separator(path: Path, layout: Layout) -> str | None:
    """Say which separator, and decimal mark, would make more columns of the header; else None."""
    if suffix_of(path) not in SEPARATORS:
        return None
    used = layout.separator_of(path)
    rows = {s: _sample(path, layout, s) for s in dict.fromkeys([used, ";", "\t", "|", ","])}
    best = max(rows, key=lambda s: len(rows[s][0]))
    if len(rows[best][0]) == len(rows[used][0]):
        return None
    comma = best != "," and any(_COMMA_NUMBER.fullmatch(c) for r in rows[best][1:] for c in r)
    decimal = f' and {layout.key}.decimal: ","' if comma and layout.decimal is None else ""
    shown = json.dumps(best)
    return f"its cells seem separated by {shown}: give {layout.key}.separator: {shown}{decimal}"


def _sample(path: Path, layout: Layout, separator: str) -> list[list[str]]:
    """Return the header and some rows as `separator` cuts them; a header of none if unreadable."""
    try:
        return list(islice(_records(path, layout, separator), _SAMPLE + 1)) or [[]]
    except UNREADABLE:
        return [[]]


def _records(path: Path, layout: Layout, separator: str) -> Iterator[list[str]]:
    """Yield the records of a text file that are not blank, as pandas has them."""
    with opened(path, mode="rt", encoding=layout.codec(), newline="") as file:
        for record in csv.reader(_lines(file), delimiter=separator):
            if len(record) > 1 or (record and record[0].strip()):
                yield record


def _lines(file: IO[str]) -> Iterator[str]:
    """Yield the lines of `file`; raises ValueError for one that is as long as only damage is."""
    while line := file.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise ValueError(f"a line has {_LONGEST:,} characters or more")
        yield line


def _parquet_columns(path: Path) -> list[str] | None:
    if find_spec("pyarrow") is None:  # as where nothing but Snakemake is installed
        return None
    from pyarrow.parquet import read_schema  # type: ignore[import-untyped]

    schema = read_schema(path)
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [str(column) for column in schema.names if column not in index]


def _needs_encoding(path: Path, layout: Layout, error: Exception) -> str | None:
    """Say which encoding a text file seems to be in, if it is not in its own; else None."""
    if suffix_of(path) not in SEPARATORS:
        return None
    key = f"{layout.key}.encoding"
    wide = _wide(path)
    if wide is not None and wide not in layout.codec():
        return f"it seems to be {wide.upper()}: give {key}: {wide}"
    if not isinstance(error, UnicodeError):
        return None
    if layout.encoding is not None:
        reason = getattr(error, "reason", error)
        return f"it is not {layout.encoding} ({reason}): leave {key} out, or name another"
    with opened(path, mode="rb") as file:
        for row, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as fault_here:
                place = fault_here.start
                byte = f"row {row}, byte {place + 1} of it: 0x{line[place]:02x} is not UTF-8"
                return f"{byte}: give {key}, such as latin-1 or cp1252"
    return None


def _wide(path: Path) -> str | None:
    """Return the encoding of two bytes per character that a text file seems to be in."""
    try:
        with opened(path, mode="rb") as file:
            start = file.read(4)
    except UNREADABLE:
        return None
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    empty = [place for place, byte in enumerate(start) if byte == 0]
    return "utf-16-le" if empty == [1, 3] else "utf-16-be" if empty == [0, 2] else None
