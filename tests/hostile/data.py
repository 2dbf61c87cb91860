"""Data of the user's own that cannot be used: found by their first bytes, or by the job."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from hostile.case import Case, Maker, folder, pipe

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
    header(
        "path: pets/a/2.png: not a regular file",
        {"pets/a/1.png": png(), "pets/b/1.png": png(), "pets/a/2.png": pipe},
        "image",
    ),
]

HEADERS = [
    header("target: t.csv has no column 'z' for it: size, soil, y", GOOD, target="z", real=True),
    header(
        "categorical: t.csv has no column 'soil' for it: size",
        GOOD,
        categorical=["soil"],
        drop=["soil"],
    ),
    header("fill: t.csv has no column 'text' for it: size, soil", GOOD, fill={"text": "none"}),
    header(
        "test: v.csv lacks columns that t.csv has: soil; it has",
        {**GOOD, "v.csv": "size,y\n1,a\n"},
        test="v.csv",
    ),
    header(
        "encoding: 'klingon' is no encoding, such as latin-1", GOOD, encoding="klingon", real=True
    ),
    header("decimal: ',' separates the cells as well: give own_data", GOOD, decimal=","),
    header(
        'target: t.csv has no column \'y\' for it: size;soil;y; its cells seem separated by ";": give own_datasets.mine.separator: ";"',
        {"t.csv": table().replace(",", ";")},
        real=True,
    ),
    header(
        "path: t.csv: byte 0xf6 is not UTF-8: give own_datasets.mine.encoding",
        {"t.csv": "sö,y\n1,2\n".encode("latin-1")},
    ),
    header(
        "path: t.csv: it seems to be UTF-16: give own_datasets.mine.encoding: utf-16",
        {"t.csv": table().encode("utf-16")},
    ),
    header(
        "path: t.csv: it is not utf-16 (...): leave own_datasets.mine.encoding out",
        GOOD,
        encoding="utf-16",
    ),
    header("path: t.csv: not a readable .csv file: there is no header", {"t.csv": b""}),
    header(
        "path: t.csv: not a readable .csv file: two columns are called 'y'",
        {"t.csv": "y,x,y\n1,2,3\n"},
    ),
    header(
        "path: t.csv.gz: not a readable .csv.gz file: ",
        {"t.csv.gz": gzip.compress(table().encode())[:20]},
        path="t.csv.gz",
    ),
    header(
        "path: t.parquet: not a readable .parquet file: ",
        {"t.parquet": b"PAR1 and no more"},
        path="t.parquet",
    ),
    header(
        "path: t.csv: not a readable .csv file: a line has 16,777,216 characters or more",
        {"t.csv": b"x" * 2**24},
    ),
    header(
        "path: p.npz: array `labels` is missing, it must have",
        {"p.npz": npz(images=np.zeros(3))},
        "image",
        path="p.npz",
    ),
    header(
        "path: pets: expected a folder of images for each of at least 2 class(es); found: none",
        {"pets": folder},
        "image",
        real=True,
    ),
    Case("plan", "data.vectors.source: v.txt: no such file", config("text", vectors="v.txt"), GOOD),
]

TABLES = [
    cells(
        "t.csv: not a readable .csv file: ...Expected 3 fields in line 3, saw 4",
        {"t.csv": "a,b,y\n1,2,x\n1,2,3,z\n"},
    ),
    cells(
        "t.csv: not a readable .csv file: rows have more cells than the header has names",
        {"t.csv": "y\n" + "a;1,5\n" * 9},
    ),
    cells(
        "t.csv: byte 0xe9 is not UTF-8: give own_datasets.mine.encoding",
        {"t.csv": ("x,y\n" + "a,b\n" * 9000 + "é,b\n").encode("latin-1")},
        real=True,
    ),
    cells("t.csv: column 'y': there are no rows", {"t.csv": "x,y\n"}),
    cells("t.csv: column 'y': 'a' is the only class, at least 2", {"t.csv": table({"y": "a"})}),
    cells(
        "t.csv: column 'y': class 'rare' has 1 row, needed are 3",
        {"t.csv": table({"y": cell("rare", of="b")})},
    ),
    cells(
        "v.csv: column 'y': row 2: class 'c' does not occur in training",
        {**GOOD, "v.csv": "size,soil,y\n1,sand,c\n"},
        test="v.csv",
    ),
    cells(
        "v.csv: column 'size': it holds string values, but numbers in the training",
        {**GOOD, "v.csv": "size,soil,y\nbig,sand,a\n"},
        test="v.csv",
    ),
    column(
        "1 missing cell(s), the first in row 7: give own_datasets.mine.fill", cell(None), real=True
    ),
    column("row 7: '?' among numbers: empty the cell if it is missing", cell("?")),
    column("row 7: inf is infinite or beyond float32's", cell("inf")),
    column(
        "it holds dates, which are no features: name it in own_datasets.mine.dates",
        "2020-01-31",
        real=True,
    ),
    column("row 7: '2020-02-30' is no date", cell("2020-02-30", of="2020-01-31"), dates=["x"]),
    column(
        "40 different texts in 40 rows, such as 'name 0': it names rows...(own_datasets.mine.drop)",
        [f"name {row}" for row in range(ROWS)],
        real=True,
    ),
    column(
        "row 2: '1,5' is a number only with the decimal mark ',': give own_datasets.mine.decimal",
        [f"{n},5" for n in range(1, ROWS + 1)],
    ),
    cells(
        f"{KEY}.fill: column 'x' of t.csv holds categories, which have no mean: give a value",
        {"t.csv": table({"x": cell(None, of="b")})},
        fill={"x": "mean"},
    ),
    cells(
        "t.csv: ...the most are 100,000 features and 4 GiB; ...own_datasets.mine.rare_below",
        {"t.csv": "x,y\n" + "".join(f"n{row},{row % 2}\n" for row in range(50_000))},
        categorical=["x"],
    ),
    cells(
        "t.parquet: column 'x': it holds bytes values, features are numbers",
        {"t.parquet": parquet({"x": [b"a"] * 9, "y": list("abcabcabc")})},
        path="t.parquet",
    ),
    cells(
        "t.parquet: column 'x': it holds mixed values, features are",
        {"t.parquet": parquet({"x": [[1]] * 9, "y": list("abcabcabc")})},
        path="t.parquet",
    ),
    cells(
        "t.parquet: not a readable .parquet file: ",
        {
            "t.parquet": parquet({"x": np.random.default_rng(0).random(5000), "y": [1, 2] * 2500})[
                :4
            ]
            + b"0" * 40000
            + parquet({"x": np.random.default_rng(0).random(5000), "y": [1, 2] * 2500})[40004:]
        },
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
        "t.csv: column 'soil': 1 missing text(s), the first in row 7: drop such",
        {"t.csv": table({"soil": cell(None, of="good")})},
        "text",
    ),
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
    cells(
        "pets/cat/x.png: it has more than 8 bits per channel (mode I;16)",
        pets(**{"cat/x.png": png(mode="I;16")}),
        "image",
    ),
    cells(
        "pets/cat/notes.txt: the name of an image must end in one of",
        pets(**{"cat/notes.txt": b"a"}),
        "image",
    ),
    cells(
        "pets/cat/0.png has 8 x 8 pixels, pets/dog/x.png has 9 x 8 pixels: all",
        pets(**{"dog/x.png": png((9, 8))}),
        "image",
    ),
    cells(
        "pets/x.png: images must be in folders named by class", pets(**{"x.png": png()}), "image"
    ),
    cells("pets/rat: there are no images of this class", pets(rat=folder), "image"),
    arrays("`images` must be uint8, 0 to 255, of shape ...; found float64", PIXELS * 0.5, CLASSES),
    arrays(
        "`labels` must have shape (9,), one for each of `images`; found (8,)", PIXELS, CLASSES[:8]
    ),
    arrays("not a readable .npz file: ...allow_pickle=False", PIXELS, np.array([{}] * 9)),
    cells(
        "p.npz: not a readable .npz file: ",
        {"p.npz": npz(images=PIXELS, labels=CLASSES).replace(b"\0" * 100, b"\1" * 100)},
        "image",
        path="p.npz",
    ),
]

CASES = [*PATHS, *HEADERS, *TABLES, *TEXTS, *IMAGES]
