"""`python -m benchmarks.reductions` makes everything and writes its table."""

import csv
import subprocess
import sys


def test_every_step_is_timed_and_what_it_made_is_kept(tmp_path):
    arguments = ["--quick", "--results", str(tmp_path), "--keep", str(tmp_path / "kept")]
    subprocess.run([sys.executable, "-m", "benchmarks.reductions", *arguments], check=True)
    with (tmp_path / "reductions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows][-1] == "all"
    assert float(rows[-1]["CPU s"]) > 0
    made = {path.name for path in (tmp_path / "kept").rglob("*.p*")}
    assert made >= {"main.pdf", "main.png", "ceiling.png", "dna.png", "trec6.pdf"}
    assert (tmp_path / "kept/index.html").stat().st_size > 1e6
