"""The workflow as a module of another Snakefile: from a clone, and from a git repository."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLONE = f'"{ROOT}/workflow/Snakefile"'
PARTS = ("workflow", "rules", "envs")
SNAKEFILE = """
SETTINGS = {{
    "experiment": "within", "datasets": ["dna"], "selectors": ["full", "random"],
    "fractions": [0.1], "searches": ["random"], "schedulers": ["asha"],
    "protocol": {{"tabular": {{"configurations": 2, "epochs": 2}}}},
    "metering": {{"exclusive": False}},
}}

module automata:
    snakefile: {snakefile}
    config: SETTINGS

use rule * from automata{renamed}

rule mine:
    default_target: True
    input: "results/within/tables/runs.csv"
    output: "mine.txt"
    shell: "head -c 20 {{input[0]}} > {{output}}"
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of the working tree as it is."""
    folder = tmp_path_factory.mktemp("repository")
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PARTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def call(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, (shown.stdout + shown.stderr)[-3000:]
    return shown.stdout + shown.stderr


def test_a_module_of_a_clone_plans_under_other_names(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(snakefile=CLONE, renamed=" as automata_*"))
    assert "automata_tune" in call(tmp_path, "-n")


@pytest.mark.slow
def test_a_module_of_a_git_repository_runs_where_the_package_is_installed(
    tmp_path: Path, repository: Path
) -> None:
    snakefile = f'gitfile("{repository}", path="workflow/Snakefile", ref="main")'
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(snakefile=snakefile, renamed=""))
    call(tmp_path)
    assert (tmp_path / "mine.txt").read_text()
