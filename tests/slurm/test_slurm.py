"""The SLURM profile on a real SLURM of one node, started for these tests: some 10 minutes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a SLURM"),
    pytest.mark.skipif(
        not (shutil.which("slurmctld") or shutil.which("apt-get")),
        reason="no SLURM here, and no apt-get to install it with",
    ),
    pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two jobs at once need two CPUs"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory):
    """A SLURM of one node, this machine."""
    folder = tmp_path_factory.mktemp("slurm")
    try:
        subprocess.run([HERE / "cluster.sh", "start", folder], check=True)
        yield
    finally:
        subprocess.run([HERE / "cluster.sh", "stop", folder], check=True)


def start(folder, config, *arguments):
    """Call Snakemake with the SLURM profile in a folder of its own."""
    (folder / "mini.yaml").write_text(yaml.safe_dump({"experiment": "mini", **config}))
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "workflow/Snakefile"]
    command += ["--profile", ROOT / "workflow/profiles/slurm"]
    command += ["--slurm-status-command=squeue"]  # there is no accounting to ask
    command += ["--slurm-init-seconds-before-status-checks=3"]
    command += ["--configfile", ROOT / "config/smoke.yaml", folder / "mini.yaml"]
    command += ["--directory", folder, *arguments]
    with (folder / "output.txt").open("a") as output:
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=folder)


def printed(folder):
    return (folder / "output.txt").read_text()


def run(folder, config, *arguments):
    """Make a call that must succeed."""
    call = start(folder, config, *arguments)
    try:
        assert call.wait(timeout=900) == 0, printed(folder)[-3000:]
    finally:
        call.send_signal(signal.SIGINT)  # if it has not ended
        call.wait(timeout=120)


def jobs(folder):
    """Return SLURM's jobs of the calls in `folder`, oldest first, as scontrol shows them."""
    shown = subprocess.run(
        ["scontrol", "--oneliner", "show", "job"], capture_output=True, text=True, check=True
    )
    every = [
        dict(part.split("=", 1) for part in line.split() if "=" in part)
        for line in shown.stdout.splitlines()
    ]
    return sorted(
        (job for job in every if job.get("WorkDir") == str(folder)),
        key=lambda job: int(job["JobId"]),
    )


def logs(folder):
    return [path.read_text() for path in (folder / "logs/tune").rglob("*.log")]


def allocations(folder):
    records = (folder / "results/runs").rglob("record.json")
    return [json.loads(path.read_text())["provenance"]["allocation"] for path in records]


def overlap(one, other):
    """Return whether two jobs ran at the same time, by SLURM's clock."""
    first, second = sorted([one, other], key=lambda job: job["StartTime"])
    return second["StartTime"] < first["EndTime"]


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    """A miniature experiment whose jobs share the node, to its page."""
    folder = tmp_path_factory.mktemp("mini")
    config = {
        "selectors": ["full", "random", "gradmatch"],
        "protocol": {"tabular": {"epochs": 4}},
        "metering": {"exclusive": False},
        "job": {
            "memory_mb": 3000,
            "minutes": 10,
            "gpus": 1,
            "gpu_type": "fake",
            "partition": "measured",
        },
    }
    run(folder, config)
    return folder


def test_each_run_is_one_job_and_nothing_else_is(mini):
    comments = sorted(job["Comment"] for job in jobs(mini))
    (method,) = (mini / "results/runs/dna").iterdir()  # with the fingerprint of the protocol
    rule = f"rule_tune_wildcards_dna_{method.name.replace('-', '_')}"
    runs = ("full_1", "gradmatch_0.1", "random_0.1")
    assert comments == [f"{rule}_{run}__0" for run in runs]


def test_jobs_that_share_the_node_run_at_the_same_time(mini):
    first, second, _ = jobs(mini)
    assert overlap(first, second)


def test_ray_has_the_cpus_of_its_job_and_not_the_nodes(mini):
    assert ["Ray has 1 workers and 0 GPUs" in log for log in logs(mini)] == 3 * [True]


def test_records_name_their_allocation(mini):
    found = sorted(allocations(mini), key=lambda allocation: int(allocation["job_id"]))
    assert [allocation["job_id"] for allocation in found] == [job["JobId"] for job in jobs(mini)]
    assert {allocation["cpus"] for allocation in found} == {1}
    assert {allocation["gpus"] for allocation in found} <= {"0", "1"}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Two runs whose jobs have the node to themselves."""
    folder = tmp_path_factory.mktemp("alone")
    config = {
        "selectors": ["random"],
        "seeds": [0, 1],
        "metering": {"exclusive": True},
        "job": {"memory_mb": 2000},
    }
    run(folder, config, "--until", "tune")
    return folder


def test_exclusive_jobs_get_the_whole_node_by_turns(alone):
    found = jobs(alone)
    assert [job["OverSubscribe"] for job in found] == ["NO", "NO"]
    assert [job["NumCPUs"] for job in found] == 2 * [str(os.cpu_count())]
    assert not overlap(*found)


def test_trials_of_an_exclusive_job_use_the_configured_cpus_and_no_gpu(alone):
    assert ["Ray has 1 workers and 0 GPUs" in log for log in logs(alone)] == [True, True]
    assert [allocation["gpus"] for allocation in allocations(alone)] == ["", ""]


def test_a_cancelled_job_fails_its_call_keeps_its_output_and_the_next_call_finishes(tmp_path):
    config = {"selectors": ["full"], "job": {"memory_mb": 3000}}
    targets = ["--retries=0", "results/mini/tables/runs.csv"]
    call = start(tmp_path, config, *targets)
    deadline = time.monotonic() + 300
    while not any("Ray has" in log for log in logs(tmp_path)):
        assert time.monotonic() < deadline, printed(tmp_path)[-3000:]
        time.sleep(0.2)
    (job,) = jobs(tmp_path)
    subprocess.run(["scancel", job["JobId"]], check=True)
    assert call.wait(timeout=900) == 1
    assert "SLURM status is: 'CANCELLED'" in printed(tmp_path)
    assert not any((tmp_path / "results/runs").rglob("record.json"))
    output = Path(job["StdOut"])
    assert output.is_relative_to(tmp_path / "logs/slurm")
    assert output.is_file()
    run(tmp_path, config, *targets)
    assert [job["JobState"] for job in jobs(tmp_path)] == ["CANCELLED", "COMPLETED"]
    assert (tmp_path / "results/mini/tables/runs.csv").exists()
