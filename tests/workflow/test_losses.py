"""No call without force destroys a finished record, whatever has changed."""

import json
import os
import shutil
import sys
import time

import pytest
from snakemake.exceptions import WorkflowError

from .conftest import RECORD

FULL = RECORD.format("full-1")
OTHER = {"protocol": {"tabular": {"epochs": 4}}}
DATA = "results/data/dna.safetensors"


def records(workflow):
    """Return the content of all records by path."""
    return {
        path.relative_to(workflow.folder).as_posix(): path.read_bytes()
        for path in (workflow.folder / "results/runs").rglob("record.json")
    }


def changed(workflow, before):
    """Return the records that are no longer as `before`."""
    after = records(workflow)
    return {path for path in before if after.get(path) != before[path]}


def forget_parameters(workflow):
    """Let Snakemake start all runs, as after an upgrade that gives the rule a parameter."""
    for path in (workflow.folder / ".snakemake/metadata").rglob("*"):
        if path.is_file() and '"tune"' in path.read_text():
            path.write_text(json.dumps({**json.loads(path.read_text()), "params": ["other"]}))


@pytest.mark.slow
def test_another_protocol_runs_beside_the_records_of_the_first(copy):
    before = records(copy)
    copy.config = {**OTHER, "experiment": "other"}
    jobs = copy.run("tables")
    assert (jobs["tune"], jobs["prepare"]) == (2, 0)
    assert not changed(copy, before)
    assert len(records(copy)) == 4

    assert copy.plan("tables") == {}
    copy.config = {**OTHER, "experiment": "third"}
    assert copy.plan()["tune"] == 0, "experiments of one protocol share its records"
    copy.config = {}
    assert copy.plan() == {}, "nothing is repeated for the first protocol"


KILLED_LATE = """#!/bin/sh
"{python}" "$@"
status=$?
case "$*" in *"automata tune"*) kill -9 $$;; esac
exit $status
"""


def test_record_outlives_a_job_that_is_killed_after_writing_it(copy, tmp_path, monkeypatch):
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


def test_job_that_starts_all_the_same_leaves_the_record(copy):
    """Also if the clock was set back after the data were prepared."""
    tomorrow = time.time() + 86_400
    os.utime(copy.folder / DATA, (tomorrow, tomorrow))
    before = records(copy)
    forget_parameters(copy)
    assert copy.run(FULL)["tune"] == 1
    assert not changed(copy, before)


@pytest.mark.slow
def test_force_of_one_run_replaces_its_record_and_no_other_that_starts(copy):
    before = records(copy)
    forget_parameters(copy)
    other = RECORD.format("gradmatch-0.1")
    copy.run(FULL, other, forced=[other])
    assert changed(copy, before) == {other}
    copy.run(FULL, force=True)
    assert changed(copy, before) == {other, FULL}


def test_deleted_record_does_not_come_back(copy):
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
def test_damaged_prepared_file_costs_no_record_and_is_mended_by_deleting_it(copy):
    before = records(copy)
    (copy.folder / DATA).write_bytes((copy.folder / DATA).read_bytes()[:5000])
    assert copy.plan() == {}
    copy.config = {"selectors": ["full", "gradmatch", "random"]}
    with pytest.raises(Exception, match="did not complete"):
        copy.run()
    log = "".join(path.read_text() for path in (copy.folder / "logs/tune").rglob("*.log"))
    assert f"error: {DATA}: damaged, or no prepared data set: delete it, and run the " in log
    (copy.folder / DATA).unlink()
    copy.run("tables")
    assert not changed(copy, before)
    assert len(records(copy)) == len(before) + 1
