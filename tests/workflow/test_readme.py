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
PYTHON = block_of("import automata")


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


def test_every_block_is_run_here_or_in_e2e():
    assert blocks() == [block_of("make reproduce"), OWN_DATA, PYTHON, PAPER]
    assert [line.partition(" #")[0].strip() for line in block_of("make reproduce")] == [
        "make setup",
        "source .venv/bin/activate",
        "make reproduce",
        "make test",
    ]


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
    predicted = pd.read_csv(project / "predictions.csv", dtype=str)["prediction"]
    flowers = pd.read_csv(project / "flowers.csv", dtype=str)
    assert (predicted == flowers["species"]).mean() > 0.6  # a third, if at random
    (project / "read.py").write_text("\n".join(PYTHON))
    assert str(predicted.to_numpy(dtype=object)) in call("python read.py")


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=pytest.mark.slow if "config/reference" not in line else ())
        for line in PAPER
    ],
)
def test_experiments_of_the_paper_are_planned(call, line):
    shown = call(line.replace("snakemake", "snakemake -n", 1))
    assert "This was a dry-run" in shown
    if line == PAPER[2]:
        assert {"dna: 260 runs", "cifar10: 156 runs"} <= set(shown.splitlines())
