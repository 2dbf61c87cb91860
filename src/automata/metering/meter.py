"""One metered window: wall time, CPU time and energy by the best source of the machine."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from automata.metering.counters import Counter, cpu_counters, gpu_counters
from automata.metering.estimate import CpuEstimate, find_hardware
from automata.metering.measurement import Channel, Measurement
from automata.metering.processes import TreeCpuTime, host_busy_seconds

NO_GPU = Channel(device="gpu", domain="all", method="measured", source="none", joules=None)
"""Stands for GPUs that work and cannot be read: the energy of the phase is then unknown."""

TREE_SAMPLE_SECONDS = 0.5
"""Short-lived workers are missed between samples; this loses little and costs little."""


class Meter:
    """Context manager around one phase; `measurement` is there once it has ended.

    Energy of the CPU comes from pyJoules' RAPL counters, else from codecarbon; that of the
    GPUs (with `gpu`) from pyJoules' NVML counters. Counters are of the whole machine, so
    measured jobs must not overlap: see `automata.metering.lock`. A window in which the body
    raised is closed as well.
    """

    measurement: Measurement

    def __init__(self, *, sample_seconds: float, gpu: bool, exclusive: bool) -> None:
        self._sample_seconds = sample_seconds
        self._exclusive = exclusive
        self._notes: list[str] = []
        self._counters: list[Counter] = cpu_counters(self._notes)
        self._estimate = None if self._counters else CpuEstimate(sample_seconds)
        gpus = gpu_counters(self._notes) if gpu else []
        self._counters += gpus
        self._blind_to_gpu = gpu and not gpus
        self._tree = TreeCpuTime()
        self._stop = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="meter", daemon=True)

    def prepare(self) -> None:
        """Do now what the first window would do for seconds before it opens."""
        if self._estimate is not None:
            find_hardware()

    def __enter__(self) -> Meter:
        if self._estimate is not None:
            self._estimate.open()
        for counter in self._counters:
            counter.start()
        self._tree.open()
        self._busy = host_busy_seconds()
        self._started_at = time.time()
        self._start = time.perf_counter()
        self._sampler.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        wall = time.perf_counter() - self._start
        self._stop.set()
        self._sampler.join()
        self._tree.update()
        for counter in self._counters:
            counter.update()
        busy = host_busy_seconds() - self._busy
        channels = [counter.channel() for counter in self._counters]
        if self._estimate is not None:
            channels.insert(0, self._estimate.close(wall, self._notes))
        if self._blind_to_gpu:
            channels.append(NO_GPU)
        self.measurement = Measurement(
            started_at=self._started_at,
            wall_seconds=wall,
            cpu_seconds=self._tree.seconds,
            host_busy_cpu_seconds=busy,
            exclusive=self._exclusive,
            channels=channels,
            notes=self._notes,
        )

    def _sample(self) -> None:
        """Follow the process tree and, more rarely, the counters, until the window ends."""
        due = time.monotonic() + self._sample_seconds
        while not self._stop.wait(TREE_SAMPLE_SECONDS):
            self._tree.update()
            if time.monotonic() >= due:
                due += self._sample_seconds
                for counter in self._counters:
                    counter.update()
