"""Data of the user's own that cannot be used: found by planning, or by the job that reads them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from hostile.case import Case, Maker, folder

KEY = "own_datasets.mine"
ROWS = 40


def table(change: Mapping[str, Any] | None = None) -> str:
    """Return a good table as CSV, with other columns: lists, or one value for all rows."""
    columns = {
        "size": [row % 7 for row in range(ROWS)],
        "soil": [("sand", "clay")[row % 2] for row in range(ROWS)],
        "y": [("a", "b")[row // 2 % 2] for row in range(ROWS)],
    }
    return pd.DataFrame({**columns, **(change or {})}).to_csv(index=False)


def cell(value: Any, row: int = 5, of: Any = 1.0) -> list[Any]:
    """Return a column with one other cell."""
    return [value if n == row else of for n in range(ROWS)]


def npz(**arrays: Any) -> bytes:
    """Return arrays as .npz."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def png(size: tuple[int, int] = (8, 8), mode: str = "RGB") -> bytes:
    """Return an image."""
    file = io.BytesIO()
    Image.new(mode, size).save(file, "PNG")
    return file.getvalue()


def config(kind: str, vectors: str | None = None, **keys: Any) -> dict[str, Any]:
    """Return a configuration with a data set `mine` of a kind."""
    usual = {
        "tabular": {"path": "t.csv", "target": "y"},
        "text": {"path": "t.csv", "text": "soil", "target": "y"},
        "image": {"path": "pets"},
    }[kind]
    return {
        "datasets": ["mine"],
        "own_datasets": {"mine": {"kind": kind, **usual, **keys}},
        "data": {"vectors": {"source": vectors, "dimension": 3}},
    }


Files = dict[str, str | bytes | Maker]


def header(
    said: str, files: Files, kind: str = "tabular", *, real: bool = False, **keys: Any
) -> Case:
    """Return the case of data that a dry run refuses, by a key of `mine`."""
    return Case("plan", f"{KEY}.{said}", config(kind, **keys), files, real=real)


def cells(
    said: str, files: Files, kind: str = "tabular", *, real: bool = False, **keys: Any
) -> Case:
    """Return the case of data that the job refuses."""
    line = f"automata prepare: error: {'' if 'vectors' in keys else f'{KEY}: '}{said}"
    return Case("prepare", line, config(kind, **keys), files, real=real)


def column(said: str, values: Any, *, real: bool = False, **keys: Any) -> Case:
    """Return the case of a table whose column `x` the job refuses."""
    return cells(f"t.csv: column 'x': {said}", {"t.csv": table({"x": values})}, real=real, **keys)


GOOD: Files = {"t.csv": table()}

PATHS = [
    header("path: t.csv: no such file or folder", {}, real=True),
    cells("t.csv: not a readable .csv file: ...Is a directory", {"t.csv": folder}),
    header("validation: v.csv: no such file or folder", GOOD, validation="v.csv"),
    Case("plan", "data.vectors.source: v.txt: no such file", config("text", vectors="v.txt"), GOOD),
]

TABLES = [
    cells("t.csv: no column z, which target names; it has size, soil, y", GOOD, target="z"),
    cells(
        "t.csv: not a readable .csv file: it is not klingon (...): change the key encoding",
        GOOD,
        encoding="klingon",
        real=True,
    ),
    cells(
        "t.csv: column 'y': missing classes: 1, the first in row 7: skip_rows: true",
        {"t.csv": table({"y": cell("NA", of="b")})},
        real=True,
    ),
    cells(
        "v.csv: column 'size': row 2: 'big' is no number below 3.4e38 (1 such cells): missing",
        {**GOOD, "v.csv": "size,soil,y\nbig,sand,a\n"},
        test="v.csv",
    ),
    column("row 7: '12a' among numbers (1 such cells): missing takes it", cell("12a"), real=True),
    column(
        "it names rows: 40 different texts in 40 rows, such as 'name 0'",
        [f"name {row}" for row in range(ROWS)],
        real=True,
    ),
]

TEXTS = [
    cells(
        "v.txt: not readable as word vectors: line 1: expected a word and 3 numbers, found 2 numbers",
        {**GOOD, "v.txt": "sand 1 2\n"},
        "text",
        vectors="v.txt",
        real=True,
    ),
    cells(
        "v.zip: not readable as word vectors: File is not a zip file",
        {**GOOD, "v.zip": b"PK and no more"},
        "text",
        vectors="v.zip",
    ),
    cells(
        "v.npz: not readable as word vectors: 'vectors is not a file in the archive'",
        {**GOOD, "v.npz": npz(words=np.array(["a"]))},
        "text",
        vectors="v.npz",
    ),
]


def pets(**more: bytes | Maker) -> Files:
    """Return a folder of two classes with five images each, and what else is in it."""
    every: Files = {f"pets/{c}/{n}.png": png() for c in ("cat", "dog") for n in range(5)}
    return {**every, **{f"pets/{name}": made for name, made in more.items()}}


IMAGES = [
    cells("pets/cat/x.png: not a readable image: ", pets(**{"cat/x.png": b""}), "image", real=True)
]

CASES = [*PATHS, *TABLES, *TEXTS, *IMAGES]
