"""One metered window: wall time, CPU time and energy by the best sources of the machine.

Exclusive measured jobs of one host take turns by a lock.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from automata.errors import UserError
from automata.locks import held
from automata.metering.counters import Source
from automata.metering.gpus import gpu_sources, others_compute
from automata.metering.processes import ProcessTree, host_busy_seconds
from automata.metering.processor import LoadModel, rapl_counters
from automata.records.measurement import (
    CONTAMINATED_SHARE,
    Channel,
    Flag,
    Measurement,
    foreign_share,
)

NO_GPU = Channel(device="gpu", domain="all", method="measured", source="none", joules=None)
"""The channel of GPUs that cannot be read: the energy of the phase is unknown."""

SHORT_SECONDS = 10.0
"""A shorter window has few readings, because some counters move once a second."""

TREE_SAMPLE_SECONDS = 0.5
"""Time between samples of the processes; the work of a process after its last one is missed."""

FINDING_SHARE = 0.002
"""Largest share of one core that the search for new workers may take."""


class Meter:
    """Context manager around a window; its end sets `measurement`, also if the body raises.

    It uses the first readable source of each device. For CPU and memory it tries pyJoules' RAPL
    counters, then codecarbon's load model; for each GPU it reads pyJoules' NVML counter. Counters
    count the whole machine, so measured jobs must not overlap (`exclusive_host`).
    """

    measurement: Measurement

    def __init__(self, *, sample_seconds: float, gpus: Sequence[str], exclusive: bool) -> None:
        """Open the sources of the host and of `gpus` (UUIDs); read them every `sample_seconds`."""
        self._sample_seconds = sample_seconds
        self._exclusive = exclusive
        self._notes: list[str] = []
        self._tree = ProcessTree()
        self._gpus = list(gpus)
        processor = rapl_counters(self._notes)
        graphics = gpu_sources(gpus, self._notes) if gpus else []
        self._load_model = None if processor else LoadModel(self._tree)
        estimates = [self._load_model] if self._load_model else []
        self._sources: list[Source] = [*estimates, *processor, *graphics]
        self._unread = [NO_GPU] if len(graphics) < len(gpus) else []
        self._shared_gpu = False
        self._open = False
        self._end: tuple[float, float] | None = None
        self._reading = threading.Lock()
        """Held while sources are read, so that reads do not mix."""
        self._stop = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="meter", daemon=True)

    def prepare(self) -> None:
        """Load codecarbon's model, if used, which would delay the first window by a second."""
        if self._load_model is not None:
            try:
                self._load_model.open()
            except Exception as error:  # not installed, or it fails on this machine
                self._notes.append(f"codecarbon: {type(error).__name__}: {error}")

    def __enter__(self) -> Meter:
        self.prepare()
        self._tree.find()  # just before the start: a process found later has no baseline
        self._started_at = time.time()
        # From here on in the order of `_read`.
        self._tree.start()
        self._busy = host_busy_seconds()
        for source in self._sources:
            source.start()
        self._start = time.perf_counter()
        self._open = True
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._reading:
            self._end = self._read()
        self._stop.set()
        self._sampler.join()
        self._tree.find()
        self._tree.update_new()  # a short window may have found no process yet
        self.measurement = self._account(*self._end)
        self._open = False

    def so_far(self) -> Measurement:
        """Return the measurement up to now; only the thread that ends the window may call this."""
        if not self._open:
            return self.measurement
        self._tree.find()
        with self._reading:
            return self._account(*self._read())

    def _read(self) -> tuple[float, float]:
        """Read all sources at once; return the wall and busy seconds since the start.

        The order is that of `__enter__`, so that delays between reads cancel out: each interval is
        as long as the wall time.
        """
        self._tree.update()
        busy = host_busy_seconds() - self._busy
        for source in self._sources:
            source.update()
        return time.perf_counter() - self._start, busy

    def _account(self, wall: float, busy: float) -> Measurement:
        """Return the measurement of the latest readings."""
        own, cores = self._tree.seconds, psutil.cpu_count() or 1
        channels = [*(source.channel() for source in self._sources), *self._unread]
        return Measurement(
            started_at=self._started_at,
            wall_seconds=wall,
            cpu_seconds=own,
            host_busy_cpu_seconds=busy,
            host_cores=cores,
            exclusive=self._exclusive,
            peak_memory_bytes=self._tree.peak_memory_bytes,
            channels=channels,
            flags=flags(wall, own, busy, cores, channels, self._shared_gpu),
            notes=list(dict.fromkeys(self._notes)),
        )

    def _check_sharing(self) -> None:
        """Find out whether processes that are no workers of this job compute on the GPUs."""
        if others_compute(self._gpus, self._tree.pids):
            self._tree.find()
            self._shared_gpu = others_compute(self._gpus, self._tree.pids)

    def _sample(self) -> None:
        """Sample processes often, and counters rarely, until the end."""
        due = time.monotonic() + self._sample_seconds
        find_at = time.monotonic()
        while not self._stop.wait(TREE_SAMPLE_SECONDS):
            is_due = time.monotonic() >= due
            if self._gpus and is_due and not self._shared_gpu:
                self._check_sharing()
            if time.monotonic() >= find_at:
                before = time.thread_time()
                self._tree.find()  # outside `_reading`: the end of the window does not wait for it
                find_at = time.monotonic() + (time.thread_time() - before) / FINDING_SHARE
            with self._reading:
                if self._end is not None:
                    return
                self._tree.update()
                if is_due:
                    for source in self._sources:
                        source.update()
                    due += self._sample_seconds


def host_lock_path() -> Path:
    """Return the lock file that exclusive jobs of this host share if they have the same TMPDIR."""
    return Path(tempfile.gettempdir()) / "automata-measured-job.lock"


@contextmanager
def exclusive_host(exclusive: bool) -> Iterator[float]:
    """Hold the host's lock during the body if `exclusive`; yield the seconds waited for it.

    Raises UserError if the lock's file cannot be opened.
    """
    if not exclusive:
        yield 0.0
        return
    path = host_lock_path()
    with ExitStack() as stack:  # an OSError of the body must not be caught
        try:
            lock = held(path, "another measured job of this host", mode=0o666)
            waited = stack.enter_context(lock)
        except OSError as error:
            raise UserError(
                f"{path}: {error.strerror}: measured jobs of this host take turns by this file: "
                "make it writable for all users who measure, or set metering.exclusive: false"
            ) from error
        yield waited


def flags(
    wall: float,
    own: float,
    busy: float,
    cores: int,
    channels: Sequence[Channel] = (),
    shared_gpu: bool = False,
) -> list[Flag]:
    """Return the flags of a window; `foreign_share` explains the first four arguments."""
    found: list[Flag] = []
    if wall < SHORT_SECONDS:
        found.append("short_window")
    if foreign_share(wall, own, busy, cores) > CONTAMINATED_SHARE:
        found.append("contaminated")
    if shared_gpu:
        found.append("shared_gpu")
    if any(channel.resets for channel in channels):
        found.append("counter_reset")
    return found
