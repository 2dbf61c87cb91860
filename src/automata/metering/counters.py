"""Energy counters of the machine, through pyJoules: cumulative, and they wrap around."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pyJoules.device import rapl_device
from pyJoules.device.nvidia_device import NvidiaGPUDevice
from pyJoules.exception import PyJoulesException

from automata.metering.measurement import Channel

logger = logging.getLogger(__name__)

MICROJOULES = 1e-6
MILLIJOULES = 1e-3


@dataclass
class Counter:
    """One cumulative counter, followed from its first reading.

    `read` gives the raw count; `unit` is joules per count. A count below the last one has
    wrapped: it continues from `modulus`. Without a modulus it was reset, and that step
    counts nothing. A failed read keeps the baseline, so that the next covers the gap.
    """

    device: Literal["cpu", "dram", "gpu"]
    domain: str
    source: str
    unit: float
    read: Callable[[], float]
    modulus: float | None = None
    last: float = field(init=False)
    counted: float = field(init=False, default=0.0)
    reads: int = field(init=False, default=0)
    wraps: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)

    def open(self) -> None:
        """Take the baseline; raises whatever the source raises when it cannot be read."""
        self.last = self.read()

    def update(self) -> None:
        """Read the counter and add what it moved."""
        try:
            count = self.read()
        except Exception as error:  # whatever the driver raises: the window must go on
            self.errors += 1
            logger.warning("%s: read failed: %s", self.domain, error)
            return
        step = count - self.last
        if step < 0:
            self.wraps += 1
            step = step + self.modulus if self.modulus is not None else 0.0
        self.counted += step
        self.last = count
        self.reads += 1

    def channel(self) -> Channel:
        """Return what was counted, in joules."""
        return Channel(
            device=self.device,
            domain=self.domain,
            method="measured",
            source=self.source,
            joules=self.counted * self.unit if self.reads else None,
            reads=self.reads,
            wraps=self.wraps,
            errors=self.errors,
        )


def cpu_counters(notes: list[str]) -> list[Counter]:
    """Return the RAPL package and DRAM counters that give a real reading, opened.

    Only these two kinds: core and uncore are inside the package. Why a counter is missing is
    added to `notes`.
    """
    try:
        available = rapl_device.RaplDevice.available_domains()
    except PyJoulesException:
        notes.append(f"RAPL: no {rapl_device.RAPL_API_DIR}")
        return []
    counters = []
    for domain in available:
        if isinstance(domain, rapl_device.RaplPackageDomain):
            counters.append(_rapl_counter("cpu", domain))
        elif isinstance(domain, rapl_device.RaplDramDomain):
            counters.append(_rapl_counter("dram", domain))
    opened = _opened(counters, notes)
    if not any(counter.device == "cpu" for counter in opened):
        notes.append("RAPL: no package counter could be read")
        return []
    return opened


def gpu_counters(notes: list[str]) -> list[Counter]:
    """Return the NVML energy counters that give a real reading, opened."""
    try:
        available = NvidiaGPUDevice.available_domains()
    except PyJoulesException:
        notes.append("NVML: no GPU driver")
        return []
    except Exception as error:  # pynvml missing or broken: pyJoules lets anything through
        notes.append(f"NVML: {error}")
        return []
    counters = []
    for domain in available:
        device = NvidiaGPUDevice()
        device.configure([domain])
        counters.append(Counter("gpu", str(domain), "pyJoules NVML", MILLIJOULES, _single(device)))
    return _opened(counters, notes)


def _rapl_counter(device: Literal["cpu", "dram"], domain: Any) -> Counter:
    reader = rapl_device.RaplDevice()
    reader.configure([domain])
    (energy_file,) = reader._api_file_names  # the one place that knows the zone's folder
    limit = Path(energy_file).with_name("max_energy_range_uj")
    return Counter(
        device,
        str(domain),
        "pyJoules RAPL",
        MICROJOULES,
        _single(reader),
        modulus=float(limit.read_text()) + 1,
    )


def _single(device: Any) -> Callable[[], float]:
    def read() -> float:
        return float(device.get_energy()[0])

    return read


def _opened(counters: list[Counter], notes: list[str]) -> list[Counter]:
    """Return the counters whose first reading succeeds: some devices fail only then."""
    opened = []
    for counter in counters:
        try:
            counter.open()
        except Exception as error:  # PermissionError, NVMLError, ...: each means unusable
            notes.append(f"{counter.source} {counter.domain}: {type(error).__name__}: {error}")
        else:
            opened.append(counter)
    return opened
