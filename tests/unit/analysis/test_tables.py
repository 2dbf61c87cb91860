"""Tables on disk: nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automata.analysis.tables import markdown, read_csv, read_json, write
from automata.analysis.wording import three_digits


@pytest.fixture
def table() -> pd.DataFrame:
    """Floats that need all 17 digits, missing values, booleans, and names like `none`."""
    spread = np.random.default_rng(0).normal(size=200) * 10.0 ** np.arange(-100, 100)
    return pd.DataFrame(
        {
            "scheduler": ["none", "asha"] * 100,
            "seed": np.arange(200),
            "speedup": spread,
            "energy_ratio": [0.1 + 0.2, np.nan] * 100,
            "exclusive": [True, False] * 100,
        }
    )


@pytest.mark.parametrize(
    ("name", "read"), [("table.csv", read_csv), ("table.parquet", pd.read_parquet)]
)
def test_table_is_read_as_it_was_written(
    table: pd.DataFrame, tmp_path: Path, name: str, read: Callable[[Path], pd.DataFrame]
) -> None:
    path = tmp_path / "tables" / name

    write(table, path)

    pd.testing.assert_frame_equal(read(path), table, check_exact=True)


def test_column_of_missing_text_survives_parquet(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"

    write(pd.DataFrame({"final_failure": [None, None]}), path)

    assert pd.read_parquet(path)["final_failure"].isna().tolist() == [True, True]


def test_markdown_has_a_head_a_rule_and_a_line_per_row() -> None:
    table = pd.DataFrame(
        {"selector": ["craig", "full"], "seeds": [3, 1], "speedup": [12.3456, 1.0]}
    )

    assert markdown(table) == (
        "| selector | seeds | speedup |\n"
        "| --- | --- | --- |\n"
        "| craig | 3 | 12.3 |\n"
        "| full | 1 | 1 |\n"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.00012345, "0.000123"), (999.7, "1000"), (12345.6, "12346"), (-0.5, "-0.5"), (0.0, "0")],
)
def test_three_digits_are_shown_and_no_power_of_ten_of_large_numbers(
    value: float, shown: str
) -> None:
    assert three_digits(value) == shown


def test_markdown_leaves_a_cell_empty_where_nothing_was_measured() -> None:
    text = markdown(pd.DataFrame({"a": [1.0], "energy_ratio": [np.nan]}))

    assert text.splitlines()[-1] == "| 1 |  |"


def test_json_comes_back(tmp_path: Path) -> None:
    content = {"a": [1, 0.1 + 0.2, None], "b": {"c": "d"}}
    write(content, tmp_path / "table.json")
    assert read_json(tmp_path / "table.json") == content


def test_names_that_look_like_numbers_or_nothing_stay_names(tmp_path: Path) -> None:
    names = ["2024", "NA", "nan", "1e3"]
    table = pd.DataFrame({"dataset": names, "records": names, "speedup": [1.5, np.nan, 2.0, 3.0]})
    write(table, tmp_path / "table.csv")
    found = read_csv(tmp_path / "table.csv")
    assert found["dataset"].tolist() == found["records"].tolist() == names
    assert found["speedup"].isna().tolist() == [False, True, False, False]
