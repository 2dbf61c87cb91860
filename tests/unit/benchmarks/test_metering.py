"""`python -m benchmarks.metering` writes its table."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path


def test_table_has_a_row_per_number_of_processes(tmp_path: Path) -> None:
    arguments = ["--seconds", "0.2", "--processes", "0", "2", "--results", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "benchmarks.metering", *arguments], check=True)
    with (tmp_path / "metering.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["processes"] for row in rows] == ["0", "2"]
    assert all(float(row["CPU s"]) > 0 for row in rows)
