"""`automata tabulate` on made-up runs: of the whole paper, and of a part."""

import pytest

from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.cli import main
from automata.views import TABLES
from support.synthetic import CONTROLS, PAPER, synthetic_runs
from support.tabulated import CARBON, write_tables

from .conftest import only

MADE = {name for name, table in TABLES.items() if table.make}


def tabulated(runs, folder):
    write_tables(runs, folder)
    main(["tabulate", str(folder), "--claims", "--carbon", CARBON.model_dump_json()])
    assert {path.name for path in folder.iterdir()} >= MADE
    assert (folder.parent / "best.yaml").exists()
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The tables of the whole grid of the paper, one seed."""
    return tabulated(synthetic_runs(repeats=1), tmp_path_factory.mktemp("experiment") / "tables")


@pytest.mark.parametrize("selectors", [("full",), ("random", "gradmatch"), PAPER + CONTROLS])
def test_partial_experiments_have_all_files(selectors, tmp_path):
    axes = {"datasets": ("dna",), "searches": ("tpe",), "fractions": (0.1,), "repeats": 1}
    tabulated(synthetic_runs(selectors=selectors, **axes), tmp_path / "tables")


def test_every_number_and_claim_names_the_records_of_the_experiment(whole):
    runs = set(Study(whole).runs["record"])
    for name in ("fronts", "rank-agreement", "selector-comparison"):
        records = read_csv(whole / f"{name}.csv")["records"]
        assert {it for names in records for it in names.split()} <= runs
        assert records.ne("").all()
    table = read_csv(whole / "claims.csv").fillna("")
    assert "record.json" not in (whole / "claims.md").read_text()
    named = {path for cell in table["records"] for path in cell.split()}
    assert named == runs


@pytest.mark.parametrize(
    ("name", "verdict", "panels"),
    [  # How the made-up times, accuracies and energies were made.
        ("figure-3-best", "reproduced", "20 of 20 panels"),
        ("better-than-random", "reproduced", "44 of 44 panels"),
        ("figure-1-hyperband", "not reproduced", "10 of 10 panels"),
        ("energy-than-random", "not run", "0 of 4 panels"),
    ],
)
def test_claims_about_the_made_up_runs_have_known_verdicts(whole, name, verdict, panels):
    row = only(read_csv(whole / "claims.csv").fillna(""), id=name)
    assert (row["verdict"], row["panels"]) == (verdict, panels)
