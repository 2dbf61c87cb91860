"""What the SLURM profile submits, to an sbatch that only writes down how it was called."""

import os
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
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
    "sacctmgr": "exit 1",
    "sshare": "exit 1",
    "sacct": "exit 1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder where one call submitted two runs, of parts that ask for different jobs, twice."""
    folder = tmp_path_factory.mktemp("cluster")
    for name, body in COMMANDS.items():
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / "bin" / name).chmod(0o755)
    shared = {
        "datasets": ["dna"],
        "selectors": ["random"],
        "compute": {"concurrent_trials": 2, "threads_per_trial": 3},
        "job": {
            "memory_mb": 3000,
            "minutes": 20,
            "gpus": 2,
            "gpu_type": "a100",
            "partition": "gpu",
        },
    }
    alone = {
        "datasets": ["satimage"],
        "selectors": ["random"],
        "metering": {"exclusive": True},
        "job": {"memory_mb": 1500, "minutes": 5},
    }
    (folder / "shared.yaml").write_text(yaml.safe_dump(shared))
    (folder / "alone.yaml").write_text(yaml.safe_dump(alone))
    (folder / "both.yaml").write_text("parts: [shared.yaml, alone.yaml]\n")
    ended = snakemake(
        folder,
        "--profile",
        PROFILES / "slurm",
        "--retries=1",
        "--slurm-status-command=squeue",
        "--slurm-init-seconds-before-status-checks=1",
        *("--until", "tune"),
    )
    assert ended.returncode == 1, ended.stdout
    return folder


def snakemake(folder, *arguments):
    """Call Snakemake in `folder`, with the fake commands before any real ones."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "workflow/Snakefile"]
    configs = [ROOT / "config/smoke.yaml", folder / "both.yaml"]
    return subprocess.run(
        [*command, *arguments, "--directory", folder, "--configfile", *configs],
        cwd=folder,
        env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def calls(folder):
    return (folder / "calls").read_text().splitlines()


def submitted(folder, dataset):
    """Return the two calls of sbatch for the run of `dataset`."""
    return [call for call in calls(folder) if f"_wildcards_{dataset}_" in call]


SHARED = ["--cpus-per-task=6", "--mem 3000", "-t 20", "-p gpu", "--gpus=a100:2", "--nodes=1"]
ALONE = ["--cpus-per-task=1", "--mem 1500", "-t 5", "-p usual", "--exclusive", "--nodes=1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "option"),
    [*(("dna", option) for option in SHARED), *(("satimage", option) for option in ALONE)],
)
def test_a_job_asks_for_what_the_configuration_says(folder, dataset, option):
    assert f" {option} " in submitted(folder, dataset)[0]


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "option"), [("dna", "--exclusive"), ("satimage", "--gpus")])
def test_a_job_asks_for_nothing_else(folder, dataset, option):
    assert option not in submitted(folder, dataset)[0]


@pytest.mark.slow
def test_measured_jobs_are_submitted_together(folder):
    before_any_failed = takewhile("squeue FAILED".__ne__, calls(folder))
    submissions = [call for call in before_any_failed if call.startswith("sbatch")]
    assert len(submissions) == 2


@pytest.mark.slow
def test_data_are_prepared_where_the_call_is(folder):
    assert (folder / "results/data/dna.safetensors").exists()
    submissions = [call for call in calls(folder) if call.startswith("sbatch")]
    assert ["rule_tune_" in call for call in submissions] == 4 * [True]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "options"),
    [("dna", ["--mem 6000 ", "-t 40 "]), ("satimage", ["--mem 3000 ", "-t 10 "])],
)
def test_the_second_attempt_asks_for_twice_the_memory_and_time(folder, dataset, options):
    (_, second) = submitted(folder, dataset)
    assert [option in second for option in options] == [True, True]


def test_profiles_have_no_key_in_common():
    """The default profile is always there, and its keys would win."""
    default, slurm = (
        yaml.safe_load((PROFILES / name / "profile.yaml").read_text())
        for name in ("default", "slurm")
    )
    assert set(default) & set(slurm) == set()
