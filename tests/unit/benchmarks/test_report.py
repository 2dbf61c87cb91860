"""Tables of benchmarks."""

import csv

import pytest

from benchmarks.report import write_table


def test_a_table_is_written_for_programs_and_for_readers(tmp_path):
    rows = [{"part": "a, b", "seconds": 1.23456}, {"part": "c", "seconds": 20.0}]
    write_table(rows, tmp_path, "parts", title="Parts", threads=3)
    first, second = csv.DictReader((tmp_path / "parts.csv").read_text().splitlines())
    assert (first["part"], first["seconds"], first["threads"]) == ("a, b", "1.23456", "3")
    assert (second["part"], second["seconds"], second["threads"]) == ("c", "20.0", "3")
    assert "torch" in first["packages"]
    markdown = (tmp_path / "parts.md").read_text()
    table = "| part | seconds |\n| --- | --- |\n| a, b | 1.23 |\n| c | 20 |\n"
    assert markdown.startswith(f"# Parts\n\n{table}")
    assert "\n- threads: 3\n" in markdown
    with pytest.raises(ValueError, match="different columns"):
        write_table([{"a": 1}, {"b": 1}], tmp_path, "x", title="X")
