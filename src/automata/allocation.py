"""What SLURM gave the job that runs here, where it runs under SLURM."""

from __future__ import annotations

import os
from typing import Any

from automata.config.machine import Compute
from automata.errors import UserError


def allocation() -> dict[str, Any] | None:
    """Return this job's allocation as plain JSON values; None outside of SLURM."""
    given = os.environ.get
    if given("SLURM_JOB_ID") is None:
        return None
    return {
        "job_id": given("SLURM_JOB_ID"),
        "partition": given("SLURM_JOB_PARTITION"),
        "nodes": given("SLURM_JOB_NODELIST"),
        "cpus": _cpus(),
        "memory_mb": int(memory) if (memory := given("SLURM_MEM_PER_NODE")) else None,
        "gpus": given("CUDA_VISIBLE_DEVICES"),
    }


def keep_to_allocation(compute: Compute) -> None:
    """See to it that this job uses what SLURM gave it, and nothing else of the node.

    Raises UserError when its trials need more CPUs. GPUs that are not its own are hidden, which
    must happen before CUDA starts in this process.
    """
    if allocation() is None:
        return
    needed = compute.concurrent_trials * compute.threads_per_trial
    if needed > _cpus():
        raise UserError(
            f"compute: {compute.concurrent_trials} concurrent trials of "
            f"{compute.threads_per_trial} threads need {needed} CPUs; this SLURM job has {_cpus()}"
        )
    if "SLURM_GPUS_ON_NODE" not in os.environ:
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def _cpus() -> int:
    """Return the CPUs that SLURM counts for this job here, or fewer if it is bound to fewer."""
    bound = len(os.sched_getaffinity(0))
    return min(bound, int(os.environ.get("SLURM_CPUS_ON_NODE", bound)))
