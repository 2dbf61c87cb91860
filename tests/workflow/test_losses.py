"""No call without force destroys a finished record, whatever has changed."""

import json
import os
import shutil
import sys

import pytest
from snakemake.exceptions import WorkflowError

from .conftest import RECORD

pytestmark = pytest.mark.slow

FULL = RECORD.format("full-1")
OTHER = RECORD.format("gradmatch-0.1")
DATA = "results/data/dna.safetensors"


def records(workflow):
    return {path: (workflow.folder / path).read_bytes() for path in (FULL, OTHER)}


def changed(workflow, before):
    """Return the records that are no longer as `before`."""
    after = records(workflow)
    return {path for path in before if after[path] != before[path]}


def forget_parameters(workflow):
    """Let Snakemake start all runs, as after an upgrade that gives the rule a parameter."""
    for path in (workflow.folder / ".snakemake/metadata").rglob("*"):
        if path.is_file() and '"tune"' in path.read_text():
            path.write_text(json.dumps({**json.loads(path.read_text()), "params": ["other"]}))


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
    monkeypatch.setenv("PATH", str(late.parent), prepend=os.pathsep)
    with pytest.raises(WorkflowError):
        copy.run(FULL)
    assert json.loads((copy.folder / FULL).read_text())["job"]["run"]["selector"] == "full"
    assert copy.plan(FULL) == {}


def test_force_of_one_run_replaces_its_record_and_no_other_that_starts(copy):
    before = records(copy)
    forget_parameters(copy)
    assert copy.run(FULL, OTHER, forcerun={OTHER})["tune"] == 2
    assert changed(copy, before) == {OTHER}
    copy.run(FULL, forcetargets=True)
    assert changed(copy, before) == {OTHER, FULL}


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
