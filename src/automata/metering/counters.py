"""The sources that a window reads: energy counters and polled power."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from automata.metering.measurement import Channel, Device, Method

logger = logging.getLogger(__name__)


class Source:
    """A source of the energy of one device."""

    def open(self) -> None:
        """Prepare to count; raises the driver's error if the device cannot be read."""

    def start(self) -> None:
        """Begin to count."""

    def update(self) -> None:
        """Count up to now."""

    def channel(self) -> Channel:
        """Return the energy since `start`; its `joules` are None if unknown."""
        raise NotImplementedError


@dataclass
class Reader(Source):
    """A source that reads one number repeatedly.

    After failed reads, the next one counts from the last success, so that no energy is lost.
    """

    method: ClassVar[Method]

    device: Device
    domain: str
    source: str
    read: Callable[[], float]
    last: tuple[float, float] = field(init=False)
    """Time and value of the last reading."""
    joules: float = field(init=False, default=0.0)
    reads: int = field(init=False, default=0)
    wraps: int = field(init=False, default=0)
    resets: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    succeeded: bool = field(init=False, default=False)
    """Whether the last read succeeded."""

    def open(self) -> None:
        """Take a first reading."""
        self.last = time.perf_counter(), self.read()

    def start(self) -> None:
        """Begin to count; drop the energy since `open`."""
        self.update()
        self.joules, self.reads, self.wraps, self.resets = 0.0, 0, 0, 0

    def update(self) -> None:
        """Read, and add the energy since the last reading."""
        try:
            now = time.perf_counter(), self.read()
        except Exception as error:  # of any driver: the window must go on
            self.errors += 1
            self.succeeded = False
            logger.warning("%s: read failed: %s", self.domain, error)
            return
        self.joules += self._joules_since_last(*now)
        self.last = now
        self.reads += 1
        self.succeeded = True

    def channel(self) -> Channel:
        """Return the energy since `start`; its `joules` are None if the last read failed."""
        return Channel(
            device=self.device,
            domain=self.domain,
            method=self.method,
            source=self.source,
            joules=self.joules if self.succeeded else None,
            reads=self.reads,
            wraps=self.wraps,
            resets=self.resets,
            errors=self.errors,
        )

    def _joules_since_last(self, seconds: float, value: float) -> float:
        raise NotImplementedError


@dataclass
class Counter(Reader):
    """A cumulative counter; `unit` is joules per count.

    If the count falls, it has wrapped at `modulus`. Without a modulus the counter was reset, and
    that step counts nothing.
    """

    method = "measured"

    unit: float
    modulus: float | None = None

    def _joules_since_last(self, seconds: float, value: float) -> float:
        step = value - self.last[1]
        if step < 0 and self.modulus is not None:
            self.wraps += 1
            step += self.modulus
        elif step < 0:
            self.resets += 1
            step = 0.0
        return step * self.unit


@dataclass
class PolledPower(Reader):
    """A power in watts, integrated by the trapezoid rule."""

    method = "polled"

    def _joules_since_last(self, seconds: float, value: float) -> float:
        return (seconds - self.last[0]) * (value + self.last[1]) / 2


def first_readable(name: str, notes: list[str], *builders: Callable[[], Reader]) -> list[Reader]:
    """Open the first source of the device `name` that can be read; return it in a list, else [].

    `notes` receives why earlier ones cannot. Some fail only at their first reading.
    """
    for build in builders:
        try:
            source = build()
            source.open()
        except Exception as error:  # PermissionError, NVMLError, ...: all mean not readable
            notes.append(f"{name}: {type(error).__name__}: {error}")
        else:
            return [source]
    return []
