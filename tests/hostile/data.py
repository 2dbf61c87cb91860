"""Data of the user's own that cannot be used: found by planning, or by the job that reads them."""

from __future__ import annotations

import gzip
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


def parquet(columns: Mapping[str, Any]) -> bytes:
    """Return a table as Parquet."""
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    return file.getvalue()


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
    line = f"automata prepare: error: {said}"
    return Case("prepare", line, config(kind, **keys), files, real=real)


def column(said: str, values: Any, *, real: bool = False, **keys: Any) -> Case:
    """Return the case of a table whose column `x` the job refuses."""
    return cells(f"t.csv: column 'x': {said}", {"t.csv": table({"x": values})}, real=real, **keys)


GOOD: Files = {"t.csv": table()}

PATHS = [
    header("path: t.csv: no such file or folder", {}, real=True),
    header("path: t.csv: this is a folder, needed is a file", {"t.csv": folder}),
    header("validation: v.csv: no such file or folder", GOOD, validation="v.csv"),
    Case("plan", "data.vectors.source: v.txt: no such file", config("text", vectors="v.txt"), GOOD),
]

TABLES = [
    cells(f"{KEY}.target: t.csv has no column 'z' for it: size, soil, y", GOOD, target="z"),
    cells(f"{KEY}.fill: t.csv has no column 'text' for it: size", GOOD, fill={"text": "none"}),
    cells(
        f"{KEY}.test: v.csv lacks columns that t.csv has: soil; it has",
        {**GOOD, "v.csv": "size,y\n1,a\n"},
        test="v.csv",
    ),
    cells(
        "t.csv: not a readable .csv file: it is not klingon (...): name another own_datasets",
        GOOD,
        encoding="klingon",
        real=True,
    ),
    cells("t.csv: not a readable .csv file: there is no header", {"t.csv": b""}),
    cells("t.csv: several columns are called y", {"t.csv": "y,x,y\n1,2,3\n"}),
    cells(
        "t.parquet: not a readable .parquet file: ",
        {"t.parquet": b"PAR1 and no more"},
        path="t.parquet",
    ),
    cells(
        "t.csv: not a readable .csv file: field larger than field limit",
        {"t.csv": b"x" * (2**24 + 1)},
    ),
    cells(
        "t.csv: not a readable .csv file: 1 rows have more cells than the header has names",
        {"t.csv": "a,b,y\n1,2,x\n1,2,3,z\n"},
    ),
    cells("t.csv: column 'y': there are no rows", {"t.csv": "x,y\n"}),
    cells("t.csv: column 'y': 'a' is the only class, at least 2", {"t.csv": table({"y": "a"})}),
    cells(
        "t.csv: column 'y': class 'rare' has 1 row, needed are 3",
        {"t.csv": table({"y": cell("rare", of="b")})},
    ),
    cells(
        "t.csv: column 'y': missing classes: 1, the first in row 7: own_datasets.mine.skip_rows",
        {"t.csv": table({"y": cell("NA", of="b")})},
        real=True,
    ),
    cells(
        "v.csv: column 'y': row 2: class 'c' does not occur in training",
        {**GOOD, "v.csv": "size,soil,y\n1,sand,c\n"},
        test="v.csv",
    ),
    cells(
        "v.csv: column 'size': row 2: 'big' is no number, as the training file has",
        {**GOOD, "v.csv": "size,soil,y\nbig,sand,a\n"},
        test="v.csv",
    ),
    column("row 7: '12a' among numbers (1 such cells): missing takes it", cell("12a"), real=True),
    column("row 7: 1e+39 is infinite or beyond float32's", cell("1e39")),
    column("row 7: '2020-02-30' is no date", cell("2020-02-30", of="2020-01-31"), dates=["x"]),
    column(
        "40 different texts in 40 rows, such as 'name 0': it names rows",
        [f"name {row}" for row in range(ROWS)],
        real=True,
    ),
    cells(
        "own_datasets: fill: column 'x' holds categories, which have no mean",
        {"t.csv": table({"x": cell(None, of="b")})},
        fill={"x": "mean"},
    ),
    cells(
        "t.csv: ...the most are 100,000 features and 4 GiB; ...own_datasets.mine.rare_below",
        {"t.csv": "x,y\n" + "".join(f"n{row},{row % 2}\n" for row in range(50_000))},
        categorical=["x"],
    ),
    cells(
        "t.parquet: column 'x': it holds bytes values: drop leaves it out",
        {"t.parquet": parquet({"x": [b"a"] * 9, "y": list("abcabcabc")})},
        path="t.parquet",
    ),
    cells(
        "t.csv.gz: not a readable .csv.gz file: ",
        {"t.csv.gz": gzip.compress(table().encode())[:-9]},
        path="t.csv.gz",
    ),
]

TEXTS = [
    cells(
        "v.txt: line 1: expected a word and 3 numbers, found 2 numbers",
        {**GOOD, "v.txt": "sand 1 2\n"},
        "text",
        vectors="v.txt",
        real=True,
    ),
    cells(
        "v.zip: cannot be read as .zip: ",
        {**GOOD, "v.zip": b"PK and no more"},
        "text",
        vectors="v.zip",
    ),
    cells(
        "v.npz: expected arrays `words` and `vectors`, found: ",
        {**GOOD, "v.npz": npz(words=np.array(["a"]))},
        "text",
        vectors="v.npz",
    ),
]


def pets(**more: bytes | Maker) -> Files:
    """Return a folder of two classes with five images each, and what else is in it."""
    every: Files = {f"pets/{c}/{n}.png": png() for c in ("cat", "dog") for n in range(5)}
    return {**every, **{f"pets/{name}": made for name, made in more.items()}}


def arrays(said: str, images: Any, labels: Any) -> Case:
    """Return the case of images in an .npz."""
    return cells(
        f"p.npz: {said}", {"p.npz": npz(images=images, labels=labels)}, "image", path="p.npz"
    )


PIXELS = np.zeros((9, 4, 4, 3), np.uint8)
CLASSES = np.arange(9) % 2

IMAGES = [
    cells("pets/cat/x.png: not a readable image: ", pets(**{"cat/x.png": b""}), "image", real=True),
    cells(
        "pets/cat/x.png: not a readable image: ",
        pets(**{"cat/x.png": png()[:45] + b"\0\0" + png()[47:]}),
        "image",
    ),
    arrays("`images` must be uint8, 0 to 255, of shape ...; found float64", PIXELS * 0.5, CLASSES),
    arrays(
        "`labels` must be whole numbers or strings of shape (9,), one for each", PIXELS, CLASSES[:8]
    ),
    arrays("not a readable .npz file: ...allow_pickle=False", PIXELS, np.array([{}] * 9)),
    cells(
        "p.npz: not a readable .npz file: ",
        {"p.npz": npz(images=PIXELS, labels=CLASSES).replace(b"\0" * 100, b"\1" * 100)},
        "image",
        path="p.npz",
    ),
]

CASES = [*PATHS, *TABLES, *TEXTS, *IMAGES]
