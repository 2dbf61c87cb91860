"""No call without force destroys a finished record, whatever has changed."""

import json
import os
import shutil
import sys

import pytest
from snakemake.exceptions import WorkflowError

PANEL = "results/runs/dna/random-hyperband-4af660c7"
FULL = f"{PANEL}/full-1/seed-0/record.json"
OTHER = {"protocol": {"tabular": {"epochs": 4}}}
DATA = "results/data/dna.safetensors"


def records(folder):
    """Return the content of all records by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in (folder / "results/runs").rglob("record.json")
    }


@pytest.fixture
def copy(finished, tmp_path, make_workflow):
    """A copy of the finished experiment."""
    shutil.copytree(finished.folder, tmp_path / "copy")
    return make_workflow(tmp_path / "copy")


@pytest.fixture(scope="module")
def both(finished, tmp_path_factory, make_workflow):
    """The finished experiment, and another protocol on its data set run beside it."""
    folder = tmp_path_factory.mktemp("both") / "copy"
    shutil.copytree(finished.folder, folder)
    workflow = make_workflow(folder, {**OTHER, "experiment": "other"})
    workflow.jobs = workflow.run("tables")
    workflow.config = {}
    return workflow


@pytest.mark.slow
def test_another_protocol_runs_beside_the_records_of_the_first(both, finished):
    assert both.jobs["tune"] == 2
    found, before = records(both.folder), records(finished.folder)
    assert {path: found[path] for path in before} == before
    assert len(found) == 4


@pytest.mark.slow
def test_both_protocols_share_the_prepared_file(both):
    assert both.jobs["prepare"] == 0


@pytest.mark.slow
def test_going_back_to_the_first_protocol_repeats_nothing(both):
    assert both.plan() == {}
    both.config = {**OTHER, "experiment": "other"}
    assert both.plan("tables") == {}
    both.config = {}


@pytest.mark.slow
def test_two_experiments_of_one_protocol_share_its_records(both):
    both.config = {**OTHER, "experiment": "third"}
    assert both.plan()["tune"] == 0
    both.config = {}


KILLED_LATE = """#!/bin/sh
"{python}" "$@"
status=$?
case "$*" in *"automata tune"*) kill -9 $$;; esac
exit $status
"""


def test_a_record_outlives_a_job_that_is_killed_after_writing_it(copy, tmp_path, monkeypatch):
    (copy.folder / FULL).unlink()
    late = tmp_path / "bin/python"
    late.parent.mkdir()
    late.write_text(KILLED_LATE.format(python=sys.executable))
    late.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(late.parent), prepend=os.pathsep)
        with pytest.raises(WorkflowError):
            copy.run(FULL)
    assert json.loads((copy.folder / FULL).read_text())["job"]["run"]["selector"] == "full"
    assert copy.plan(FULL) == {}


def test_a_job_that_starts_all_the_same_leaves_the_record(copy):
    """As after an upgrade that gives the rule another parameter."""
    before = records(copy.folder)
    for path in (copy.folder / ".snakemake/metadata").rglob("*"):
        if path.is_file() and '"tune"' in path.read_text():
            path.write_text(json.dumps({**json.loads(path.read_text()), "params": ["other"]}))
    assert copy.run(FULL)["tune"] == 1
    assert records(copy.folder) == before


@pytest.mark.slow
def test_force_repeats_a_run_and_replaces_its_record(copy):
    before = records(copy.folder)
    copy.run(FULL, force=True)
    after = records(copy.folder)
    assert {path for path in after if after[path] != before[path]} == {FULL}


@pytest.mark.slow
def test_force_of_one_run_repeats_no_other_that_starts(copy):
    before = records(copy.folder)
    for path in (copy.folder / ".snakemake/metadata").rglob("*"):
        if path.is_file() and '"tune"' in path.read_text():
            path.write_text(json.dumps({**json.loads(path.read_text()), "params": ["other"]}))
    other = FULL.replace("full-1", "gradmatch-0.1")
    copy.run(FULL, other, forced=[other])
    after = records(copy.folder)
    assert {path for path in after if after[path] != before[path]} == {other}


def test_a_deleted_record_does_not_come_back(copy):
    """Of a forced repeat that was killed, Snakemake keeps a copy of the record before."""
    kept = copy.folder / ".snakemake/backups" / FULL
    kept.parent.mkdir(parents=True)
    shutil.copy(copy.folder / FULL, kept)
    (copy.folder / FULL).unlink()
    (copy.folder / DATA).write_bytes(b"damaged, so that the job fails")
    with pytest.raises(Exception, match="did not complete"):
        copy.run(FULL)
    assert not (copy.folder / FULL).exists()


@pytest.mark.slow
def test_a_damaged_prepared_file_costs_no_record_and_is_mended_by_deleting_it(copy):
    before = records(copy.folder)
    (copy.folder / DATA).write_bytes((copy.folder / DATA).read_bytes()[:5000])
    assert copy.plan() == {}
    copy.config = {"selectors": ["full", "gradmatch", "random"]}
    with pytest.raises(Exception, match="did not complete"):
        copy.run()
    log = "".join(path.read_text() for path in (copy.folder / "logs/tune").rglob("*.log"))
    assert f"error: {DATA}: damaged, or no prepared data set: delete it, and run the " in log
    assert records(copy.folder) == before
    (copy.folder / DATA).unlink()
    copy.run("tables")
    assert len(records(copy.folder)) == len(before) + 1
    assert {path: text for path, text in records(copy.folder).items() if path in before} == before
