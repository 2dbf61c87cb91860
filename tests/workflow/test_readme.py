"""README's commands run in a copy of the project; long ones are shortened, or only planned."""

import os
import subprocess

import pandas as pd
import pytest
import yaml

from support.readme import block_of, blocks

from .conftest import ROOT

SHORT = {
    "protocol": {"tabular": {"configurations": 2, "epochs": 2}},
    "metering": {"exclusive": False},
}
OWN_DATA, PAPER = block_of("automata new"), block_of("snakemake -n")
ELSEWHERE = {
    "make setup": "it installs packages from the network: tests/e2e runs it",
    "source .venv/bin/activate": "it changes the reader's shell alone",
    "make reproduce": "it takes minutes: tests/e2e runs it",
    "make test": "it runs this test",
}
"""Commands that do not run here, and why."""
TREE = ["prepare ", "tune ", "collect, ", "plot, "]
"""Lines of the block that shows the stages, which is no command."""


@pytest.fixture
def call(project):
    """Give a function that runs a command line of a shell in the copy of the project."""
    (project / "results").mkdir()
    for folder in ("results/reference", "docs"):
        (project / folder).symlink_to(ROOT / folder)
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}

    def run(line):
        shell = {"shell": True, "executable": "/bin/bash", "cwd": project, "env": environment}
        ended = subprocess.run(line, **shell, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"
        return ended.stdout + ended.stderr

    return run


def test_every_block_is_run_here_or_elsewhere_for_a_reason():
    tree = block_of(TREE[0])
    assert [line.startswith(tuple(TREE)) for line in tree] == [True] * len(TREE)
    assert blocks() == [list(ELSEWHERE), OWN_DATA, PAPER, tree]


@pytest.mark.slow
def test_own_data_end_with_predictions(call, project):
    (project / "short.yaml").write_text(yaml.safe_dump(SHORT))
    for line in OWN_DATA:
        call(f"{line} short.yaml" if line.startswith("snakemake") else line)
    assert (
        "configuration"
        in yaml.safe_load((project / "results/flowers/best.yaml").read_text())["best"]["flowers"]
    )
    assert (project / "results/flowers/index.html").exists()
    assert len(pd.read_csv(project / "predictions.csv")) == 150


@pytest.mark.parametrize("line", PAPER)
def test_experiments_of_the_paper_are_planned(call, line):
    assert "This was a dry-run" in call(line.replace("snakemake", "snakemake -n", 1))
