"""The sources that a window reads, and energy counters among them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from automata.records.measurement import Channel, Device

logger = logging.getLogger(__name__)


class Source:
    """A source of the energy of one device."""

    def start(self) -> None:
        """Begin to count."""

    def update(self) -> None:
        """Count up to now."""

    def channel(self) -> Channel:
        """Return the energy since `start`; its `joules` are None if unknown."""
        raise NotImplementedError


@dataclass
class Counter(Source):
    """A cumulative counter; `unit` is joules per count.

    If the count falls, it has wrapped at `modulus`. Without a modulus the counter was reset, and
    that step counts nothing. After failed reads, the next one counts from the last success, so that
    no energy is lost.
    """

    device: Device
    domain: str
    source: str
    read: Callable[[], float]
    unit: float
    modulus: float | None = None
    last: float = field(init=False)
    """The last reading."""
    joules: float = field(init=False, default=0.0)
    reads: int = field(init=False, default=0)
    wraps: int = field(init=False, default=0)
    resets: int = field(init=False, default=0)
    errors: int = field(init=False, default=0)
    succeeded: bool = field(init=False, default=False)
    """Whether the last read succeeded."""

    def open(self) -> None:
        """Take a first reading."""
        self.last = self.read()

    def start(self) -> None:
        """Begin to count; drop the energy since `open`."""
        self.update()
        self.joules, self.reads, self.wraps, self.resets = 0.0, 0, 0, 0

    def update(self) -> None:
        """Read, and add the energy since the last reading."""
        try:
            count = self.read()
        except Exception as error:  # of any driver: the window must go on
            self.errors += 1
            self.succeeded = False
            logger.warning("%s: read failed: %s", self.domain, error)
            return
        step = count - self.last
        if step < 0 and self.modulus is not None:
            self.wraps += 1
            step += self.modulus
        elif step < 0:
            self.resets += 1
            step = 0.0
        self.joules += step * self.unit
        self.last = count
        self.reads += 1
        self.succeeded = True

    def channel(self) -> Channel:
        """Return the energy since `start`; its `joules` are None if the last read failed."""
        return Channel(
            device=self.device,
            domain=self.domain,
            method="measured",
            source=self.source,
            joules=self.joules if self.succeeded else None,
            reads=self.reads,
            wraps=self.wraps,
            resets=self.resets,
            errors=self.errors,
        )


def readable(name: str, notes: list[str], build: Callable[[], Counter]) -> list[Counter]:
    """Open the counter of the device `name`; return it in a list, [] if it cannot be read.

    `notes` receives why it cannot. Some fail only at their first reading.
    """
    try:
        counter = build()
        counter.open()
    except Exception as error:  # PermissionError, NVMLError, ...: all mean not readable
        notes.append(f"{name}: {type(error).__name__}: {error}")
        return []
    return [counter]
