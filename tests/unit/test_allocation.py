"""Jobs keep to the CPUs and GPUs that they were given."""

import os
from pathlib import Path

import pytest

from automata import allocation as module
from automata.allocation import allocation, keep_to_allocation
from automata.config.sections import Compute
from automata.errors import UserError

ONE = Compute()


def keep_to(compute):
    keep_to_allocation(compute.concurrent_trials, compute.threads_per_trial, compute.gpus)


@pytest.fixture
def slurm(monkeypatch):
    """The environment of a job step with one CPU, no GPU and no quota."""
    monkeypatch.setattr(module, "CGROUPS_OF_PROCESS", Path("none"))
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
    keep_to(Compute(concurrent_trials=5000))


@pytest.mark.parametrize(
    ("process", "files"),
    [
        ("0::/job/step", {"job/cpu.max": "50000 100000", "job/step/cpu.max": "max 100000"}),
        ("1:cpu:/docker/x", {"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}),
    ],
)
def test_a_quota_of_cgroups_limits_the_cpus(slurm, tmp_path, process, files):
    (tmp_path / "process").write_text(f"9:name=systemd:/\n{process}\n")
    slurm.setattr(module, "CGROUPS", tmp_path)
    slurm.setattr(module, "CGROUPS_OF_PROCESS", tmp_path / "process")
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert allocation()["cpus"] == 0.5
    keep_to(ONE)


def test_trials_that_need_more_cpus_than_allocated_are_refused(slurm):
    message = "^compute: 2 concurrent trials of 3 threads need 6 CPUs, and this SLURM job has 1$"
    with pytest.raises(UserError, match=message):
        keep_to(Compute(concurrent_trials=2, threads_per_trial=3))


def test_gpus_that_slurm_did_not_allocate_are_hidden(slurm):
    keep_to(ONE)
    assert os.environ.pop("CUDA_VISIBLE_DEVICES") == ""
    slurm.setenv("SLURM_GPUS_ON_NODE", "1")
    slurm.setenv("CUDA_VISIBLE_DEVICES", "1")
    keep_to(ONE)
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
    slurm.setattr("automata.allocation.gpu_models", lambda: models)
    slurm.setattr("automata.allocation.visible_gpus", lambda: ["a", "b", "c"])
    slurm.setattr("automata.allocation.computing_on", lambda uuid: {1} if uuid == "a" else set())
    slurm.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    keep_to(compute)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == visible


def test_trials_need_as_many_gpus_as_their_shares_fill():
    shares = [(3, None), (4, 0.25), (3, 0.6), (3, 0.1)]
    settings = [Compute(concurrent_trials=count, gpu_per_trial=share) for count, share in shares]
    assert [compute.gpus for compute in settings] == [3, 1, 3, 1]
