"""One seed gives one outcome: the default experiment with random search, twice."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]


def outcome(record):
    """Return configurations, epochs, scores and accuracies of a record: all but times."""
    content = json.loads(record.read_text())
    trials = [
        (
            trial["configuration"],
            trial["progress"]["epochs"],
            trial["progress"]["training_loss"],
            [(e["epoch"], e["accuracy"], e["loss"]) for e in trial["progress"]["evaluations"]],
        )
        for trial in content["tuning"]["trials"]
    ]
    return trials, content["tuning"]["best"], content["test"]


def test_configurations_scores_and_accuracies_of_two_runs_are_identical(tmp_path):
    change = tmp_path / "random.yaml"
    change.write_text("searches: [random]\n")
    both = []
    for name in ("first", "second"):
        command = [sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all"]
        command += ["--snakefile", ROOT / "workflow/Snakefile", "--directory", tmp_path / name]
        subprocess.run([*command, "--configfile", change], check=True)
        runs = tmp_path / name / "results/runs"
        both.append({p.relative_to(runs): outcome(p) for p in runs.rglob("record.json")})
    assert len(both[0]) == 34
    assert both[0] == both[1]
