"""A miniature experiment: its plan, its results, their report, and what repeats its jobs."""

import os
import re
import shutil
from pathlib import Path

import pytest

from automata.analysis.views import FIGURES, TABLES, figures

from .conftest import RECORD, ROOT, snakemake

DRAWN = figures({("dna", "random", "hyperband"): ["full", "gradmatch"]})
OF_TABLES = {"tabulate": 1, "plot": 1, "build_page": 1, "all": 1}
REDUCTIONS = {"collect": 1, **OF_TABLES}
CATEGORIES = ["The paper's figures", "Beyond the paper", "Data sets", "Page"]


def test_targets_make_their_part_and_a_measured_job_has_all_cores_of_one_machine(workflow):
    tables = {"prepare", "tune", "collect", "tabulate", "tables"}
    assert set(workflow.plan("tables")) == tables
    assert set(workflow.plan("figures")) == tables - {"tables"} | {"plot", "figures"}
    workflow.config = {"compute": {"concurrent_trials": 1, "threads_per_trial": 1}}
    workflow.plan()
    assert (workflow.threads["tune"], workflow.threads["prepare"]) == (2, 1)


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


def test_report_has_every_result_with_its_caption_in_its_category(finished, tmp_path):
    file = tmp_path / "report.html"
    snakemake(finished.folder, "--configfile", ROOT / "config/smoke.yaml", "--report", file)
    report = file.read_text()
    assert [category for category in CATEGORIES if category not in report] == []
    shown = " ".join(re.sub(r"\\n|\\u2019", " ", report).replace("\\u0027", "'").split())
    captions = {view.name: view.caption for view in FIGURES.values()}
    captions["page"] = (ROOT / "workflow/report/page.rst").read_text()
    for name in [*DRAWN, "page"]:
        start = " ".join(captions[name.partition("/")[0]].split())[:40]
        assert start in shown or start.replace("'", "&#x27;") in shown, name


def touch_all(folder):
    shutil.rmtree(folder / ".snakemake")
    for path in sorted(folder.rglob("*")):  # as a checkout leaves them
        os.utime(path)


@pytest.mark.parametrize(
    ("change", "tables_too"),
    [
        (lambda folder: shutil.rmtree(folder / ".snakemake"), False),
        (lambda folder: os.utime(folder / "results/data/dna.safetensors"), False),
        (touch_all, True),
    ],
    ids=["Snakemake's memory is lost", "data are touched", "dates in any order"],
)
def test_copy_of_the_results_repeats_no_run(copy, change, tables_too):
    change(copy.folder)
    jobs = copy.plan()
    assert jobs["prepare"] + jobs["tune"] == 0
    assert tables_too or not jobs


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
        ({"experiment": "other"}, REDUCTIONS),
    ],
    ids=["place of the trials", "request to a cluster", "carbon", "seed", "name"],
)
def test_other_settings_repeat_only_what_reads_them(copy, change, jobs):
    copy.config = change
    assert copy.plan() == jobs
    assert all("/seed-1/" in record for record in copy.records)
