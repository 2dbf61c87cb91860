"""What one metered window gives."""

from __future__ import annotations

from typing import Literal

from automata.recorded import Recorded

Method = Literal["measured", "estimated"]


class Channel(Recorded):
    """Energy of one device by one source; `joules` is None where it could not be read."""

    device: Literal["cpu", "dram", "gpu"]
    domain: str
    method: Method
    source: str
    joules: float | None
    reads: int = 0
    wraps: int = 0
    errors: int = 0


class Measurement(Recorded):
    """Time and energy of one phase. None means not measured; 0 means zero."""

    started_at: float
    """Unix time, seconds."""
    wall_seconds: float
    cpu_seconds: float
    """User and system time of this process and all its descendants."""
    host_busy_cpu_seconds: float
    """Busy time of all cores of the host, whoever used them."""
    exclusive: bool
    """Whether other exclusive jobs of this host were kept out; others may have run beside it."""
    channels: list[Channel]
    notes: list[str]
    """Why a source was not used, or failed."""

    @property
    def energy_joules(self) -> float | None:
        """Sum over cpu, dram and gpu; None when nothing, or only a part, could be read."""
        if not self.channels or any(channel.joules is None for channel in self.channels):
            return None
        return sum(channel.joules or 0.0 for channel in self.channels)

    @property
    def energy_method(self) -> str | None:
        """How the energy was obtained: the weakest method among the channels."""
        if self.energy_joules is None:
            return None
        estimated = any(channel.method == "estimated" for channel in self.channels)
        return "estimated" if estimated else "measured"

    @property
    def energy_source(self) -> str | None:
        """The sources, for a figure's caption."""
        if self.energy_joules is None:
            return None
        return " + ".join(sorted({channel.source for channel in self.channels}))
