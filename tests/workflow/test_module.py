"""The workflow as a module of another Snakefile: from a clone, and from a git repository."""

import shutil
import subprocess

import pytest

from .conftest import ROOT, snakemake

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


def call(folder, snakefile, renamed, *arguments):
    """Return what Snakemake shows that runs another Snakefile."""
    (folder / "workflow").mkdir()
    text = SNAKEFILE.format(snakefile=snakefile, renamed=renamed)
    (folder / "workflow/Snakefile").write_text(text)
    return snakemake(folder, *arguments, root=folder)


def test_module_of_a_clone_plans_under_other_names(tmp_path):
    snakefile = f'"{ROOT}/workflow/Snakefile"'
    assert "automata_tune" in call(tmp_path, snakefile, " as automata_*", "-n")


@pytest.mark.slow
def test_module_of_a_git_repository_runs_where_the_package_is_installed(tmp_path):
    repository = tmp_path / "repository"
    for part in ("workflow", "rules", "envs"):
        shutil.copytree(ROOT / part, repository / part)
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    snakefile = f'gitfile("{repository}", path="workflow/Snakefile", ref="main")'
    call(tmp_path, snakefile, "")
    assert (tmp_path / "mine.txt").read_text()
