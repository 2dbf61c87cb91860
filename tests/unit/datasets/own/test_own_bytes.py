"""Descriptions of before give the inputs and labels of before.

The checksums are of what the code before `READER` 2 made. All numbers are whole, or halves,
so that no library's order of adding matters.
"""

import hashlib

import pytest

from automata.config.data import Preparation
from automata.datasets.prepare import prepare


def line(row, *cells):
    return ",".join(map(str, (*cells, "abc"[row % 3])))


def mixed(row):
    return line(
        row, row * 7 % 11, row % 5 / 2, ["sand", "clay", "peat"][row * row % 3], row % 4 > 1
    )


def gaps(row):
    return line(row, "" if row % 6 == 1 else row % 4, "NA" if row % 7 == 2 else f"s{row % 5}", row)


def few(row):
    return line(row, f"tone {row * 5 % 12}", row % 8)


def cities(row):
    return line(row, f"city {row * row % 61}", row % 8, f"0{row % 3}")


def commas(row):
    return line(row, f'"0,{row % 30}"', row % 8)


def write(path, header, row_of, rows):
    path.write_text("\n".join([header, *map(row_of, rows)]) + "\n")


def description(kind="tabular", path="t.csv", target="kind", **keys):
    return {"own": {"kind": kind, "path": path, "target": target, **keys}}


FILLED = {"fill": {"n": "median", "s": "none"}, "categorical": ["id"]}
TABLES = {
    "mixed": ("a,b,soil,wet,kind", mixed, 60, description()),
    "gaps": ("n,s,id,kind", gaps, 24, description(test="t.csv", validation="t.csv", **FILLED)),
    "few": ("tone,n,kind", few, 20, description(validation="t.csv", test="t.csv")),
    "cities": ("city,n,code,kind", cities, 400, description(categorical=["code"])),
    "commas": ("share,n,kind", commas, 90, description(validation="t.csv", test="t.csv")),
    "text": (
        "text,n,kind",
        few,
        40,
        {**description("text", text="text"), "vectors": {"source": None, "dimension": 2}},
    ),
}
BEFORE = {
    "mixed": "639a3344a328e101b814d001b1107e012e09df4cae8aff24a3e5802c0b3bbf9c",
    "gaps": "dd46bf1cfe6057d839aac50b48fce8c0f25bdef8b840d9404006db812d5a428b",
    "few": "7525df1f0c7b26078b79e5a2d33e300baf98866ce1fdaa79707b6aea57b64c5d",
    "cities": "ea26b810b45a9633dbb6c2cdcc0b108cd2958c8623b0898633a91bbea08db2bc",
    "commas": "8719e48410a643228dbb51762a5f211359eb4bc26c98dfee1e5d65d8a1e44568",
    "text": "dae621d0dc0639144fda69a9f921cce5684fe1dba46280f71223f256cfad22e4",
}


@pytest.mark.parametrize("name", TABLES)
def test_inputs_and_labels_are_those_of_before(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    header, row_of, rows, preparation = TABLES[name]
    write(tmp_path / "t.csv", header, row_of, range(rows))
    dataset = prepare("mine", Preparation.model_validate(preparation), tmp_path)
    assert digest(dataset) == BEFORE[name]


def digest(dataset):
    total = hashlib.sha256()
    for split in (dataset.train, dataset.validation, dataset.test):
        total.update(split.inputs.numpy().tobytes() + split.labels.numpy().tobytes())
    return total.hexdigest()
