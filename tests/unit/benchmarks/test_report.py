"""Tables of benchmarks."""

import csv

import pytest

from benchmarks.report import write_table


def test_table_is_written_for_programs_and_for_readers(tmp_path):
    rows = [{"part": "a, b", "seconds": 1.23456}, {"part": "c", "seconds": 20.0}]
    write_table(rows, tmp_path, "parts", title="Parts", threads=3)
    with (tmp_path / "parts.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [(row["part"], row["seconds"]) for row in table] == [("a, b", "1.23456"), ("c", "20.0")]
    assert {row["threads"] for row in table} == {"3"}
    assert "torch" in table[0]["packages"]
    markdown = (tmp_path / "parts.md").read_text().splitlines()
    assert markdown[:6] == [
        "# Parts",
        "",
        "| part | seconds |",
        "| --- | --- |",
        "| a, b | 1.23 |",
        "| c | 20 |",
    ]
    assert "- threads: 3" in markdown


def test_rows_with_different_columns_are_refused(tmp_path):
    with pytest.raises(ValueError, match="different columns"):
        write_table([{"a": 1}, {"b": 1}], tmp_path, "x", title="X")
