"""What is found wrong with a user's data before any job, without reading them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automata.config.data import OwnImage, OwnTabular, OwnText
from automata.datasets.own import load
from automata.datasets.own.guess import guess
from automata.datasets.own.header import problems
from automata.errors import UserError

KEY = "own_datasets.mine"
HEADER = "size,soil,born,kind"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a table, a wide one, texts and images."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(f"{HEADER}\n1,sand,2020-01-31,a\n")
    (tmp_path / "semi.csv").write_text("size;soil;born;kind\n1,5;sand;x;a\n")
    (tmp_path / "latin.csv").write_bytes("size,sö,born,kind\n1,2,3,4\n".encode("latin-1"))
    pd.DataFrame([[1, "a", 2]], columns=["size", "soil", "kind"]).set_index("soil").to_parquet(
        "t.parquet"
    )
    for name in ("cats", "dogs"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        (tmp_path / "pets" / name / "1.png").write_bytes(b"")
    (tmp_path / "one" / "cats").mkdir(parents=True)
    np.savez("pets.npz", images=np.zeros(2), labels=np.zeros(2))
    np.savez("half.npz", images=np.zeros(2))
    return tmp_path


def table(**keys):
    return {"kind": "tabular", "path": "t.csv", "target": "kind", **keys}


def text(**keys):
    return {"kind": "text", "path": "t.csv", "text": "soil", "target": "kind", **keys}


def image(path, **keys):
    return {"kind": "image", "path": path, **keys}


GOOD = {
    "plain": table(),
    "dates": table(dates=["born"], test="t.csv"),
    "columns": table(
        drop=["soil", "born"],
        categorical=["size"],
        fill={"size": 1, "numbers": 1, "texts": "x"},
        test="t.parquet",
    ),
    "nulls": table(drop=[], separator=None, encoding=None, test=None),
    "other marks": table(path="semi.csv", separator=";", decimal=","),
    "encoding": table(path="latin.csv", encoding="latin-1", drop=["sö"]),
    "parquet": table(path="t.parquet"),
    "text": text(),
    "folder": image("pets", validation="one"),
    "arrays": image("pets.npz", test="pets"),
}


@pytest.mark.parametrize("name", GOOD)
def test_nothing_is_wrong_with_what_can_be_used(folder, name):
    assert list(problems(GOOD[name], KEY)) == []


def no(key, path, column, columns):
    return f"{key}: {path} has no column '{column}' for it: {columns}"


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (table(target="sort"), no("target", "t.csv", "sort", "size, soil, born, kind")),
        (text(text="sort"), no("text", "t.csv", "sort", "size, soil, born, kind")),
        (text(target="sort"), no("target", "t.csv", "sort", "size, soil, born, kind")),
        (text(text="kind"), "text: 'kind' is the target as well"),
        (table(drop=["rain"]), no("drop", "t.csv", "rain", "size, soil, born, kind")),
        (table(drop=["kind"]), "drop: 'kind' is the target, which every row needs"),
        (table(dates=["rain"]), no("dates", "t.csv", "rain", "size, soil, born")),
        (table(fill={"kind": 1}), no("fill", "t.csv", "kind", "size, soil, born")),
        (
            table(drop=["soil"], categorical=["soil"]),
            no("categorical", "t.csv", "soil", "size, born"),
        ),
        (
            table(dates=["born"], categorical=["born"]),
            "dates: 'born' is in own_datasets.mine.categorical as well",
        ),
        (
            table(path="semi.csv"),
            no("target", "semi.csv", "kind", "size;soil;born;kind")
            + '; its cells seem separated by ";": give own_datasets.mine.separator: ";"',
        ),
        (
            table(path="latin.csv"),
            "path: latin.csv: byte 0xf6 is not UTF-8: give "
            "own_datasets.mine.encoding, such as latin-1 or cp1252",
        ),
        (
            table(encoding="klingon"),
            "encoding: 'klingon' is no encoding, such as latin-1 or utf-16",
        ),
        (
            table(path="t.parquet", target="soil"),
            no("target", "t.parquet", "soil", "size, kind"),
        ),
        (
            table(test="t.parquet"),
            "test: t.parquet lacks columns that t.csv has: soil, born; it has size, kind",
        ),
        (table(path="no.csv"), "path: no.csv: no such file or folder"),
        (table(test="no.csv"), "test: no.csv: no such file or folder"),
        (table(path="pets"), "path: pets: this is a folder, needed is a file"),
        (image("t.csv"), "path: 't.csv' is neither an .npz with `images` and `labels` nor a "),
        (
            image("half.npz"),
            "path: half.npz: array `labels` is missing, it must have `images` and `labels`; "
            "found: images",
        ),
        (
            image("one"),
            "path: one: expected a folder of images for each of at least 2 class(es); found: cats",
        ),
    ],
)
def test_what_the_job_would_refuse_is_found(folder, own, expected):
    (key, problem), *_ = problems(own, KEY)
    assert f"{key}: {problem}".startswith(f"{KEY}.{expected}")


@pytest.mark.parametrize(
    "own",
    [
        table(target="sort"),
        table(drop=["kind"]),
        table(dates=["rain"]),
        table(path="pets"),
        table(test="t.parquet"),
        table(test="no.csv"),
        table(decimal=","),
        text(text="kind"),
        image("no.npz"),
        image("t.csv"),
    ],
)
def test_the_job_says_the_same(folder, own):
    (key, problem), *_ = problems(own, KEY)
    kinds = {"tabular": OwnTabular, "text": OwnText, "image": OwnImage}
    with pytest.raises(UserError) as error:
        load("mine", kinds[own["kind"]](**own))
    assert str(error.value) == f"{key}: {problem}"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b""),
        ("t.csv", b"\n \n"),
        ("t.csv", b"a,b,a\n"),
        ("t.csv", b"a,\n"),
        ("t.csv.gz", b"not gzip"),
        ("t.parquet", b"PAR1 and no more"),
        ("t.npz", b"PK and no more"),
    ],
)
def test_damaged_file_is_one_line(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    kind = image if name.endswith("npz") else lambda path: table(path=path)
    ((key, problem),) = problems(kind(str(path)), KEY)
    assert key == f"{KEY}.path"
    assert problem.startswith(f"{path}: not a readable {path.name[1:]} file: ")
    assert "\n" not in problem


def test_pipe_among_images_is_found(folder):
    os.mkfifo("pets/dogs/2.png")
    ((key, problem),) = problems(image("pets"), KEY)
    assert (key, problem) == (f"{KEY}.path", "pets/dogs/2.png: not a regular file")


def test_only_the_header_is_read(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.write(b"a,kind\n1,x\n" + b"2,y\n" * 9999)
        file.truncate(2**33)  # a hole, which takes no place: reading 8 GiB of it would take long
    assert list(problems(table(path=str(path)), KEY)) == []


def test_planning_needs_the_standard_library_alone():
    code = (
        "import sys, automata.datasets.own.header as h\n"
        "list(h.problems({'kind': 'tabular', 'path': '/no.csv', 'target': 'y'}, 'k'))\n"
        "print({'numpy', 'pandas', 'pyarrow', 'pydantic', 'PIL', 'yaml'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


def test_header_of_parquet_is_left_to_the_job_without_its_library(folder, monkeypatch):
    monkeypatch.setattr("automata.datasets.own.header.find_spec", lambda _: None)
    assert list(problems(table(path="t.parquet", target="sort"), KEY)) == []


@pytest.mark.timeout(30)
@pytest.mark.parametrize("separator", [",", ";"])
def test_header_wider_than_any_table_is_refused_at_once(folder, separator):
    names = separator.join(["kind", *(f"c{number}" for number in range(300_000))])
    (folder / "wide.csv").write_text(f"{names}\n")
    said = r"\Awide\.csv: the header has 300,001 columns, at most 100,000 are allowed.*\Z"
    with pytest.raises(UserError, match=said):
        guess(Path("wide.csv"), "kind", None)
    own = table(path="wide.csv", separator=separator)
    (problem,) = problems(own, KEY)
    assert problem[0] == f"{KEY}.path"
    assert re.match(said, problem[1])
