"""Tables of a user: CSV, TSV and Parquet files, their columns and the classes in one of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype
from pyarrow.parquet import read_schema  # type: ignore[import-untyped]

from automata.config.data import OwnTabular, OwnText
from automata.datasets.own.header import (
    SEPARATORS,
    SUFFIXES,
    UNREADABLE,
    Layout,
    column_problems,
    columns_of,
    features_of,
    lacking,
    suffix_of,
    unreadable,
)
from automata.datasets.own.paths import KEYS, fault, given_paths
from automata.datasets.own.splits import (
    Draw,
    FileLabels,
    Part,
    assign,
    draw,
    draw_groups,
    draw_last,
)
from automata.errors import UserError

MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>", "#N/A"]
"""What a cell of a CSV file holds where there is no value, except in a column of texts."""

CLASSIFIES = (
    "this project classifies, and does not predict amounts; make classes of it, such as low and "
    "high"
)

FEW_CLASSES, MOST_CLASSES = 20, 1000
"""Numbers with more different values are no classes: of a small table, of any."""

DATES = {"date", "datetime", "datetime64", "time", "timedelta", "timedelta64", "period"}
"""Names that pandas has for columns of dates and times."""

DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
"""How texts write dates."""

_DAY_FIRST = r"^(\d{1,2})\.(\d{1,2})\.(\d{4})"


@dataclass(frozen=True)
class Table:
    """The rows of one file, numbered from 0."""

    path: Path
    frame: pd.DataFrame
    layout: Layout = field(default_factory=Layout)

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return [str(column) for column in self.frame]

    def place(self, row: int) -> str:
        """Return where a user finds row number `row`, as spreadsheets count: a header is row 1.

        Blank lines of a text file are no rows, and Parquet has no row for its header.
        """
        return f"row {row + 1 + (suffix_of(self.path) in SEPARATORS)}"

    def where(self, column: str) -> str:
        """Return file and column, as messages begin."""
        return f"{self.path}: column '{column}'"

    def empty(self, column: str, *, blank: bool = False) -> NDArray[np.bool_]:
        """Return which rows (n,) have nothing in `column`; with `blank`, also white space."""
        cells = self.frame[column]
        found = cells.isna()
        if _holds(cells) == "string":
            text = cells.astype("str").fillna("")
            found |= (text.str.strip() if blank else text) == ""
        return found.to_numpy(dtype=bool)

    def nothing(self, column: str, empty: NDArray[np.bool_], what: str, remedy: str) -> UserError:
        """Return the error that says how many rows have no `what`, and where the first is."""
        count, first = int(empty.sum()), int(empty.argmax())
        return fault(
            f"{self.where(column)}: {count} missing {what}, the first in {self.place(first)}: "
            f"{remedy}"
        )


def read_own(
    name: str, own: OwnTabular | OwnText, words: Collection[str] = (), texts: Collection[str] = ()
) -> tuple[dict[str, Table], list[str], dict[str, Part]]:
    """Return the tables of the data set `name` by split, its classes, and the rows of each split.

    `words` and `texts` are those of `read_tables`. Raises UserError if a file cannot be read or
    split, or lacks a column.
    """
    said = own.model_dump()
    tables = read_tables(
        given_paths(name, own), Layout.of(said, f"own_datasets.{name}"), words, texts
    )
    _require_columns(said, tables)
    labels = {split: target_labels(table, own.target) for split, table in tables.items()}
    return tables, *assign(name, labels, _drawing(tables["train"], own))


def _drawing(train: Table, own: OwnTabular | OwnText) -> Draw:
    """Return how splits without a file are drawn; raises UserError for a column that will not do.

    Rows of one group stay together; in an order the last ones are drawn.
    """
    column = own.group or own.order
    if column is None:
        return draw
    gaps = train.empty(column)
    if gaps.any():
        raise train.nothing(column, gaps, "cell(s)", "every row needs one, to be split by it")
    cells = train.frame[column]
    if own.group is not None:
        return partial(draw_groups, cell_names(cells))
    kind = holds(train, column)
    values = cells.to_numpy() if kind in ("integer", "floating") else days_of(cells)
    if pd.isna(values).any():
        raise fault(f"{train.where(column)}: rows are ordered by numbers or dates; it holds {kind}")
    return partial(draw_last, values)


def read_tables(
    paths: Mapping[str, Path],
    layout: Layout | None = None,
    words: Collection[str] = (),
    texts: Collection[str] = (),
) -> dict[str, Table]:
    """Return the tables by split.

    Cells of the columns `words` stay as the file spells them ("01"), and so do those of columns
    that are words in the training file; in columns `texts`, nothing but an empty cell is missing.
    Raises UserError if a file cannot be read.
    """
    train = read_table(paths["train"], layout, words, texts)
    alike = {*words, *(c for c in train.columns if holds(train, c) == "string")}
    tables = {"train": train}
    for split, path in paths.items():
        if split != "train":
            tables[split] = read_table(path, layout, alike, texts)
    return tables


def read_table(
    path: Path,
    layout: Layout | None = None,
    words: Collection[str] = (),
    texts: Collection[str] = (),
) -> Table:
    """Return the rows of a file, read by its suffix; see `read_tables`."""
    layout = layout or Layout()
    suffix = suffix_of(path)
    if path.is_dir():
        raise fault(f"{path}: this is a folder, a table is a file ({', '.join(SUFFIXES)})")
    problem = layout.problem(path)
    if problem is not None:
        raise fault(": ".join(problem))
    try:
        columns = columns_of(path, layout) or []
        if suffix in SEPARATORS:
            frame = _read_csv(path, layout, columns, words, texts)
        else:
            frame = _read_parquet(path)
    except pd.errors.ParserWarning as error:
        ragged = ValueError("rows have more cells than the header has names")
        raise unreadable(path, layout, ragged) from error
    except UNREADABLE as error:
        raise unreadable(path, layout, error) from error
    return Table(path, frame, layout)


def _require_columns(own: Mapping[str, Any], tables: Mapping[str, Table]) -> None:
    """Raise UserError if the description `own` names a column that is not there, or a file lacks.

    The same is asked of the headers while the workflow plans.
    """
    train = tables["train"]
    for key, problem in column_problems(own, train.layout, train.path, train.columns):
        raise fault(f"{key}: {problem}")
    for split, table in tables.items():
        key = f"{train.layout.key}.{KEYS[split]}"
        absent = lacking(own, key, (table.path, table.columns), (train.path, train.columns))
        if absent is not None:
            raise fault(": ".join(absent))
    if not features_of(own, train.columns):
        raise fault(f"{train.path}: there is no column but the target '{own['target']}'")


def target_labels(table: Table, target: str) -> FileLabels:
    """Return the class of each row: text, whole numbers or true/false, as names.

    Raises UserError for missing classes, and for numbers that are not whole.
    """
    missing = table.empty(target)
    if missing.any():
        raise table.nothing(
            target, missing, "class(es)", "every row needs one; empty and NA are none"
        )
    cells = table.frame[target]
    kind = _holds(cells)
    if kind in {"floating", "mixed-integer-float", "decimal"}:
        _require_whole(table, target)
    elif kind not in {"string", "integer", "boolean", "empty"}:
        raise fault(
            f"{table.where(target)}: it holds {kind} values, classes are text, whole numbers or "
            "true/false"
        )
    if kind not in {"string", "boolean", "empty"}:
        _require_few(table, target)
    return FileLabels(cell_names(cells).tolist(), table.where(target), table.place)


def cell_names(cells: pd.Series[Any]) -> NDArray[np.object_]:
    """Return the cells (n,) as strings, whole numbers without a point; None where missing.

    So a category has one name, whether its column holds numbers, text or, for want of a cell,
    floats.
    """
    return np.array([_cell_name(cell) for cell in cells.astype(object)], dtype=object)


def _cell_name(cell: Any) -> str | None:
    if isinstance(cell, str):
        return cell or None
    if pd.isna(cell):
        return None
    if isinstance(cell, (float, np.floating)) and float(cell).is_integer():
        return str(int(cell))
    return str(cell)


def days_of(cells: pd.Series[Any]) -> NDArray[np.float64]:
    """Return dates, or texts of dates, as days since 1970-01-01; NaN for what is none.

    A time of day is a part of a day, and one with a time zone is turned into UTC.
    """
    if not pd.api.types.is_datetime64_any_dtype(cells):
        texts = cells.astype("str").str.strip().str.replace(_DAY_FIRST, r"\3-\2-\1", regex=True)
        cells = texts.where(texts.str.fullmatch(DATE.pattern, na=False))
    stamps = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
    times = stamps.dt.tz_localize(None).to_numpy("datetime64[us]")
    days: NDArray[np.float64] = (times - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return days


def holds(table: Table, column: str) -> str:
    """Return what `column` holds, in the words of pandas' infer_dtype."""
    return _holds(table.frame[column])


