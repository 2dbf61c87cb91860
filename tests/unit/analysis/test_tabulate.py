"""`automata tabulate` on runs of a part of the paper's grid."""

import pytest

from automata.cli import main
from automata.views import TABLES
from support.synthetic import CONTROLS, PAPER, synthetic_runs
from support.tabulated import CARBON, write_tables

MADE = {name for name, table in TABLES.items() if table.make}


@pytest.mark.parametrize("selectors", [("full",), ("random", "gradmatch"), PAPER + CONTROLS])
def test_partial_experiments_have_all_files(selectors, tmp_path):
    axes = {"datasets": ("dna",), "searches": ("tpe",), "fractions": (0.1,), "repeats": 1}
    folder = tmp_path / "tables"
    write_tables(synthetic_runs(selectors=selectors, **axes), folder)
    main(["tabulate", str(folder), "--claims", "--carbon", CARBON.model_dump_json()])
    assert {path.name for path in folder.iterdir()} >= MADE
    assert (tmp_path / "best.yaml").exists()
