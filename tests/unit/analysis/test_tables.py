"""Tables on disk: nothing is lost on the way."""

import numpy as np
import pandas as pd
import pytest

from automata.analysis.tables import read_csv, write


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
