"""One seed gives one outcome: the default experiment with random search, twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from faults.experiment import outcome

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]


def test_configurations_scores_and_accuracies_of_two_runs_are_identical(tmp_path):
    change = tmp_path / "random.yaml"
    change.write_text("searches: [random]\n")
    both = []
    for name in ("first", "second"):
        command = [sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all"]
        command += ["--snakefile", ROOT / "workflow/Snakefile", "--directory", tmp_path / name]
        subprocess.run([*command, "--configfile", change], check=True)
        runs = tmp_path / name / "results/runs"
        records = {p.relative_to(runs): p.read_text() for p in runs.rglob("record.json")}
        both.append({run: outcome(json.loads(text)) for run, text in records.items()})
    assert len(both[0]) == 34
    assert both[0] == both[1]
