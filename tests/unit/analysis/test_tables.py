"""Tables on disk: nothing is lost on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from automata.analysis.tables import markdown, read_csv, read_json, write
from automata.analysis.wording import three_digits


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
        }
    )
    path = tmp_path / "tables" / name
    write(table, path)
    read = read_csv if path.suffix == ".csv" else pd.read_parquet
    pd.testing.assert_frame_equal(read(path), table, check_exact=True)


def test_a_column_of_missing_text_survives_parquet(tmp_path):
    write(pd.DataFrame({"final_failure": [None, None]}), tmp_path / "table.parquet")
    found = pd.read_parquet(tmp_path / "table.parquet")["final_failure"]
    assert found.isna().tolist() == [True, True]


def test_json_comes_back(tmp_path):
    content = {"a": [1, 0.1 + 0.2, None], "b": {"c": "d"}}
    write(content, tmp_path / "table.json")
    assert read_json(tmp_path / "table.json") == content


def test_markdown_has_a_head_a_rule_and_a_line_per_row():
    rows = {"selector": ["a|b", None], "seeds": [3, 1], "speedup": [12.3456, np.nan]}
    assert markdown(pd.DataFrame(rows)) == (
        "| selector | seeds | speedup |\n| --- | --- | --- |\n| a\\|b | 3 | 12.3 |\n|  | 1 |  |\n"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.00012345, "0.000123"), (999.7, "1000"), (12345.6, "12346"), (-0.5, "-0.5"), (0.0, "0")],
)
def test_three_digits_are_shown_and_no_power_of_ten_of_large_numbers(value, shown):
    assert three_digits(value) == shown
