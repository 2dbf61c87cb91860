"""Time and energy of one metered window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field

from automata.config.base import added
from automata.records.base import Recorded

Device = Literal["cpu", "dram", "gpu"]

Method = Literal["estimated", "polled", "measured"]
"""By a model of the load, samples of power (earlier records) or a counter; the weakest first."""

Flag = Literal["short_window", "contaminated", "shared_gpu", "counter_reset", "elsewhere"]

JOULES_PER_KWH = 3.6e6

CONTAMINATED_SHARE = 0.1
"""Share of the host's CPU time above which other processes distort the counters."""


class Channel(Recorded):
    """Energy of one device by one source; `joules` is None if it could not be read."""

    device: Device
    domain: str
    method: Method
    source: str
    joules: float | None
    reads: int = 0
    wraps: int = 0
    resets: int = 0
    """How often the counter went back without wrapping: that energy is lost."""
    errors: int = 0
    watts_per_thread: Annotated[float | None, added(None)] = None
    """Watts of a busy thread that an estimate assumes; None in earlier records."""

    @property
    def source_with_watts(self) -> str:
        """The source; an estimate also has the watts that it assumes."""
        if self.watts_per_thread is None:
            return self.source
        return f"{self.source} at {self.watts_per_thread:.3g} W per busy thread"


class Measurement(Recorded):
    """Time and energy of a window, or of all windows of a phase. None: not measured; 0: zero."""

    started_at: float
    """Unix time, seconds."""
    wall_seconds: float
    cpu_seconds: float | None
    """User and system time of this process and all its descendants."""
    host_busy_cpu_seconds: float | None
    """Busy time of all cores of the host, for all processes."""
    host_cores: int | None = None
    """Cores of the host; None if segments ran on hosts with different numbers of cores."""
    exclusive: bool
    """Whether the job held the host's lock: other programs may still have run."""
    peak_memory_bytes: int | None = None
    """Memory of this process and its descendants; shared pages count once."""
    channels: list[Channel]
    second_opinion: object = Field(default=None, exclude=True)
    """A field of earlier records; nothing reads it."""
    flags: list[Flag] = []
    """Reasons to doubt the energy."""
    notes: list[str]
    """Why a source was not used, or failed."""

    @property
    def energy_joules(self) -> float | None:
        """Sum over all channels; None if there are none, or one could not be read."""
        joules = [channel.joules for channel in self.channels]
        return complete_sum(joules) if joules else None

    @property
    def energy_method(self) -> Method | None:
        """The weakest method among the channels."""
        if self.energy_joules is None:
            return None
        return min((channel.method for channel in self.channels), key=get_args(Method).index)

    @property
    def energy_source(self) -> str | None:
        """The sources, for tables, captions and the page."""
        if self.energy_joules is None:
            return None
        return " + ".join(sorted({channel.source_with_watts for channel in self.channels}))


def combined(windows: Sequence[Measurement]) -> Measurement | None:
    """Return one measurement of all windows of a phase; None if there are none.

    Times, energies and counts add up; the largest peak counts. The first window gives the start.
    The result has the flags and notes of all windows.
    """
    if len(windows) < 2:
        return windows[0] if windows else None
    channels: dict[tuple[str, ...], Channel] = {}
    for channel in (channel for window in windows for channel in window.channels):
        key = (channel.device, channel.domain, channel.method, channel.source_with_watts)
        channels[key] = _sum(channels[key], channel) if key in channels else channel
    if any(window.energy_joules is None for window in windows):  # else the sum would be too small
        unknown = {"joules": None}
        channels = {key: part.model_copy(update=unknown) for key, part in channels.items()}
    cores = {window.host_cores for window in windows}
    peaks = [w.peak_memory_bytes for w in windows if w.peak_memory_bytes is not None]
    return Measurement(
        started_at=windows[0].started_at,
        wall_seconds=sum(window.wall_seconds for window in windows),
        cpu_seconds=complete_sum([window.cpu_seconds for window in windows]),
        host_busy_cpu_seconds=complete_sum([window.host_busy_cpu_seconds for window in windows]),
        host_cores=cores.pop() if len(cores) == 1 else None,
        exclusive=all(window.exclusive for window in windows),
        peak_memory_bytes=max(peaks, default=None),
        channels=list(channels.values()),
        flags=list(dict.fromkeys(flag for window in windows for flag in window.flags)),
        notes=list(dict.fromkeys(note for window in windows for note in window.notes)),
    )


def joules(phases: list[Measurement]) -> float | None:
    """Return the energy of all phases; None if one was not measured or their methods differ."""
    same = common(phases, "energy_method") is not None
    return complete_sum([phase.energy_joules for phase in phases]) if same else None


def common(phases: list[Measurement], name: str) -> str | None:
    """Return the attribute `name` of all phases; None if they differ."""
    values = {getattr(phase, name) for phase in phases}
    return values.pop() if len(values) == 1 else None


def _sum(one: Channel, other: Channel) -> Channel:
    """Return the sum of one source's channels in two windows."""
    counts = ("reads", "wraps", "resets", "errors")
    added = {name: getattr(one, name) + getattr(other, name) for name in counts}
    return one.model_copy(update=added | {"joules": complete_sum([one.joules, other.joules])})


def complete_sum(values: Sequence[float | None]) -> float | None:
    """Return the sum; None if a value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def foreign_share(wall: float, own: float, busy: float, cores: int) -> float:
    """Return the share of the host's CPU time that processes outside the metered ones took.

    `wall` is the seconds of the window, `own` and `busy` are the CPU seconds of the metered
    processes and of all `cores`.
    """
    return max(0.0, (busy - own) / (wall * cores))
