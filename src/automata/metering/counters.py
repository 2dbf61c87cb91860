"""Energy counters of the machine, through pyJoules: cumulative, and they wrap around."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pyJoules.device import rapl_device
from pyJoules.exception import PyJoulesException

from automata.metering.measurement import Channel

logger = logging.getLogger(__name__)

Device = Literal["cpu", "dram", "gpu"]

MICROJOULES = 1e-6


@dataclass
class Counter:
    """One cumulative counter, followed from its first reading.

    `read` gives the raw count; `unit` is joules per count. A count below the last one has
    wrapped: it continues from `modulus`. Without a modulus it was reset, and that step
    counts nothing. A failed read keeps the baseline, so that the next covers the gap.
    """

    device: Device
    domain: str
    source: str
    unit: float
    read: Callable[[], float]
    modulus: float | None = None
    last: float = field(init=False)
    counted: float = field(init=False, default=0.0)
    reads: int = field(init=False, default=0)
    wraps: int = field(init=False, default=0)
    resets: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    complete: bool = field(init=False, default=False)

    def open(self) -> None:
        """Take a first baseline; raises whatever the source raises when it cannot be read."""
        self.last = self.read()

    def start(self) -> None:
        """Begin to count: what the counter moved since `open` belongs to no window."""
        self.update()
        self.counted, self.reads, self.wraps, self.resets = 0.0, 0, 0, 0

    def update(self) -> None:
        """Read the counter and add what it moved."""
        try:
            count = self.read()
        except Exception as error:  # whatever the driver raises: the window must go on
            self.errors += 1
            self.complete = False
            logger.warning("%s: read failed: %s", self.domain, error)
            return
        step = count - self.last
        if step < 0 and self.modulus is not None:
            self.wraps += 1
            step += self.modulus
        elif step < 0:
            self.resets += 1
            step = 0.0
        self.counted += step
        self.last = count
        self.reads += 1
        self.complete = True

    def channel(self) -> Channel:
        """Return what was counted, in joules; None where the last read failed."""
        return Channel(
            device=self.device,
            domain=self.domain,
            method="measured",
            source=self.source,
            joules=self.counted * self.unit if self.complete else None,
            reads=self.reads,
            wraps=self.wraps,
            resets=self.resets,
            errors=self.errors,
        )


def cpu_counters(notes: list[str]) -> list[Counter]:
    """Return the RAPL package and DRAM counters, opened, if every package can be read.

    Only these two kinds: core and uncore are inside the package. Why a counter is missing is
    added to `notes`; with a package missing there are none, since a part is not the whole.
    """
    root = Path(rapl_device.RAPL_API_DIR)
    try:
        available = rapl_device.RaplDevice.available_domains()
    except PyJoulesException:
        notes.append(f"RAPL: no {root}")
        return []
    opened = []
    for domain in available:
        if isinstance(domain, rapl_device.RaplPackageDomain):
            opened += _opened("cpu", domain, _rapl_counter, notes)
        elif isinstance(domain, rapl_device.RaplDramDomain):
            opened += _opened("dram", domain, _rapl_counter, notes)
    readable = sum(counter.device == "cpu" for counter in opened)
    packages = sum(
        (zone / "name").read_text().startswith("package") for zone in root.glob("intel-rapl:*")
    )
    if readable == 0 or readable < packages:
        notes.append(f"RAPL: {readable} of {packages} packages can be read")
        return []
    return opened


def _opened(
    device: Device, domain: Any, build: Callable[[Device, Any], Counter], notes: list[str]
) -> list[Counter]:
    """Return the domain's counter if its first reading succeeds: some fail only then."""
    try:
        counter = build(device, domain)
        counter.open()
    except Exception as error:  # PermissionError, NVMLError, ...: each means unusable
        notes.append(f"{domain}: {type(error).__name__}: {error}")
        return []
    return [counter]


def _rapl_counter(device: Device, domain: Any) -> Counter:
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


def _single(reader: Any) -> Callable[[], float]:
    """Return a function that reads the one configured domain of `reader`."""

    def read() -> float:
        return float(reader.get_energy()[0])

    return read
