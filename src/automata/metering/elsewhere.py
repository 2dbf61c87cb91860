"""A window around work that runs where nothing can be read: its wall time is all that is known."""

from __future__ import annotations

import time

from automata.metering.measurement import Measurement


class Stopwatch:
    """Takes the place of a Meter; `reason` says in the measurement why there is only time."""

    measurement: Measurement

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def prepare(self) -> None:
        """Do nothing: there are no sources to find."""

    def __enter__(self) -> Stopwatch:
        self._started_at = time.time()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.measurement = self.so_far()

    def so_far(self) -> Measurement:
        """Return the time by now."""
        return Measurement(
            started_at=self._started_at,
            wall_seconds=time.perf_counter() - self._start,
            cpu_seconds=None,
            host_busy_cpu_seconds=None,
            exclusive=False,  # nothing keeps others off the machines of this work
            channels=[],
            flags=["elsewhere"],
            notes=[self._reason],
        )
