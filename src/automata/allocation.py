"""What a process was given: CPUs, the allocation of SLURM, and the GPUs that NVML lists."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from automata.errors import UserError

CGROUPS, CGROUPS_OF_PROCESS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")

MPS_PROCESSES = "nvmlDeviceGetMPSComputeRunningProcesses"
"""NVML's function for processes that compute through the MPS server: it lists them apart."""

T = TypeVar("T")


def allocation() -> dict[str, Any] | None:
    """Return the allocation of this SLURM job as JSON values, None outside SLURM."""
    variable = os.environ.get
    if variable("SLURM_JOB_ID") is None:
        return None
    return {
        "job_id": variable("SLURM_JOB_ID"),
        "partition": variable("SLURM_JOB_PARTITION"),
        "nodes": variable("SLURM_JOB_NODELIST"),
        "cpus": cpus(),
        "gpus": variable("CUDA_VISIBLE_DEVICES"),
    }


def keep_to_allocation(trials: int, threads: int, gpus: int) -> None:
    """Hide GPUs that are not allocated to this job or not needed; call it before CUDA starts.

    Raises UserError if `trials` concurrent trials of `threads` threads need more CPUs than SLURM
    allocated.
    """
    if "SLURM_JOB_ID" in os.environ:
        if trials * threads > max(1, cpus()):
            raise UserError(
                f"compute: {trials} concurrent trials of {threads} threads need "
                f"{trials * threads} CPUs, and this SLURM job has {cpus():g}"
            )
        if "SLURM_GPUS_ON_NODE" not in os.environ:
            os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    visible = visible_gpus()
    alike = len(set(gpu_models())) == 1  # else CUDA and NVML may number them differently
    if alike and len(visible) > gpus:
        idle_first = sorted(visible, key=lambda uuid: bool(computing_on(uuid)))
        names = [f"GPU-{uuid}" for uuid in idle_first[:gpus]]
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(names)


def cpus() -> float:
    """Return the CPUs of this process: its affinity, SLURM or `cpu_quota`, the smallest decides."""
    linux = hasattr(os, "sched_getaffinity")
    bound = len(os.sched_getaffinity(0)) if linux else os.cpu_count() or 1
    return min(bound, int(os.environ.get("SLURM_CPUS_ON_NODE", bound)), cpu_quota())


def cpu_quota() -> float:
    """Return the CPUs whose time the cgroups of this process may use; infinite without a limit."""
    quotas = [math.inf]
    with suppress(OSError):  # not on Linux
        for line in CGROUPS_OF_PROCESS.read_text("utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            group = CGROUPS / controllers / path.strip("/")
            # A container sees its own cgroup as the root, and none of the others in `path`.
            for folder in (group, *group.parents):
                quotas.append(_quota(folder, "cpu.max"))  # version 2 of cgroups
                quotas.append(_quota(folder, "cpu.cfs_quota_us", "cpu.cfs_period_us"))
    return min(quotas)


def _quota(folder: Path, *files: str) -> float:
    """Return the quota of one cgroup in CPUs; infinite if it has none (`max` or -1)."""
    try:
        words = " ".join((folder / file).read_text("utf-8") for file in files).split()
        quota, period = map(float, words)
    except (OSError, ValueError):
        return math.inf
    return quota / period if quota > 0 else math.inf


def computing_on(uuid: str) -> set[int]:
    """Return the pids that compute on a GPU; none if the driver does not list them."""
    found = set()
    for index, installed in enumerate(gpu_uuids([])):
        if installed == plain(uuid):
            for function in ("nvmlDeviceGetComputeRunningProcesses", MPS_PROCESSES):
                found |= {process.pid for process in query(function, index) or ()}
    return found


def visible_gpus() -> list[str]:
    """Return the UUIDs of the GPUs that CUDA_VISIBLE_DEVICES leaves, without loading CUDA.

    Numbers are NVML's. CUDA has the same order under CUDA_DEVICE_ORDER=PCI_BUS_ID, or if all GPUs
    are of one kind.
    """
    installed = gpu_uuids([])
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return installed
    chosen = []
    for name in filter(None, (part.strip() for part in visible.split(","))):
        if name.isdigit():
            matches = installed[int(name) : int(name) + 1]
        else:
            matches = [uuid for uuid in installed if uuid.startswith(plain(name))]
        if not matches:  # as CUDA does: an entry that names no GPU ends the list
            break
        chosen += matches[:1]
    return chosen


def gpu_models() -> list[str]:
    """Return the models of all installed GPUs, each with the driver's version."""

    def model(nvml: Any, handle: Any) -> str:
        return f"{nvml.nvmlDeviceGetName(handle)}, driver {nvml.nvmlSystemGetDriverVersion()}"

    return _for_each_gpu(model, [])


def gpu_uuids(notes: list[str]) -> list[str]:
    """Return the UUIDs of all installed GPUs in NVML's order."""
    return _for_each_gpu(lambda nvml, handle: plain(nvml.nvmlDeviceGetUUID(handle)), notes)


def plain(uuid: str) -> str:
    """Return a UUID without NVML's prefix, which torch leaves out."""
    return uuid.removeprefix("GPU-").lower()


def query(function: str, index: int) -> Any:
    """Return NVML's answer to `function` about one GPU; None if there is none."""
    answers = _for_each_gpu(lambda nvml, handle: partial(getattr(nvml, function), handle), [])
    with suppress(Exception):  # the driver does not support it for this GPU
        return answers[index]()
    return None


def _for_each_gpu(read: Callable[[Any, Any], T], notes: list[str]) -> list[T]:
    """Return `read(nvml, handle)` of each GPU; [] and a note if NVML fails."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return [read(pynvml, handle) for handle in handles]
    except Exception as error:  # pynvml or the driver is missing or broken
        notes.append(f"NVML: {type(error).__name__}: {error}")
        return []
