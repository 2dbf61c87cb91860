"""`automata tabulate` on a folder of tables."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.cli import main
from automata.registry import imported
from automata.views import TABLES
from support.synthetic import CONTROLS, PAPER, synthetic_runs
from tabulated import CARBON, write_tables

MADE = [name for name, table in TABLES.items() if table.make]
STUDIES = ["fronts.csv", "rank-agreement.csv", "selector-comparison.csv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = synthetic_runs(
        datasets=("dna", "sst2"), selectors=PAPER + CONTROLS, fractions=(0.05, 0.1), repeats=2
    )
    return tabulated(runs, tmp_path_factory.mktemp("experiment") / "tables")


def tabulated(runs: pd.DataFrame, folder: Path) -> Path:
    write_tables(runs, folder)
    main(["tabulate", str(folder), "--claims", "--carbon", CARBON.model_dump_json()])
    return folder


def test_there_is_a_file_per_table_and_the_answer_beside_them(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} >= set(MADE)
    assert (folder.parent / "best.yaml").exists()


@pytest.mark.parametrize("name", STUDIES)
def test_a_file_has_what_its_function_says(name: str, folder: Path) -> None:
    study, make = Study(folder), imported(f"automata.analysis.{TABLES[name].make}")
    (argument,) = signature(make).parameters
    expected = make(study if argument == "study" else getattr(study, argument))
    read = pd.read_csv(folder / name)

    assert len(read) == len(expected) > 0
    assert list(read.columns) == list(expected.columns)


@pytest.mark.parametrize("name", STUDIES)
def test_every_number_names_records_of_the_experiment(name: str, folder: Path) -> None:
    known = set(Study(folder).runs["record"])
    read = read_csv(folder / name)

    assert read["records"].notna().all()
    assert {record for names in read["records"] for record in names.split()} <= known


@pytest.mark.parametrize("selectors", [("full",), ("random", "gradmatch"), PAPER])
def test_partial_experiments_have_all_files(selectors: tuple[str, ...], tmp_path: Path) -> None:
    runs = synthetic_runs(
        datasets=("dna",), selectors=selectors, searches=("tpe",), fractions=(0.1,), repeats=1
    )

    folder = tabulated(runs, tmp_path / "tables")

    assert {path.name for path in folder.iterdir()} >= set(MADE)
