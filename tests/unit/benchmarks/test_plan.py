"""`python -m benchmarks.plan` plans grids in two states and writes its table."""

import csv
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_plan_is_timed_with_none_and_all_of_the_records(tmp_path):
    arguments = ["--runs", "104", "--repeats", "1", "--results", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "benchmarks.plan", *arguments], check=True)
    with (tmp_path / "plan.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["records there"] for row in rows] == ["none", "all"]
    assert all(float(row["wall s"]) > 0 for row in rows)
