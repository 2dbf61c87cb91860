"""Tables on disk: nothing is lost on the way, and all are there."""

import numpy as np
import pandas as pd
import pytest

from automata.analysis.tables import read_csv, write
from automata.cli import main
from automata.views import TABLES
from support.synthetic import CONTROLS, PAPER, synthetic_runs
from support.tabulated import CARBON, write_tables


@pytest.mark.parametrize("name", ["table.csv", "table.parquet"])
def test_a_table_is_read_as_it_was_written(tmp_path, name):
    """Floats that need all 17 digits, missing values, and names like `none`, `NA` or 2024."""
    spread = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    table = pd.DataFrame(
        {
            "dataset": ["2024", "NA", "nan", "1e3"] * 50,
            "scheduler": ["none", "asha"] * 100,
            "seed": np.arange(200),
            "speedup": spread,
            "energy_ratio": [0.1 + 0.2, np.nan] * 100,
            "exclusive": [True, False] * 100,
            "final_failure": [None] * 200,
        }
    )
    path = tmp_path / "tables" / name
    write(table, path)
    read = read_csv if path.suffix == ".csv" else pd.read_parquet
    found = read(path)
    assert found.pop("final_failure").isna().all()
    pd.testing.assert_frame_equal(found, table.drop(columns="final_failure"), check_exact=True)


@pytest.mark.parametrize("selectors", [("full",), ("random", "gradmatch"), PAPER + CONTROLS])
def test_a_part_of_the_papers_grid_has_all_tables(selectors, tmp_path):
    axes = {"datasets": ("dna",), "searches": ("tpe",), "fractions": (0.1,), "repeats": 1}
    folder = tmp_path / "tables"
    write_tables(synthetic_runs(selectors=selectors, **axes), folder)
    main(["tabulate", str(folder), "--claims", "--carbon", CARBON.model_dump_json()])
    made = {name for name, table in TABLES.items() if table.make}
    assert {path.name for path in folder.iterdir()} >= made
    assert (tmp_path / "best.yaml").exists()
