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


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The outcomes of both runs, by the path of the record."""
    change = tmp_path_factory.mktemp("config") / "random.yaml"
    change.write_text("searches: [random]\n")
    both = []
    for name in ("first", "second"):
        folder = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-m", "snakemake", "--cores", "all", "--quiet", "all"]
        command += ["--snakefile", ROOT / "workflow/Snakefile", "--directory", folder]
        subprocess.run([*command, "--configfile", change], check=True)
        runs = folder / "results/runs"
        both.append({p.relative_to(runs): outcome(p) for p in runs.rglob("record.json")})
    return both


def test_both_runs_have_every_record(outcomes):
    assert len(outcomes[0]) == len(outcomes[1]) == 34


def test_configurations_scores_and_accuracies_are_identical(outcomes):
    assert outcomes[0] == outcomes[1]