def _holds(cells: pd.Series[Any]) -> str:
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = pd.Series(cells.dtype.categories)
    return str(infer_dtype(cells, skipna=True))


def _require_whole(table: Table, target: str) -> None:
    values = table.frame[target].to_numpy(dtype=np.float64)
    with np.errstate(invalid="ignore"):
        broken = ~(np.mod(values, 1) == 0)
    if broken.any():
        row = int(broken.argmax())
        raise fault(
            f"{table.where(target)}: {table.place(row)}: {values[row]} is not a whole number: "
            f"{CLASSIFIES}"
        )


def _require_few(table: Table, target: str) -> None:
    """Raise UserError for whole numbers that are amounts: more than classes could be."""
    values = table.frame[target].nunique()
    if values > max(FEW_CLASSES, min(MOST_CLASSES, len(table.frame) // 2)):
        raise fault(f"{table.where(target)}: {values:,} different numbers: {CLASSIFIES}")


def _read_csv(
    path: Path,
    layout: Layout,
    columns: list[str],
    words: Collection[str],
    texts: Collection[str],
) -> pd.DataFrame:
    with warnings.catch_warnings():
        # Rows with more cells than the header has names would otherwise lose the last ones.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(
            path,
            sep=layout.separator_of(path),
            decimal=layout.decimal or ".",
            encoding=layout.encoding and layout.codec(),
            header=0,
            names=columns,
            index_col=False,
            dtype={column: "str" for column in {*words, *texts} if column in columns},
            keep_default_na=False,
            na_values={c: [""] if c in texts else [*MISSING, *layout.missing] for c in columns},
            float_precision="round_trip",
            low_memory=False,  # or a column's type could change every 256 KiB
        )


def _read_parquet(path: Path) -> pd.DataFrame:
    # Without partitioning=None, folders called a=1 would add columns.
    frame = pd.read_parquet(path, engine="pyarrow", partitioning=None).reset_index(drop=True)
    frame.columns = frame.columns.astype(str)
    # Categories of numbers come back as numbers; only the metadata know.
    metadata = read_schema(path).pandas_metadata or {"columns": []}
    written = {column["name"]: column["pandas_type"] for column in metadata["columns"]}
    return frame.astype({c: "category" for c in frame if written.get(c) == "categorical"})
