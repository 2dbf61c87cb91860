"""A miniature experiment from nothing to figures, and what repeats it."""

import os
import re
import shutil
from pathlib import Path

import pytest

from automata.views import figures

ROOT = Path(__file__).parents[2]
RECORD = "results/runs/dna/random-hyperband-4af660c7/gradmatch-0.1/seed-0/record.json"
DRAWN = figures({("dna", "random", "hyperband"): ["full", "gradmatch"]})
TABLES = [
    "claims",
    "differences",
    "energy",
    "fronts",
    "rank-agreement",
    "provenance",
    "ratios",
    "selector-comparison",
    "runs",
    "tradeoff",
    "untuned",
]
OF_CARBON = {"tabulate": 1, "plot": 1, "build_page": 1, "all": 1}
REDUCTIONS = {"collect": 1, **OF_CARBON}


@pytest.fixture
def copy(finished, tmp_path, make_workflow):
    """A copy of the finished experiment, as a clone that brings its results along."""
    shutil.copytree(finished.folder, tmp_path / "copy")
    return make_workflow(tmp_path / "copy")


def test_it_takes_one_job_per_run_and_leaves_tables_and_figures(finished):
    made = {p.relative_to(finished.folder).as_posix() for p in finished.folder.rglob("*.*")}
    assert finished.jobs == {"prepare": 1, "tune": 2, **REDUCTIONS}
    assert made >= {
        "results/smoke/best.yaml",
        "results/smoke/index.html",
        *(f"results/smoke/tables/{name}.csv" for name in TABLES),
        "results/smoke/tables/claims.md",
        "results/smoke/tables/overview.md",
        *(f"results/smoke/figures/{name}.pdf" for name in DRAWN),
    }


def test_second_call_runs_nothing(copy):
    assert not copy.plan()


def test_copy_without_snakemakes_memory_runs_nothing(copy):
    shutil.rmtree(copy.folder / ".snakemake")
    assert not copy.plan()


def test_times_in_any_order_repeat_no_run(copy):
    shutil.rmtree(copy.folder / ".snakemake")
    for path in sorted(copy.folder.rglob("*")):  # as a checkout leaves them
        os.utime(path)
    assert copy.plan()["tune"] == 0


@pytest.mark.parametrize("source", ["src/automata/tuning/job.py", "rules/tune.smk"])
def test_touched_source_runs_nothing(copy, source):
    path = ROOT / source
    times = path.stat()
    try:
        os.utime(path)
        assert not copy.plan()
    finally:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_touched_data_repeat_no_run(copy):
    os.utime(copy.folder / "results/data/dna.safetensors")
    assert not copy.plan()


def test_deleted_record_repeats_its_run_and_the_reductions(copy):
    (copy.folder / RECORD).unlink()
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


def test_another_place_for_the_trials_repeats_nothing(copy):
    copy.config = {"ray": {"address": "head.cluster:6379"}}
    assert copy.plan() == {}


@pytest.mark.parametrize("change", [{"grams_per_kwh": 432}, {"tdp_watts": 65}, {"pue": 1.2}])
def test_changed_carbon_repeats_no_run_but_what_is_computed_from_it(copy, change):
    copy.config = {"carbon": change}
    assert copy.plan() == OF_CARBON


def test_changed_request_to_a_cluster_repeats_nothing(copy):
    copy.config = {"job": {"memory_mb": 1, "minutes": 1, "gpus": 1, "partition": "gpu"}}
    assert not copy.plan()


def test_added_seed_runs_only_itself_and_the_reductions(copy):
    copy.config = {"seeds": [0, 1]}
    assert copy.plan() == {"tune": 2, **REDUCTIONS}
    assert all("/seed-1/" in record for record in copy.records)
