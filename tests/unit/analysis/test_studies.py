"""`automata studies` on a folder of tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.cli import main
from automata.views import TABLES, studies
from benchmarks.synthetic import CONTROLS, PAPER, synthetic_runs
from tabulated import write_tables

STUDIES = [name for name, table in TABLES.items() if table.make]
COLLECTED = sorted(set(STUDIES) - {"best.csv"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = synthetic_runs(
        datasets=("dna", "sst2"), selectors=PAPER + CONTROLS, fractions=(0.05, 0.1), repeats=2
    )
    return write_tables(runs, tmp_path_factory.mktemp("tables")).folder


@pytest.fixture(scope="module")
def output(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("studies") / "new"
    main(["studies", str(folder), "--output", str(output)])
    return output


def test_there_is_a_file_per_study(output: Path) -> None:
    assert sorted(path.name for path in output.iterdir()) == sorted([*STUDIES, "overview.md"])


@pytest.mark.parametrize("name", STUDIES)
def test_a_file_has_what_its_study_says(name: str, folder: Path, output: Path) -> None:
    expected = dict(studies(Study(folder)))[name]
    read = pd.read_csv(output / name)

    assert len(read) == len(expected) > 0
    assert list(read.columns) == list(expected.columns)


@pytest.mark.parametrize("name", COLLECTED)
def test_every_number_names_records_of_the_experiment(
    name: str, folder: Path, output: Path
) -> None:
    known = set(Study(folder).runs["record"])
    read = read_csv(output / name)

    assert read["records"].notna().all()
    assert {record for names in read["records"] for record in names.split()} <= known


@pytest.mark.parametrize("selectors", [("full",), ("random", "gradmatch"), PAPER])
def test_partial_experiments_have_all_files(selectors: tuple[str, ...], tmp_path: Path) -> None:
    runs = synthetic_runs(
        datasets=("dna",), selectors=selectors, searches=("tpe",), fractions=(0.1,), repeats=1
    )

    main(["studies", str(write_tables(runs, tmp_path).folder), "--output", str(tmp_path / "new")])

    assert len(list((tmp_path / "new").iterdir())) == len(STUDIES) + 1
