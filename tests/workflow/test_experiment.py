"""A miniature experiment from nothing to its page, and what repeats its jobs."""

import os
import re
import shutil
from pathlib import Path

import pytest

from automata.views import TABLES, figures

from .conftest import RECORD, ROOT

DRAWN = figures({("dna", "random", "hyperband"): ["full", "gradmatch"]})
OF_TABLES = {"tabulate": 1, "plot": 1, "build_page": 1, "all": 1}
REDUCTIONS = {"collect": 1, **OF_TABLES}


def test_each_run_is_one_job_and_all_results_are_there(finished):
    made = {path.relative_to(finished.folder).as_posix() for path in finished.folder.rglob("*.*")}
    assert finished.jobs == {"prepare": 1, "tune": 2, **REDUCTIONS}
    assert made >= {
        "results/smoke/best.yaml",
        "results/smoke/index.html",
        RECORD.format("full-1"),
        RECORD.format("gradmatch-0.1"),
        *(f"results/smoke/tables/{name}" for name in TABLES),
        *(f"results/smoke/figures/{name}.{form}" for name in DRAWN for form in ("pdf", "png")),
    }
    assert not [path for path in made if path.endswith(".pt")], "work that is finished"


def touch_all(folder):
    shutil.rmtree(folder / ".snakemake")
    for path in sorted(folder.rglob("*")):  # as a checkout leaves them
        os.utime(path)


@pytest.mark.parametrize(
    ("change", "tables_too"),
    [
        (lambda folder: None, False),
        (lambda folder: shutil.rmtree(folder / ".snakemake"), False),
        (lambda folder: os.utime(folder / "results/data/dna.safetensors"), False),
        (touch_all, True),
    ],
    ids=["as it is", "Snakemake's memory is lost", "data are touched", "dates in any order"],
)
def test_copy_of_the_results_repeats_no_run(copy, change, tables_too):
    change(copy.folder)
    jobs = copy.plan()
    assert jobs["prepare"] + jobs["tune"] == 0
    assert tables_too or not jobs


@pytest.mark.parametrize("source", ["src/automata/tuning/job.py", "rules/tune.smk"])
def test_touched_source_repeats_nothing(copy, source):
    path = ROOT / source
    times = path.stat()
    try:
        os.utime(path)
        assert not copy.plan()
    finally:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_deleted_record_repeats_its_run_and_the_reductions(copy):
    (copy.folder / RECORD.format("gradmatch-0.1")).unlink()
    assert copy.plan() == {"tune": 1, **REDUCTIONS}


@pytest.mark.parametrize(
    ("change", "repeated"),
    [
        ({"selector": {"gradmatch": {"l2": 0.1}}}, ["gradmatch-0.1"]),
        ({"scheduler": {"hyperband": {"reduction_factor": 2}}}, ["full-1", "gradmatch-0.1"]),
        ({"selector": {"glister": {"updates": 3}}, "search": {"tpe": {}}}, []),
    ],
)
def test_changed_parameter_repeats_exactly_the_runs_that_read_it(copy, change, repeated):
    copy.config = change
    copy.plan()
    assert [re.sub("-[0-9a-f]{8}$", "", Path(path).parts[-3]) for path in copy.records] == repeated
    assert not [path for path in copy.records if (copy.folder / path).exists()]


@pytest.mark.parametrize(
    ("change", "jobs"),
    [
        ({"ray": {"address": "head.cluster:6379"}}, {}),
        ({"job": {"memory_mb": 1, "minutes": 1, "gpus": 1, "partition": "gpu"}}, {}),
        ({"carbon": {"tdp_watts": 65}}, OF_TABLES),
        ({"seeds": [0, 1]}, {"tune": 2, **REDUCTIONS}),
    ],
    ids=["place of the trials", "request to a cluster", "carbon", "seed"],
)
def test_other_settings_repeat_only_what_reads_them(copy, change, jobs):
    copy.config = change
    assert copy.plan() == jobs
    assert all("/seed-1/" in record for record in copy.records)
