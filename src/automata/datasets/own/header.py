"""A user's files by their first bytes: how tables are written, and what is wrong with the data.

The standard library alone, and pyarrow for Parquet: the workflow asks while it plans, so that
nobody waits for a job to learn the name of a column.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from automata.datasets.own.paths import KEYS, fault, listed, problem_of_file
from automata.errors import UserError

SPLITTING = ("group", "order")
"""Keys that name the column by which rows are split."""

SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
SUFFIXES = [*SEPARATORS, ".parquet"]

UNREADABLE = (OSError, EOFError, ValueError, zlib.error, csv.Error)
"""What reading a file can end with; an encoding that cannot be undone is a ValueError."""

INDEX = "index"
"""What the row names that pandas writes first, without a name, are called."""

OF_A_KIND = ("numbers", "texts")
"""Names in `fill` that stand for all columns of a kind, unless a column is called so."""

Problem = tuple[str, str]
"""A key, and what is wrong with it."""

Header = tuple[Path, Sequence[str]]
"""A file and its columns."""

MOST_FEATURES = 100_000
"""The most features of a table, and the most columns of its file: wider ones are refused."""

_LONGEST = 2**24  # characters of one line that are read in search of a header
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Layout:
    """What a user says of how files are written; None is what is usual."""

    key: str = "own_datasets.NAME"
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()

    @staticmethod
    def of(own: Mapping[str, Any], key: str) -> Layout:
        """Return the layout in the description `own` of a data set, which stands at `key`."""
        said = own.get("separator"), own.get("decimal"), own.get("encoding")
        return Layout(key, *said, missing=tuple(own.get("missing") or ()))

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


def columns_of(path: Path, layout: Layout) -> list[str] | None:
    """Return the columns by the header, of whatever size the file is; None if it cannot be told.

    Raises UserError if there is no header, or one that no table can have.
    """
    try:
        if suffix_of(path) in SEPARATORS:
            columns = _header(path, layout, layout.separator_of(path))
        elif find_spec("pyarrow") is None:  # as where nothing but Snakemake is installed
            return None
        else:
            columns = _parquet_columns(path)
            _require_few(path, columns)
        _require_names(columns)
    except UNREADABLE as error:
        raise unreadable(path, layout, error) from error
    return columns


def _require_few(path: Path, columns: list[str]) -> None:
    """Raise UserError for more columns than a table has: to look at each would take minutes."""
    if len(columns) > MOST_FEATURES:
        raise fault(
            f"{path}: the header has {len(columns):,} columns, at most {MOST_FEATURES:,} are "
            "allowed: leave columns out of the file"
        )


def _require_names(columns: list[str]) -> None:
    """Raise ValueError for what pandas would silently name itself: 'a.1', 'Unnamed: 0'."""
    seen = set()
    for number, column in enumerate(columns, start=1):
        if not column.strip():
            raise ValueError(f"column {number} has no name in the header; name it or drop it")
        if column in seen:
            raise ValueError(f"two columns are called '{column}'")
        seen.add(column)


def unreadable(path: Path, layout: Layout, error: Exception) -> UserError:
    """Return the error for a table that cannot be read: what it seems to need, or what is said."""
    needs = _needs_encoding(path, layout, error) or needs_separator(path, layout)
    return fault(f"{path}: {needs or f'not a readable {suffix_of(path)} file: {error}'}")


def needs_separator(path: Path, layout: Layout) -> str | None:
    """Say which separator would make more columns of the header; None where none does."""
    if suffix_of(path) not in SEPARATORS:
        return None
    widths = {}
    for separator in dict.fromkeys([layout.separator_of(path), ";", "\t", "|", ","]):
        try:
            widths[separator] = len(_header(path, layout, separator))
        except UNREADABLE:
            widths[separator] = 0
    best = max(widths, key=lambda separator: widths[separator])
    if widths[best] == widths[layout.separator_of(path)]:
        return None
    shown = json.dumps(best)
    return f"its cells seem separated by {shown}: give {layout.key}.separator: {shown}"


def _header(path: Path, layout: Layout, separator: str) -> list[str]:
    """Return the first record of a text file that is not blank, as pandas does."""
    with _opened(path, mode="rt", encoding=layout.codec(), newline="") as file:
        for record in csv.reader(_lines(file), delimiter=separator):
            if len(record) > 1 or (record and record[0].strip()):
                _require_few(path, record)  # also where it is only asked what separates them
                return _with_index(record)
    raise ValueError("there is no header")


def _with_index(record: list[str]) -> list[str]:
    """Return the header, a first column without a name called `index`: pandas writes its so."""
    first, *rest = record
    return [INDEX, *rest] if not first and rest and INDEX not in rest else record


def _opened(path: Path, **how: Any) -> IO[Any]:
    """Open a file that may be compressed."""
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[Any] = opener(path, **how)
    return file


def _lines(file: IO[str]) -> Iterator[str]:
    """Yield the lines of `file`; raises ValueError for one that is as long as only damage is."""
    while line := file.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise ValueError(f"a line has {_LONGEST:,} characters or more")
        yield line


def _parquet_columns(path: Path) -> list[str]:
    from pyarrow.parquet import read_schema  # type: ignore[import-untyped]

    schema = read_schema(path)
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return [str(column) for column in schema.names if column not in index]


def _needs_encoding(path: Path, layout: Layout, error: Exception) -> str | None:
    """Say which encoding a text file seems to be in, if it is not in its own; else None."""
    if suffix_of(path) not in SEPARATORS:
        return None
    key = f"{layout.key}.encoding"
    if _starts_wide(path) and "utf-16" not in layout.codec():
        return f"it seems to be UTF-16: give {key}: utf-16"
    if isinstance(error, UnicodeError) and layout.encoding is not None:
        reason = getattr(error, "reason", error)
        return f"it is not {layout.encoding} ({reason}): leave {key} out, or name another"
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"byte 0x{byte:02x} is not UTF-8: give {key}, such as latin-1 or cp1252"
    return None


def _starts_wide(path: Path) -> bool:
    """Return whether a text file begins as those of two bytes per character do."""
    try:
        with _opened(path, mode="rb") as file:
            return file.read(2) in _WIDE
    except UNREADABLE:
        return False


def problems(own: Mapping[str, Any], key: str) -> Iterator[Problem]:
    """Yield what is wrong with the description `own`, which obeys the schema and stands at `key`.

    Of a file its first line is read, of a folder the names: what is in them the job finds out.
    """
    given = {name: own[name] for name in KEYS.values() if own.get(name) is not None}
    found = [(f"{key}.{name}", problem_of_file(path, own["kind"])) for name, path in given.items()]
    broken = [(name, problem) for name, problem in found if problem is not None]
    yield from broken
    if broken:
        return
    look = _problems_of_images if own["kind"] == "image" else _problems_of_tables
    yield from look(own, key, {name: Path(path) for name, path in given.items()})


def _problems_of_tables(
    own: Mapping[str, Any], key: str, paths: Mapping[str, Path]
) -> Iterator[Problem]:
    layout = Layout.of(own, key)
    headers = {}
    for name, path in paths.items():
        try:
            problem = layout.problem(path)
            columns = None if problem else columns_of(path, layout)
        except UserError as error:
            problem, columns = (f"{key}.{name}", str(error)), None
        if problem is not None:
            yield problem
            return
        if columns is None:
            return
        headers[name] = columns
    train = headers.pop("path")
    found = list(column_problems(own, layout, paths["path"], train))
    yield from found
    if found:
        return
    for name, columns in headers.items():
        problem = lacking(own, f"{key}.{name}", (paths[name], columns), (paths["path"], train))
        if problem is not None:
            yield problem


def column_problems(
    own: Mapping[str, Any], layout: Layout, path: Path, columns: Sequence[str]
) -> Iterator[Problem]:
    """Yield what `own` says of columns that the training file at `path` cannot give."""
    key, target, drop = layout.key, own["target"], own.get("drop") or []
    for name in ("text", "target"):
        if name in own and own[name] not in columns:
            needs = needs_separator(path, layout)
            yield _unknown(f"{key}.{name}", path, own[name], columns, needs)
            return
    if own.get("text") == target:
        yield f"{key}.text", f"'{target}' is the target as well"
    for column in drop:
        if column == target:
            yield f"{key}.drop", f"'{target}' is the target, which every row needs"
        elif column not in columns:
            yield _unknown(f"{key}.drop", path, column, columns)
    for name in SPLITTING:
        if own.get(name) == target:
            yield f"{key}.{name}", f"'{target}' is the target as well"
        elif own.get(name) is not None and own[name] not in columns:
            yield _unknown(f"{key}.{name}", path, own[name], columns)
    if all(own.get(name) is not None for name in SPLITTING):
        yield f"{key}.order", f"{key}.group is given as well: rows are split by one of them"
    features = features_of(own, columns)
    for name in ("categorical", "dates", "fill"):
        for column in own.get(name) or []:
            if column not in features and not (name == "fill" and column in OF_A_KIND):
                yield _unknown(f"{key}.{name}", path, column, features)
    for column in own.get("dates") or []:
        if column in (own.get("categorical") or []):
            yield f"{key}.dates", f"'{column}' is in {key}.categorical as well"


def features_of(own: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """Return those of `columns` that are features, or the one of the texts."""
    if own["kind"] == "text":
        return [own["text"]]
    unread = {own["target"], own.get("group"), own.get("order"), *(own.get("drop") or [])}
    return [column for column in columns if column not in unread]


def lacking(own: Mapping[str, Any], key: str, other: Header, train: Header) -> Problem | None:
    """Return the problem of a file that lacks columns of the training file, None if it has all."""
    (path, columns), (training, known) = other, train
    read = {own["target"], *features_of(own, known)}
    absent = [column for column in known if column in read and column not in columns]
    if not absent:
        return None
    found = f"{listed(absent)}; it has {listed(columns)}"
    return key, f"{path} lacks columns that {training} has: {found}"


def _unknown(
    key: str, path: Path, column: str, valid: Sequence[str], needs: str | None = None
) -> Problem:
    more = f"; {needs}" if needs else ""
    return key, f"{path} has no column '{column}' for it: {listed(valid)}{more}"


def _problems_of_images(
    own: Mapping[str, Any], key: str, paths: Mapping[str, Path]
) -> Iterator[Problem]:
    for name, path in paths.items():
        look = _problem_of_folder if path.is_dir() else _problem_of_arrays
        problem = look(path, at_least=2 if name == "path" else 1)
        if problem is not None:
            yield f"{key}.{name}", problem


def _problem_of_arrays(path: Path, at_least: int) -> str | None:
    if path.suffix.lower() != ".npz":
        return no_images(path)
    try:
        with zipfile.ZipFile(path) as file:
            stored = [name.removesuffix(".npy") for name in file.namelist()]
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        return f"{path}: not a readable .npz file: {error}"
    return missing_array(path, stored)


def no_images(path: Path) -> str:
    """Say that `path` holds no images in a form that is read."""
    return (
        f"'{path}' is neither an .npz with `images` and `labels` nor a folder with a folder of "
        "images per class"
    )


def missing_array(
    path: Path, stored: Sequence[str], needed: Sequence[str] = ("images", "labels")
) -> str | None:
    """Say which `needed` array an .npz lacks that has those that are `stored`, None if none."""
    for name in needed:
        if name not in stored:
            every = " and ".join(f"`{name}`" for name in needed)
            found = listed(stored)
            return f"{path}: array `{name}` is missing, it must have {every}; found: {found}"
    return None


def _problem_of_folder(path: Path, at_least: int) -> str | None:
    try:
        inside = sorted(os.scandir(path), key=lambda entry: entry.name)
        classes = [entry for entry in inside if entry.is_dir() and not entry.name.startswith(".")]
        if len(classes) < at_least:
            found = listed(entry.name for entry in classes) or "none"
            wanted = f"a folder of images for each of at least {at_least} class(es)"
            return f"{path}: expected {wanted}; found: {found}"
        # A kind of file costs no look at the file itself, of which there may be a million.
        for entry in (entry for folder in classes for entry in os.scandir(folder)):
            if not entry.is_file() and not entry.is_dir():
                return f"{entry.path}: not a regular file"
    except OSError as error:
        return f"{path}: cannot be read: {error.strerror}"
    return None
