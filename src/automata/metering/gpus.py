"""Energy of the GPUs that a job may use: by their counters, else by polling their power."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import psutil

from automata.metering.counters import Counter
from automata.metering.measurement import Channel

logger = logging.getLogger(__name__)

MILLIJOULES = 1e-3
MILLIWATTS = 1e-3

CLIENTS = "nvmlDeviceGetMPSComputeRunningProcesses"
"""Those that compute through the server of MPS: NVML lists them apart."""

T = TypeVar("T")


class Source(Protocol):
    """What a window follows: a counter, or samples of power."""

    def open(self) -> None:
        """Read once; raises whatever the driver raises when it cannot be read."""
        ...

    def start(self) -> None:
        """Begin to count."""
        ...

    def update(self) -> None:
        """Read again."""
        ...

    def channel(self) -> Channel:
        """Return what was counted since `start`."""
        ...


@dataclass
class PolledPower:
    """Energy of a GPU without a counter: its power at each reading, by the trapezoid rule.

    A failed reading is bridged: the next one counts from the last that succeeded.
    """

    domain: str
    read: Callable[[], float]
    """Watts."""
    last: tuple[float, float] = field(init=False)
    joules: float = field(init=False, default=0.0)
    reads: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    complete: bool = field(init=False, default=False)

    def open(self) -> None:
        """Read once; raises whatever the driver raises."""
        self.last = time.perf_counter(), self.read()

    def start(self) -> None:
        """Begin to count."""
        self.update()
        self.joules, self.reads = 0.0, 0

    def update(self) -> None:
        """Add the energy since the last reading."""
        try:
            now = time.perf_counter(), self.read()
        except Exception as error:  # whatever the driver raises: the window must go on
            self.errors += 1
            self.complete = False
            logger.warning("%s: read failed: %s", self.domain, error)
            return
        self.joules += (now[0] - self.last[0]) * (now[1] + self.last[1]) / 2
        self.last = now
        self.reads += 1
        self.complete = True

    def channel(self) -> Channel:
        """Return the energy; None where the last reading failed."""
        return Channel(
            device="gpu",
            domain=self.domain,
            method="polled",
            source="NVML power",
            joules=self.joules if self.complete else None,
            reads=self.reads,
            errors=self.errors,
        )


def gpu_sources(uuids: Iterable[str], notes: list[str]) -> list[Source]:
    """Return the first source of each GPU that gives a real reading, opened.

    Why a source was not used is added to `notes`. A GPU of `uuids` without a source is not in
    the result: the caller knows how many there should be.
    """
    wanted = [_plain(uuid) for uuid in uuids]
    opened = []
    for index, uuid in _installed(notes):
        if uuid in wanted and _is_whole(index, notes):
            opened += _first_that_reads(index, notes)
    return opened


def computing_on(uuid: str) -> set[int]:
    """Return the processes that compute on a GPU, none where the driver does not tell."""
    found = set()
    for index, installed in _installed([]):
        if installed == _plain(uuid):
            for ask in ("nvmlDeviceGetComputeRunningProcesses", CLIENTS):
                found |= {process.pid for process in _asked(ask, index) or ()}
    return found


def others_compute(uuids: Iterable[str], own: set[int]) -> bool:
    """Say whether others than the processes `own` compute on one of the GPUs that these use.

    A GPU that lists none of them is passed over: they have not begun, or the driver numbers
    processes otherwise, as it does for a container. The server of MPS computes for its clients.
    """
    listed = [pids for pids in map(computing_on, uuids) if pids & own]
    return any(not _is_mps(pid) for pids in listed for pid in pids - own)


def _is_mps(pid: int) -> bool:
    with suppress(psutil.Error):
        return psutil.Process(pid).name().startswith("nvidia-cuda-mps")
    return False


def _is_whole(index: int, notes: list[str]) -> bool:
    """Say whether a GPU is one device, and not slices, of which none has a counter."""
    current, _ = _asked("nvmlDeviceGetMigMode", index) or (0, 0)
    if current:
        notes.append(f"nvidia_gpu_{index}: MIG: nobody counts the energy of a slice")
    return not current


def _asked(function: str, index: int) -> Any:
    """Return what NVML answers about a GPU, None where it does not."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return getattr(pynvml, function)(pynvml.nvmlDeviceGetHandleByIndex(index))
    except Exception:  # pynvml or the driver is missing, or knows no such thing of this GPU
        return None


def visible_gpus() -> list[str]:
    """Return the UUIDs of the GPUs that CUDA_VISIBLE_DEVICES leaves, without loading CUDA.

    Numbers are taken as NVML's, which is CUDA's order under CUDA_DEVICE_ORDER=PCI_BUS_ID, and
    on machines whose GPUs are all of one kind.
    """
    installed = [uuid for _, uuid in _installed([])]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return installed
    chosen = []
    for name in filter(None, (part.strip() for part in visible.split(","))):
        if not name.isdigit():
            matches = [uuid for uuid in installed if uuid.startswith(_plain(name))]
        else:
            matches = installed[int(name) : int(name) + 1]
        if not matches:  # as CUDA does: an entry that names no GPU ends the list
            break
        chosen += matches[:1]
    return chosen


def gpu_models(notes: list[str]) -> list[str]:
    """Return the models of all installed GPUs, each with the driver's version."""

    def model(nvml: Any, handle: Any) -> str:
        name, driver = nvml.nvmlDeviceGetName(handle), nvml.nvmlSystemGetDriverVersion()
        return f"{_text(name)}, driver {_text(driver)}"

    return _of_each(model, notes)


def _installed(notes: list[str]) -> list[tuple[int, str]]:
    """Return NVML's number and the UUID of each GPU."""
    return list(enumerate(_of_each(lambda nvml, h: _plain(nvml.nvmlDeviceGetUUID(h)), notes)))


def _of_each(read: Callable[[Any, Any], T], notes: list[str]) -> list[T]:
    """Return what `read` gives for NVML and each GPU's handle; or nothing and a note."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return [read(pynvml, handle) for handle in handles]
    except Exception as error:  # pynvml or the driver missing or broken
        notes.append(f"NVML: {type(error).__name__}: {error}")
        return []


def _first_that_reads(index: int, notes: list[str]) -> list[Source]:
    for build in (_counter, _power):
        try:
            source = build(index)
            source.open()
        except Exception as error:  # NVMLError, NoSuchDomainError, ...: each means unusable
            notes.append(f"nvidia_gpu_{index}: {type(error).__name__}: {error}")
        else:
            return [source]
    return []


def _counter(index: int) -> Source:
    from pyJoules.device.nvidia_device import NvidiaGPUDevice, NvidiaGPUDomain  # needs pynvml

    device = NvidiaGPUDevice()
    domain = NvidiaGPUDomain(index)
    device.configure([domain])
    return Counter(
        "gpu",
        str(domain),
        "pyJoules NVML",
        MILLIJOULES,
        lambda: float(device.get_energy()[0]),
    )


def _power(index: int) -> Source:
    import pynvml

    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    return PolledPower(
        f"nvidia_gpu_{index}", lambda: MILLIWATTS * pynvml.nvmlDeviceGetPowerUsage(handle)
    )


def _plain(uuid: Any) -> str:
    """Return a UUID without NVML's prefix, which torch leaves out."""
    return _text(uuid).removeprefix("GPU-").lower()


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
