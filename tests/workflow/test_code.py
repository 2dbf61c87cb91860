"""Edited code: what it repeats, and which code a job imports."""

import re
import shutil

import pandas as pd
import pytest

from .conftest import ROOT, snakemake

MADE_OF_RECORDS = ("prepare", "tune", "collect")
"""Rules that no edit of other code or of rules repeats."""


def call(project, folder, *arguments, status=0):
    """Return what Snakemake shows with the workflow and the smoke experiment of `project`."""
    files = ["--configfile", project / "config/smoke.yaml"]
    return snakemake(folder, *files, *arguments, root=project, status=status)


def planned(project, folder):
    """Return those of MADE_OF_RECORDS that would run, with the number of their jobs."""
    shown = call(project, folder, "--dry-run")
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


def test_edited_code_repeats_no_run(project, copy):
    edit(project / "src/automata/training/device.py", "True", "False")
    edit(project / "src/automata/selection/random.py", "from", "# a comment\nfrom")
    edit(project / "rules/tune.smk", "rule tune", "# a comment\nrule tune")
    assert planned(project, copy.folder) == {}


@pytest.mark.slow
def test_update_of_the_code_that_reads_records_makes_tables_again_without_a_run(project, copy):
    edit(project / "src/automata/analysis/tradeoff.py", '"seeds": len', '"seeds": len, "new": len')
    assert planned(project, copy.folder) == {"collect": 1}
    call(project, copy.folder)
    assert "new" in pd.read_csv(copy.folder / "results/smoke/tables/tradeoff.csv")
    assert planned(project, copy.folder) == {}

    # Tables whose records are gone stay as they are, instead of starting runs.
    edit(project / "src/automata/page/page.css", "body", "html body")
    shutil.rmtree(copy.folder / "results/runs")
    page = "results/smoke/index.html"
    assert "Nothing to be done" in call(project, copy.folder, "--dry-run", "--", page)


@pytest.mark.slow
def test_jobs_import_no_module_from_beside_the_data(project, tmp_path):
    """Unless the configuration names one of the user's own, which may lie there."""
    folder, marks = tmp_path / "beside", tmp_path / "marks"
    marks.mkdir()
    folder.mkdir()
    for name in ("sitecustomize", "tokenize", "pyarrow", "safetensors"):
        mark = f"import pathlib\npathlib.Path({str(marks / name)!r}).touch()\n"
        (folder / f"{name}.py").write_text(mark)
    call(project, tmp_path, "--directory", folder, "--until", "prepare")
    assert list(folder.glob("results/data/dna*.safetensors"))
    assert list(marks.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("hiding", ["", "mode: subprocess\n", "directory: ../..\n"])
def test_profile_beside_the_data_is_refused_unless_it_is_named(tmp_path, monkeypatch, hiding):
    monkeypatch.setenv("PWD", str(tmp_path))
    (tmp_path / "profiles/default").mkdir(parents=True)
    profile = f"config: ['selectors=[rs2]']\n{hiding}"
    (tmp_path / "profiles/default/config.yaml").write_text(profile)
    shown = call(ROOT, tmp_path, "--dry-run", status=1)
    assert shown.splitlines()[-1].startswith(f"{tmp_path}/profiles/default: a profile here can run")
    named = call(ROOT, tmp_path, "--dry-run", "--workflow-profile", "profiles/default")
    assert "a profile here can run" not in named
