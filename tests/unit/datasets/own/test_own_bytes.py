"""Descriptions of own data give the same inputs and labels as in earlier versions.

The checksums (their first 48 digits) were computed with the code before `READER` 2. All numbers are
whole, or halves, so that no library's order of adding matters.
"""

import hashlib

import pytest

from automata.config.data import Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import SPLITS

FILES = {"validation": "t.csv", "test": "t.csv"}
FILLED = {"fill": {"n": "median", "s": "none"}, "categorical": ["id"]}
WORDS = {"vectors": {"source": None, "dimension": 2}}


def few(row):
    return f"tone {row * 5 % 12}", row % 8


def mixed(row):
    return row * 7 % 11, row % 5 / 2, ["sand", "clay", "peat"][row * row % 3], row % 4 > 1


def gaps(row):
    return "" if row % 6 == 1 else row % 4, "NA" if row % 7 == 2 else f"s{row % 5}", row


def cities(row):
    return f"city {row * row % 61}", row % 8, f"0{row % 3}"


def commas(row):
    return f'"0,{row % 30}"', row % 8


@pytest.mark.parametrize(
    ("header", "cells", "rows", "own", "before"),
    [
        ("a,b,soil,wet", mixed, 60, {}, "639a3344a328e101b814d001b1107e012e09df4cae8aff24"),
        ("n,s,id", gaps, 24, FILES | FILLED, "dd46bf1cfe6057d839aac50b48fce8c0f25bdef8b840d940"),
        ("tone,n", few, 20, FILES, "7525df1f0c7b26078b79e5a2d33e300baf98866ce1fdaa79"),
        (
            "city,n,code",
            cities,
            400,
            {"categorical": ["code"]},
            "ea26b810b45a9633dbb6c2cdcc0b108cd2958c8623b08986",
        ),
        ("share,n", commas, 90, FILES, "8719e48410a643228dbb51762a5f211359eb4bc26c98dfee"),
        ("text,n", few, 40, {"kind": "text"}, "dae621d0dc0639144fda69a9f921cce5684fe1dba46280f7"),
    ],
)
def test_inputs_and_labels_are_those_of_earlier_versions(
    tmp_path, monkeypatch, header, cells, rows, own, before
):
    monkeypatch.chdir(tmp_path)
    lines = [",".join(map(str, (*cells(row), "abc"[row % 3]))) for row in range(rows)]
    (tmp_path / "t.csv").write_text("\n".join([f"{header},kind", *lines]) + "\n")
    described = {"kind": "tabular", "path": "t.csv", "target": "kind", **own}
    vectors = WORDS if "text" in header else {}
    dataset = prepare("mine", Preparation.model_validate({"own": described, **vectors}), tmp_path)
    total = hashlib.sha256()
    for split in SPLITS:
        rows = getattr(dataset, split)
        total.update(rows.inputs.numpy().tobytes() + rows.labels.numpy().tobytes())
    assert total.hexdigest().startswith(before)
