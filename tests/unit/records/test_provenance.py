"""The provenance of a record, and jobs that keep to their SLURM allocation."""

import hashlib
import os
import subprocess

import psutil
import pytest
import torch

from automata import __version__
from automata.config.sections import Compute
from automata.errors import UserError
from automata.records import provenance
from automata.records.provenance import allocation, git_state, keep_to_allocation

ONE = Compute()


def test_code_packages_and_host_are_recorded(tmp_path, monkeypatch):
    lock = tmp_path / "requirements.lock"
    lock.write_text("torch==2.13\n")
    monkeypatch.setattr(provenance, "LOCK", lock)
    monkeypatch.setattr(provenance, "PACKAGES", ("torch", "not-a-package"))
    recorded = provenance.provenance("rs2")
    assert recorded["automata"] == __version__
    assert recorded["measurement"].keys() == {"training", "metering", "rs2"}
    assert recorded["packages"] == {"torch": torch.__version__, "not-a-package": None}
    assert recorded["lock_sha256"] == hashlib.sha256(b"torch==2.13\n").hexdigest()
    assert recorded["memory_mib"] == psutil.virtual_memory().total // 2**20
    lock.unlink()
    assert provenance.provenance("full")["lock_sha256"] is None


def test_folder_outside_the_projects_checkout_has_no_git_state(tmp_path):
    assert git_state(tmp_path) is None
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert git_state(tmp_path) is None


@pytest.fixture
def slurm(monkeypatch):
    """The environment of a job step with one CPU and no GPU."""
    for name in [name for name in os.environ if name.startswith(("SLURM_", "CUDA_V"))]:
        monkeypatch.delenv(name)
    given = {"JOB_ID": "17", "JOB_PARTITION": "fast", "JOB_NODELIST": "node3", "CPUS_ON_NODE": "1"}
    for name, value in given.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    return monkeypatch


def test_allocation_is_read_from_slurm(slurm):
    named = {"job_id": "17", "partition": "fast", "nodes": "node3", "gpus": None}
    assert allocation() == {**named, "cpus": 1}
    slurm.setenv("SLURM_CPUS_ON_NODE", "4096")
    assert allocation()["cpus"] == len(os.sched_getaffinity(0))
    slurm.delenv("SLURM_JOB_ID")
    assert allocation() is None
    keep_to_allocation(Compute(concurrent_trials=5000))


@pytest.mark.parametrize(
    ("process", "files"),
    [
        ("0::/job/step", {"job/cpu.max": "50000 100000", "job/step/cpu.max": "max 100000"}),
        ("1:cpu:/docker/x", {"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}),
    ],
)
def test_a_quota_of_cgroups_limits_the_cpus(slurm, tmp_path, process, files):
    (tmp_path / "process").write_text(f"9:name=systemd:/\n{process}\n")
    slurm.setattr(provenance, "CGROUPS", tmp_path)
    slurm.setattr(provenance, "CGROUPS_OF_PROCESS", tmp_path / "process")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert allocation()["cpus"] == 0.5
    keep_to_allocation(ONE)


def test_trials_that_need_more_cpus_than_allocated_are_refused(slurm):
    message = "^compute: 2 concurrent trials of 3 threads need 6 CPUs, and this SLURM job has 1$"
    with pytest.raises(UserError, match=message):
        keep_to_allocation(Compute(concurrent_trials=2, threads_per_trial=3))


def test_gpus_that_slurm_did_not_allocate_are_hidden(slurm):
    keep_to_allocation(ONE)
    assert os.environ.pop("CUDA_VISIBLE_DEVICES") == ""
    slurm.setenv("SLURM_GPUS_ON_NODE", "1")
    slurm.setenv("CUDA_VISIBLE_DEVICES", "1")
    keep_to_allocation(ONE)
    assert allocation()["gpus"] == "1"


@pytest.mark.parametrize(
    ("compute", "models", "visible"),
    [
        (ONE, ["H100"] * 3, "GPU-b"),
        (Compute(concurrent_trials=4, gpu_per_trial=0.5), ["H100"] * 3, "GPU-b,GPU-c"),
        (Compute(concurrent_trials=3), ["H100"] * 3, "0,1,2"),
        (ONE, ["H100", "H100", "T4"], "0,1,2"),
    ],
)
def test_as_many_gpus_as_the_trials_need_stay_visible_idle_ones_first(
    slurm, compute, models, visible
):
    slurm.delenv("SLURM_JOB_ID")
    slurm.setattr("automata.metering.gpus.gpu_models", lambda notes: models)
    slurm.setattr("automata.metering.gpus.visible_gpus", lambda: ["a", "b", "c"])
    slurm.setattr("automata.metering.gpus.computing_on", lambda uuid: {1} if uuid == "a" else set())
    slurm.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    keep_to_allocation(compute)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == visible


def test_trials_need_as_many_gpus_as_their_shares_fill():
    shares = [(3, None), (4, 0.25), (3, 0.6), (3, 0.1)]
    settings = [Compute(concurrent_trials=count, gpu_per_trial=share) for count, share in shares]
    assert [compute.gpus for compute in settings] == [3, 1, 3, 1]
