"""GPUs through NVML: sources of their energy, and whether other processes compute on them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

import psutil

from automata.allocation import computing_on, gpu_uuids, plain, query
from automata.metering.counters import Counter, readable

MILLIJOULES = 1e-3


def gpu_sources(uuids: Iterable[str], notes: list[str]) -> list[Counter]:
    """Open and return the counters of the GPUs that can be read.

    `notes` receives why others cannot.
    """
    wanted = [plain(uuid) for uuid in uuids]
    opened = []
    for index, uuid in enumerate(gpu_uuids(notes)):
        if uuid not in wanted:
            continue
        name = f"nvidia_gpu_{index}"
        has_mig, _ = query("nvmlDeviceGetMigMode", index) or (0, 0)
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
