"""GPUs through NVML: sources of their energy, and the processes that compute on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import psutil

from automata.metering.counters import Counter, readable

MILLIJOULES = 1e-3

MPS_PROCESSES = "nvmlDeviceGetMPSComputeRunningProcesses"
"""NVML's function for processes that compute through the MPS server: it lists them apart."""

T = TypeVar("T")


def gpu_sources(uuids: Iterable[str], notes: list[str]) -> list[Counter]:
    """Open and return the counter of each GPU; without those that cannot be read.

    `notes` receives why.
    """
    wanted = [_plain(uuid) for uuid in uuids]
    opened = []
    for index, uuid in enumerate(_uuids(notes)):
        if uuid not in wanted:
            continue
        name = f"nvidia_gpu_{index}"
        has_mig, _ = _query("nvmlDeviceGetMigMode", index) or (0, 0)
        if has_mig:
            notes.append(f"{name}: MIG: NVML does not count the energy of a slice")
        else:
            opened += readable(name, notes, partial(_counter, index))
    return opened


def _counter(index: int) -> Counter:
    from pyJoules.device.nvidia_device import NvidiaGPUDevice, NvidiaGPUDomain  # needs pynvml

    device = NvidiaGPUDevice()
    domain = NvidiaGPUDomain(index)
    device.configure([domain])
    return Counter(
        device="gpu",
        domain=str(domain),
        source="pyJoules NVML",
        read=lambda: float(device.get_energy()[0]),
        unit=MILLIJOULES,
    )


def computing_on(uuid: str) -> set[int]:
    """Return the pids that compute on a GPU; none if the driver does not list them."""
    found = set()
    for index, installed in enumerate(_uuids([])):
        if installed == _plain(uuid):
            for function in ("nvmlDeviceGetComputeRunningProcesses", MPS_PROCESSES):
                found |= {process.pid for process in _query(function, index) or ()}
    return found


def others_compute(uuids: Iterable[str], own: set[int]) -> bool:
    """Return whether processes outside `own` (pids) compute on a GPU together with one of `own`.

    A GPU without any of `own` is skipped: they have not begun, or the driver lists other pids, as
    for a container. The MPS server does not count, because it computes for its clients.
    """
    listed = [pids for pids in map(computing_on, uuids) if pids & own]
    return any(not _is_mps(pid) for pids in listed for pid in pids - own)


def _is_mps(pid: int) -> bool:
    with suppress(psutil.Error):
        return psutil.Process(pid).name().startswith("nvidia-cuda-mps")
    return False


def visible_gpus() -> list[str]:
    """Return the UUIDs of the GPUs that CUDA_VISIBLE_DEVICES leaves, without loading CUDA.

    Numbers are NVML's. CUDA has the same order under CUDA_DEVICE_ORDER=PCI_BUS_ID, or if all GPUs
    are of one kind.
    """
    installed = _uuids([])
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return installed
    chosen = []
    for name in filter(None, (part.strip() for part in visible.split(","))):
        if name.isdigit():
            matches = installed[int(name) : int(name) + 1]
        else:
            matches = [uuid for uuid in installed if uuid.startswith(_plain(name))]
        if not matches:  # as CUDA does: an entry that names no GPU ends the list
            break
        chosen += matches[:1]
    return chosen


def gpu_models(notes: list[str]) -> list[str]:
    """Return the models of all installed GPUs, each with the driver's version."""

    def model(nvml: Any, handle: Any) -> str:
        return f"{nvml.nvmlDeviceGetName(handle)}, driver {nvml.nvmlSystemGetDriverVersion()}"

    return _for_each_gpu(model, notes)


def _uuids(notes: list[str]) -> list[str]:
    """Return the UUIDs of all installed GPUs in NVML's order."""
    return _for_each_gpu(lambda nvml, handle: _plain(nvml.nvmlDeviceGetUUID(handle)), notes)


def _plain(uuid: str) -> str:
    """Return a UUID without NVML's prefix, which torch leaves out."""
    return uuid.removeprefix("GPU-").lower()


def _query(function: str, index: int) -> Any:
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
