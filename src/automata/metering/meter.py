"""One metered window: wall time, CPU time and energy by the best source of the machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

import psutil

from automata.metering.counters import cpu_counters
from automata.metering.estimate import Codecarbon, Estimate, cpu_channel, find_hardware
from automata.metering.gpus import PolledPower, Source, gpu_sources, others_compute
from automata.metering.measurement import Channel, Measurement, flags
from automata.metering.processes import ProcessTree, host_busy_seconds

NO_GPU = Channel(device="gpu", domain="all", method="measured", source="none", joules=None)
"""Stands for GPUs that work and cannot be read: the energy of the phase is then unknown."""

TREE_SAMPLE_SECONDS = 0.5
"""What a worker does between the last sample and its end is missed: this loses little."""

FINDING_SHARE = 0.002
"""Of a core, at most, for finding new workers: on hosts with many processes it is done seldom."""


class _Reading(NamedTuple):
    """What was read at one moment, since the start."""

    wall_seconds: float
    cpu_seconds: float
    busy_seconds: float
    channels: list[Channel]


class Meter:
    """Context manager around one phase; `measurement` is there once it has ended.

    For each device the first source counts that gives a real reading. CPU and memory:
    pyJoules' RAPL counters, else codecarbon's, else its load model. GPUs, those of the given
    UUIDs alone: pyJoules' NVML counters, else their power, polled. Counters are of the whole
    machine, so measured jobs must not overlap: see `automata.metering.lock`. A window in which
    the body raised is closed as well.
    """

    measurement: Measurement

    def __init__(self, *, sample_seconds: float, gpus: Sequence[str], exclusive: bool) -> None:
        """Open the sources; `sample_seconds` is the time between reads of the counters."""
        self._sample_seconds = sample_seconds
        self._exclusive = exclusive
        self._notes: list[str] = []
        processor = cpu_counters(self._notes)
        graphics = gpu_sources(gpus, self._notes) if gpus else []
        self._sources: list[Source] = [*processor, *graphics]
        self._gpus = list(gpus)
        self._shared_gpu = False
        self._has_counters = bool(processor)
        self._blind_to_gpu = len(graphics) < len(gpus)
        self._codecarbon: Codecarbon | None = None
        if not processor:
            try:
                self._codecarbon = Codecarbon(sample_seconds)
            except ImportError:
                self._notes.append("codecarbon: not installed")
        self._tree = ProcessTree()
        self._open = False
        self._end: _Reading | None = None
        self._turn = threading.Lock()
        """Of those who read."""
        self._accounting = threading.Lock()
        self._stop = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="meter", daemon=True)

    def prepare(self) -> None:
        """Do now what the first window would do for seconds before it opens."""
        if self._codecarbon is not None:
            find_hardware()

    def __enter__(self) -> Meter:
        if self._codecarbon is not None:
            self._codecarbon.open()
        self._tree.find()  # last of what takes long: who is found later has no baseline
        self._started_at = time.time()
        # From here on as in `_read`.
        self._tree.start()
        self._busy = host_busy_seconds()
        for source in self._sources:
            source.start()
        if self._codecarbon is not None:
            self._codecarbon.start()
        self._start = time.perf_counter()
        self._open = True
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._turn:
            self._end = self._read()
        self._stop.set()
        with self._accounting:
            wall = self._end.wall_seconds
            estimate = self._codecarbon.close(wall, self._notes) if self._codecarbon else None
            self._sampler.join()
            self._tree.find()
            self._tree.update_new()  # of a short window nothing was found before
            end = self._end._replace(cpu_seconds=self._tree.seconds)
            self.measurement = self._account(end, estimate)
            self._open = False

    def so_far(self) -> Measurement:
        """Return the account by now, of a window that stays open; any thread may ask."""
        with self._accounting:
            if not self._open:
                return self.measurement
            self._tree.find()
            with self._turn:
                now = self._end or self._read()
            return self._account(now, self._codecarbon.so_far() if self._codecarbon else None)

    def _read(self) -> _Reading:
        """Read everything at one moment: nothing slow is between.

        In the same order as at the start, so that what one is read later than another cancels
        out: energy and CPU time are of an interval as long as the wall time.
        """
        self._tree.update()
        busy = host_busy_seconds() - self._busy
        for source in self._sources:
            source.update()
        if self._codecarbon is not None:
            self._codecarbon.update()
        return _Reading(
            wall_seconds=time.perf_counter() - self._start,
            cpu_seconds=self._tree.seconds,
            busy_seconds=busy,
            channels=[source.channel() for source in self._sources],
        )

    def _account(self, reading: _Reading, estimate: Estimate | None) -> Measurement:
        """Return what was read."""
        wall, own, busy, channels = reading
        if not self._has_counters:
            channels = [cpu_channel(estimate, own), *channels]
        if self._blind_to_gpu:
            channels = [*channels, NO_GPU]
        hardware = [f"codecarbon: {estimate.hardware}"] if estimate is not None else []
        cores = psutil.cpu_count() or 1
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
            notes=[*self._notes, *hardware],
        )

    def _look_for_others(self) -> None:
        """Note whether others compute on the GPUs; who seems to be one may be a new worker."""
        if others_compute(self._gpus, self._tree.pids):
            self._tree.find()
            self._shared_gpu = others_compute(self._gpus, self._tree.pids)

    def _sample(self) -> None:
        """Follow processes and polled power, and, more rarely, the counters, until the end."""
        often = [source for source in self._sources if isinstance(source, PolledPower)]
        seldom = [source for source in self._sources if not isinstance(source, PolledPower)]
        due = time.monotonic() + self._sample_seconds
        found = time.monotonic()
        while not self._stop.wait(TREE_SAMPLE_SECONDS):
            if self._gpus and time.monotonic() >= due and not self._shared_gpu:
                self._look_for_others()
            if time.monotonic() >= found:
                before = time.thread_time()
                self._tree.find()  # not in turn: the end of the window does not wait for it
                found = time.monotonic() + (time.thread_time() - before) / FINDING_SHARE
            with self._turn:
                if self._end is not None:
                    return
                self._tree.update()
                for power in often:
                    power.update()
                if time.monotonic() >= due:
                    due += self._sample_seconds
                    for counter in seldom:
                        counter.update()
