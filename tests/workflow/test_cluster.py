"""What the SLURM profile submits, to an sbatch that only writes down how it was called."""

import os
from itertools import takewhile

import pytest
import yaml

from .conftest import ROOT, snakemake

PROFILES = ROOT / "workflow/profiles"

# Jobs fail as soon as both runs are there, so that the call ends soon. How often Snakemake asks
# before that depends on the machine; if the second run never comes, the first fails at last.
COMMANDS = {
    "sbatch": """
        for argument; do
            case $argument in --wrap=*) break ;; esac
            call="$call $argument"
        done
        echo "sbatch$call " >> calls
        echo $$ >> jobs
        echo $$
    """,
    "squeue": """
        state=FAILED
        test $(wc -l < jobs) -lt 2 && test $(grep -c RUNNING calls) -lt 20 && state=RUNNING
        echo "squeue $state" >> calls
        sed "s/$/|$state/" jobs
    """,
    "sinfo": "echo 'PARTITION usual*'",
    "scontrol": "echo 'MinJobAge = 300 sec'",
    "scancel": "",
    **dict.fromkeys(("sacctmgr", "sshare", "sacct"), "exit 1"),
}
SHARED = {
    "datasets": ["dna"],
    "selectors": ["random"],
    "compute": {"concurrent_trials": 2, "threads_per_trial": 3},
    "job": {"memory_mb": 3000, "minutes": 20, "gpus": 2, "gpu_type": "a100", "partition": "gpu"},
}
ALONE = {
    "datasets": ["satimage"],
    "selectors": ["random"],
    "metering": {"exclusive": True},
    "job": {"memory_mb": 1500, "minutes": 5},
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """All calls of SLURM's commands of a call that submits two runs, of two parts, twice."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "bin").mkdir()
    for name, body in COMMANDS.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / "bin" / name).chmod(0o755)
    (folder / "shared.yaml").write_text(yaml.safe_dump(SHARED))
    (folder / "alone.yaml").write_text(yaml.safe_dump(ALONE))
    (folder / "both.yaml").write_text("parts: [shared.yaml, alone.yaml]\n")
    options = ["--profile", PROFILES / "slurm", "--retries=1", "--slurm-status-command=squeue"]
    options += ["--slurm-init-seconds-before-status-checks=1", "--until", "tune"]
    options += ["--configfile", ROOT / "config/smoke.yaml", folder / "both.yaml"]
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    snakemake(folder, *options, status=1, cores=(), PATH=path)  # they would limit a job's CPUs
    assert (folder / "results/data/dna.safetensors").exists(), "prepared where the call is"
    return (folder / "calls").read_text().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "options", "other", "again"),
    [
        (
            "dna",
            ["--cpus-per-task=6", "--mem 3000", "-t 20", "-p gpu", "--gpus=a100:2", "--nodes=1"],
            "--exclusive",
            ["--mem 6000", "-t 40"],
        ),
        (
            "satimage",
            ["--cpus-per-task=1", "--mem 1500", "-t 5", "-p usual", "--exclusive", "--nodes=1"],
            "--gpus",
            ["--mem 3000", "-t 10"],
        ),
    ],
)
def test_job_asks_for_what_the_configuration_says_and_then_for_twice_as_much(
    calls, dataset, options, other, again
):
    first, second = [call for call in calls if f"_wildcards_{dataset}_" in call]
    assert [option for option in options if f" {option} " not in first] == []
    assert other not in first
    assert [option for option in again if f" {option} " not in second] == []


@pytest.mark.slow
def test_measured_jobs_alone_are_submitted_together(calls):
    before_any_failed = takewhile("squeue FAILED".__ne__, calls)
    assert sum(call.startswith("sbatch") for call in before_any_failed) == 2
    submissions = [call for call in calls if call.startswith("sbatch")]
    assert ["rule_tune_" in call for call in submissions] == 4 * [True]


def test_profiles_have_no_key_in_common():
    """The default profile is always there, and its keys would win."""
    default, slurm = (
        yaml.safe_load((PROFILES / name / "profile.yaml").read_text())
        for name in ("default", "slurm")
    )
    assert set(default) & set(slurm) == set()
