"""What there is for a job: the GPUs of this host, and what SLURM gave it, where it runs there."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from automata.config.sections import Compute
from automata.errors import UserError


def allocation() -> dict[str, Any] | None:
    """Return this job's allocation as plain JSON values; None outside of SLURM."""
    given = os.environ.get
    job = given("SLURM_JOB_ID")
    if job is None:
        return None
    return {
        "job_id": job,
        "partition": given("SLURM_JOB_PARTITION"),
        "nodes": given("SLURM_JOB_NODELIST"),
        "cpus": _cpus(),
        "memory": _memory(job),
        "gpus": given("CUDA_VISIBLE_DEVICES"),
    }


def keep_to_allocation(compute: Compute) -> None:
    """Hide the GPUs that are not this job's, or that it does not need, before CUDA starts.

    Raises UserError when its trials need more CPUs than SLURM gave it.
    """
    if "SLURM_JOB_ID" in os.environ:
        trials, threads = compute.concurrent_trials, compute.threads_per_trial
        if trials * threads > _cpus():
            raise UserError(
                f"compute: {trials} concurrent trials of {threads} threads need "
                f"{trials * threads} CPUs, and this SLURM job has {_cpus()}"
            )
        if "SLURM_GPUS_ON_NODE" not in os.environ:
            os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    from automata.metering.gpus import computing_on, gpu_models, visible_gpus  # needs psutil

    visible = visible_gpus()
    alike = len(set(gpu_models([]))) == 1  # else CUDA may number them otherwise than NVML does
    if alike and len(visible) > compute.gpus:
        idle_first = sorted(visible, key=lambda uuid: bool(computing_on(uuid)))
        names = [f"GPU-{uuid}" for uuid in idle_first[: compute.gpus]]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(names)


def gpus_of_host() -> int | None:
    """Return how many GPUs NVML knows here; None where nobody can ask it. Starts no CUDA."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        return int(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return 0


def _cpus() -> int:
    """Return the CPUs that SLURM counts for this job here, or fewer if it is bound to fewer."""
    bound = len(os.sched_getaffinity(0))
    return min(bound, int(os.environ.get("SLURM_CPUS_ON_NODE", bound)))


def _memory(job: str) -> str | None:
    """Return the memory that `job` asked for, in SLURM's words: job steps do not know theirs."""
    command = ["squeue", "--noheader", "--format=%m", "--job", job]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return shown.stdout.strip() or None
