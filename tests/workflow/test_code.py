"""Edited code: what it repeats, and how runs of another measurement are refused."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from automata.records import sealed

ROOT = Path(__file__).parents[2]
RECORD = "results/runs/dna/random-hyperband-4af660c7/{}/seed-0/record.json"
GRADMATCH = RECORD.format("gradmatch-0.1")
MADE_OF_RECORDS = ("prepare", "tune", "collect")
"""Rules that no edit of the tables' code, of comments or of rules repeats."""


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of the finished experiment."""
    shutil.copytree(finished.folder, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture
def project(tmp_path):
    """A new copy of what the workflow is made of, as a clone has it."""
    for part in ("config", "envs", "workflow", "rules", "src"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def snakemake(project, folder, *arguments):
    """Run Snakemake, as typed, with the workflow of `project`; return what it shows."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2"]
    command += ["--configfile", project / "config/smoke.yaml", "--directory", folder]
    command += ["--snakefile", project / "workflow/Snakefile"]
    shown = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    return shown.stdout + shown.stderr


def planned(project, folder, *arguments):
    """Return those of MADE_OF_RECORDS that would run, with the number of their jobs."""
    shown = snakemake(project, folder, "--dry-run", *arguments)
    assert "This was a dry-run" in shown or "Nothing to be done" in shown
    return {
        rule: int(jobs)
        for rule, jobs in re.findall(r"^(\w+) +(\d+)$", shown, re.MULTILINE)
        if rule in MADE_OF_RECORDS
    }


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def age(record, **other):
    """Make a record one of another measurement, as if that had written it."""
    content = json.loads(record.read_text())
    del content["digest"]
    content["provenance"]["measurement"].update(other)
    record.write_text(sealed(content))


def test_clone_with_edited_comments_repeats_nothing(project, folder):
    edit(project / "src/automata/tuning/job.py", '"""One measured job', '"""Another')
    edit(project / "src/automata/selection/random.py", "from", "# a comment\nfrom")
    edit(project / "rules/tune.smk", "rule tune", "# a comment\nrule tune")
    assert planned(project, folder) == {}


def test_edited_code_repeats_nothing(project, folder):
    edit(project / "src/automata/training/threads.py", "True", "False")
    assert planned(project, folder) == {}


@pytest.mark.slow
def test_edited_code_of_a_figure_repeats_nothing(project, folder):
    edit(project / "src/automata/figures/seconds.py", "annotations", "annotations\nimport os")
    assert planned(project, folder) == {}


def test_run_of_another_measurement_is_refused_in_the_table_with_the_reason(folder):
    age(folder / GRADMATCH, metering=0)
    snakemake(ROOT, folder, "tables")
    tables = folder / "results/smoke/tables"
    refused = pd.read_csv(tables / "ratios.csv").set_index("selector")["refused"]["gradmatch"]
    assert refused == (
        "not comparable with its FULL: the run has another measurement version: metering 0, not 1"
    )


TOY = '''
"""The first rows, whatever the model says."""

import torch

from automata.selection.problem import Cadence, uniform


class First:
    cadence = Cadence.ONCE

    def select(self, problem):
        return uniform(list(torch.arange(problem.budget).split(problem.size)))
'''


def test_a_selector_is_a_file_and_an_entry(project, folder):
    (project / "src/automata/selection/first.py").write_text(TOY)
    entry = 'target="automata.selection.first:First", display="FIRST", meaning="the first rows"'
    registry = "SELECTORS = {\n"
    entry = f'{registry}    "first": Method({entry}),\n'
    edit(project / "src/automata/registry.py", registry, entry)
    edit(project / "config/smoke.yaml", "selectors: [full, gradmatch]", "selectors: [full, first]")

    assert planned(project, folder) == {"tune": 1, "collect": 1}
    snakemake(project, folder)
    tables = folder / "results/smoke/tables"
    runs = pd.read_csv(tables / "runs.csv").set_index("selector")
    assert set(runs.index) == {"full", "first"}
    assert runs.loc["first", "tuning_selection_seconds"] > 0
    assert set(pd.read_csv(tables / "tradeoff.csv")["selector"]) == {"full", "first"}
    assert "FIRST" in (folder / "results/smoke/index.html").read_text()


def test_edited_record_is_refused_on_the_terminal_by_name(folder):
    record = folder / GRADMATCH
    edit(record, '"accuracy": 0', '"accuracy": 1')
    with pytest.raises(subprocess.CalledProcessError) as end:
        snakemake(ROOT, folder, "tables")
    shown = end.value.stdout + end.value.stderr
    assert (
        f"{GRADMATCH}: its content does not match its digest: cut off, edited or damaged;" in shown
    )


def test_jobs_import_no_module_from_beside_the_data(project, tmp_path):
    """Unless the configuration names one of the user's own, which may lie there."""
    folder, marks = tmp_path / "beside", tmp_path / "marks"
    marks.mkdir()
    folder.mkdir()
    for name in ("sitecustomize", "tokenize", "pyarrow", "safetensors"):
        mark = f"import pathlib\npathlib.Path({str(marks / name)!r}).touch()\n"
        (folder / f"{name}.py").write_text(mark)
    snakemake(project, folder, "--until", "prepare")
    assert list(folder.glob("results/data/dna*.safetensors"))
    assert list(marks.iterdir()) == []
