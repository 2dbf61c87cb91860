"""`python -m benchmarks.reductions` makes everything from records and writes its tables."""

import csv
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tables of the smallest grid, and in kept/ what was made of it."""
    folder = tmp_path_factory.mktemp("reductions")
    arguments = ["--runs", "104", "--repeats", "1", "--results", folder, "--keep", folder / "kept"]
    subprocess.run([sys.executable, "-m", "benchmarks.reductions", *arguments], check=True)
    return folder


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_everything_behind_the_records_is_made(folder):
    made = folder / "kept/104/results/benchmark"
    assert (made / "index.html").stat().st_size > 1e6
    names = {path.name for path in made.rglob("*.p*")}
    assert names >= {"main.pdf", "main.png", "ceiling.png", "dna.png", "trec6.pdf"}


def test_cost_of_all_and_of_each_rule_is_stated(folder):
    (whole,) = rows(folder / "reductions.csv")
    jobs = {row["rule"]: row["jobs"] for row in rows(folder / "rules.csv")}
    assert float(whole["CPU s"]) > 0
    assert {jobs[name] for name in ("collect", "build_page")} == {"1"}
    assert jobs["plot_dataset"] == "2"
