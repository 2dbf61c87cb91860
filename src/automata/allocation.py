"""The allocation of a SLURM job, and the GPUs that a job sees."""

from __future__ import annotations

import os
from typing import Any

from automata.config.sections import Compute
from automata.errors import UserError


def allocation() -> dict[str, Any] | None:
    """Return the allocation of this SLURM job as JSON values, None outside SLURM."""
    variable = os.environ.get
    if variable("SLURM_JOB_ID") is None:
        return None
    return {
        "job_id": variable("SLURM_JOB_ID"),
        "partition": variable("SLURM_JOB_PARTITION"),
        "nodes": variable("SLURM_JOB_NODELIST"),
        "cpus": _cpus(),
        "gpus": variable("CUDA_VISIBLE_DEVICES"),
    }


def keep_to_allocation(compute: Compute) -> None:
    """Hide GPUs that are not allocated to this job or not needed; call it before CUDA starts.

    Raises UserError if its trials need more CPUs than SLURM allocated.
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
    alike = len(set(gpu_models([]))) == 1  # else CUDA and NVML may number them differently
    if alike and len(visible) > compute.gpus:
        idle_first = sorted(visible, key=lambda uuid: bool(computing_on(uuid)))
        names = [f"GPU-{uuid}" for uuid in idle_first[: compute.gpus]]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(names)


def _cpus() -> int:
    """Return the number of CPUs of this SLURM job, or of its CPU affinity if that is smaller."""
    bound = len(os.sched_getaffinity(0))
    return min(bound, int(os.environ.get("SLURM_CPUS_ON_NODE", bound)))
