"""A job reads its allocation and stays within it."""

import os

import pytest

from automata.config.sections import Compute
from automata.errors import UserError
from automata.provenance import allocation, keep_to_allocation

ONE = Compute()


@pytest.fixture
def slurm(monkeypatch):
    """The environment of a job step with one CPU and no GPU."""
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    step = {
        "SLURM_JOB_ID": "17",
        "SLURM_JOB_PARTITION": "measured",
        "SLURM_JOB_NODELIST": "node3",
        "SLURM_CPUS_ON_NODE": "1",
    }
    for name, value in step.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return monkeypatch


def test_allocation_names_the_job_and_what_it_has(slurm):
    assert allocation() == {
        "job_id": "17",
        "partition": "measured",
        "nodes": "node3",
        "cpus": 1,
        "gpus": None,
    }


def test_cpus_are_those_that_the_process_is_bound_to(slurm):
    slurm.setenv("SLURM_CPUS_ON_NODE", "4096")
    assert allocation()["cpus"] == len(os.sched_getaffinity(0))


def test_outside_slurm_no_allocation_is_read_and_nothing_is_hidden(slurm):
    slurm.delenv("SLURM_JOB_ID")
    keep_to_allocation(Compute(concurrent_trials=4096))
    assert allocation() is None
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_trials_with_more_threads_than_cpus_are_refused_in_one_line(slurm):
    message = "^compute: 2 concurrent trials of 3 threads need 6 CPUs, and this SLURM job has 1$"
    with pytest.raises(UserError, match=message):
        keep_to_allocation(Compute(concurrent_trials=2, threads_per_trial=3))


def test_gpus_of_the_node_that_are_not_the_jobs_are_hidden(slurm):
    keep_to_allocation(ONE)
    assert os.environ.pop("CUDA_VISIBLE_DEVICES") == ""


def test_gpus_of_the_job_stay_visible(slurm):
    slurm.setenv("SLURM_GPUS_ON_NODE", "1")
    slurm.setenv("CUDA_VISIBLE_DEVICES", "1")
    keep_to_allocation(ONE)
    assert allocation()["gpus"] == "1"


@pytest.mark.parametrize(
    ("compute", "visible"),
    [
        (ONE, "GPU-b"),
        (Compute(concurrent_trials=2), "GPU-b,GPU-c"),
        (Compute(concurrent_trials=4, gpu_per_trial=0.5), "GPU-b,GPU-c"),
        (Compute(concurrent_trials=3), None),
        (Compute(concurrent_trials=4), None),
    ],
)
def test_no_more_gpus_are_visible_than_the_trials_need_and_idle_ones_come_first(
    slurm, compute, visible
):
    slurm.delenv("SLURM_JOB_ID")
    slurm.setattr("automata.metering.gpus.gpu_models", lambda notes: ["H100"] * 3)
    slurm.setattr("automata.metering.gpus.visible_gpus", lambda: ["a", "b", "c"])
    slurm.setattr("automata.metering.gpus.computing_on", lambda uuid: {1} if uuid == "a" else set())
    slurm.setenv("CUDA_VISIBLE_DEVICES", "0,1,2")
    keep_to_allocation(compute)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == (visible or "0,1,2")


def test_gpus_of_different_models_are_left_as_they_are(slurm):
    slurm.delenv("SLURM_JOB_ID")
    slurm.setattr("automata.metering.gpus.gpu_models", lambda notes: ["H100", "T4"])
    slurm.setattr("automata.metering.gpus.visible_gpus", lambda: ["a", "b"])
    keep_to_allocation(ONE)
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


@pytest.mark.parametrize(
    ("trials", "share", "gpus"),
    [(1, None, 1), (3, None, 3), (4, 0.25, 1), (3, 0.6, 3), (3, 0.1, 1)],
)
def test_trials_need_as_many_gpus_as_their_shares_fill(trials, share, gpus):
    assert Compute(concurrent_trials=trials, gpu_per_trial=share).gpus == gpus
