"""What would be run, without running it."""

import os
import re
import sys
from pathlib import Path

from .conftest import ROOT, snakemake

CONFIG = ROOT / "config"


def test_plan_of_the_paper_prints_the_runs_of_each_data_set(tmp_path):
    options = ["--dry-run", "--quiet", "rules", "--configfile", CONFIG / "paper.yaml"]
    shown = snakemake(tmp_path, *options)
    assert dict(re.findall(r"^([\w-]+): (\d+) runs$", shown, re.MULTILINE)) == {
        **dict.fromkeys(("dna", "satimage", "letter", "connect4"), "260"),
        **dict.fromkeys(("sst2", "sst5", "glue-sst2", "trec6"), "260"),
        **dict.fromkeys(("cifar10", "cifar100", "svhn"), "156"),
    }


def test_run_can_be_requested_by_name(workflow):
    workflow.configfiles = [CONFIG / "image.yaml"]
    workflow.config = {"datasets": ["svhn"], "selectors": ["full", "craig"]}
    record = workflow.record("svhn/tpe-asha/craig-0.1/seed-2")
    assert workflow.plan(record) == {"prepare": 1, "tune": 1}


def test_targets_make_their_part_of_the_results_and_leave_no_trace_in_this_process(workflow):
    before = dict(os.environ), [*sys.path], Path.cwd()
    tables, figures = workflow.plan("tables"), workflow.plan("figures")
    assert not any(rule.startswith("plot") for rule in tables)
    assert tables["tabulate"] == 1
    assert (figures["plot"], figures["build_page"]) == (1, 0)
    assert (dict(os.environ), sys.path, Path.cwd()) == before


def test_measured_job_has_all_cores_of_a_call_on_one_machine(workflow):
    workflow.config = {"compute": {"concurrent_trials": 1, "threads_per_trial": 1}}
    workflow.plan()
    assert (workflow.threads["tune"], workflow.threads["prepare"]) == (2, 1)
