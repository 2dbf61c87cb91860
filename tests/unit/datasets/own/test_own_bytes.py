"""Prepared files stay what they were: a description without the newer keys gives the same bytes.

The checksums are of files that the code before these keys made. All numbers are whole, or halves,
so that no library's order of adding matters.
"""

import hashlib

import pytest

from automata.config.data import Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset


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
    "mixed": "9f687fa4815a9675db024d511dcb5a85a06a0e3f09a459a259034e1206626ddc",
    "gaps": "2c017d840132c8bb67ca2ae2ae95ef6ac90281a395c0cd85a2e3643620c52676",
    "few": "cafcd538b0edf93a091c5c59297f6ed225f75caaf0663135e58ebde998a5db30",
    "cities": "4222308b70fdb51c378b7f6c972dd24b83ec9b5266b3817c9d874233f808e140",
    "commas": "d49724aff14092752510d9a6e97a41422314f53856ed9a0c500bf2aeaa13f48d",
    "text": "d50981cc6c458ae7b4bb1d1da7d2581e984b05591960c1a0a7dcbbbdddc16e55",
}


@pytest.mark.parametrize("name", TABLES)
def test_prepared_file_has_the_bytes_of_before(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)  # a prepared file names the files that it was made from
    header, row_of, rows, preparation = TABLES[name]
    write(tmp_path / "t.csv", header, row_of, range(rows))
    dataset = prepare("mine", Preparation.model_validate(preparation), tmp_path)
    write_dataset(dataset, tmp_path / "mine.safetensors")
    found = hashlib.sha256((tmp_path / "mine.safetensors").read_bytes()).hexdigest()
    assert found == BEFORE[name]
