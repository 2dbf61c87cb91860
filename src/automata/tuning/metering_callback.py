"""Measures a search while Ray Tune runs it, and writes its log."""

from __future__ import annotations

import gc
import platform
import threading
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ray.tune import Callback
from ray.tune.experiment import Trial

from automata.files import bytes_below
from automata.metering.meter import Meter
from automata.training.progress import Progress
from automata.tuning.checkpoints import WorkFolder
from automata.tuning.log import Closed, Entry, Opened, ReplayLog, Reported
from automata.tuning.search import Search

MEASUREMENT_SECONDS = 1.0
"""Between two measurements in the log: what an interruption takes from the times, at most."""


class MeteringCallback(Callback):
    """Holds the meter open from the first trial's start to the last one's end.

    When Ray says that a trial has started, its process has imported and loaded everything.
    Writing is done on a thread, while the next trial trains.
    """

    def __init__(
        self,
        meter: Meter,
        search: Search,
        log: ReplayLog,
        work: WorkFolder,
        provenance: dict[str, Any],
    ) -> None:
        """Measure `search` by `meter`, and write what happens to `log`."""
        self._meter = meter
        self._search = search
        self._log = log
        self._work = work
        self._provenance = provenance
        self._is_open = False
        self.begun_at = time.perf_counter()
        """When Ray began to start."""
        self._preparation = threading.Thread(target=meter.prepare, name="prepare", daemon=True)
        self._preparation.start()  # while Ray starts
        self._writer = ThreadPoolExecutor(1, "log")
        self._written: deque[Future[None]] = deque()
        self._measured_at = 0.0
        self._peak_disk_bytes = 0

    def __getstate__(self) -> dict[str, object]:
        """Leave all out of the state that Tune saves: a segment is of one process."""
        return {}

    def on_trial_start(self, trial: Trial, **_: object) -> None:
        """Open the window, once."""
        if self._is_open:
            return
        self._preparation.join()
        # Python would look through all that is loaded for garbage: 0.3 s in some windows.
        gc.freeze()
        setup_seconds = time.perf_counter() - self.begun_at
        self._write(
            Opened(host=platform.node(), setup_seconds=setup_seconds, provenance=self._provenance)
        )
        self._meter.__enter__()
        self._is_open = True

    def on_trial_result(self, trial: Trial, result: dict[str, Any], **_: object) -> None:
        """Write the result down."""
        self._write(
            Reported(
                index=trial.config["index"],
                configuration=trial.config["configuration"],
                progress=Progress.model_validate_json(result["progress"]),
                measurement=None,
            )
        )

    def on_trial_complete(self, trial: Trial, **_: object) -> None:
        """Close the window after the last trial."""
        if self._search.finished and self._is_open:
            self._is_open = False
            self._meter.__exit__(None, None, None)
            self._write(Closed(measurement=self._meter.measurement, peak_disk_bytes=0))

    def stop(self) -> None:
        """Write down what there is, whatever happened."""
        self._writer.shutdown()

    def close(self) -> None:
        """Wait for what is still being written; raises what went wrong there."""
        self.stop()
        while self._written:
            self._written.popleft().result()

    def _write(self, entry: Entry) -> None:
        while self._written and self._written[0].done():
            self._written.popleft().result()  # a full disk ends the search
        self._written.append(self._writer.submit(self._append, entry))

    def _append(self, entry: Entry) -> None:
        if isinstance(entry, Reported) and time.monotonic() >= self._measured_at:
            self._measured_at = time.monotonic() + MEASUREMENT_SECONDS
            entry.measurement = self._meter.so_far()
            self._look_at_disk()
        elif isinstance(entry, Closed):
            self._look_at_disk()
            entry.peak_disk_bytes = self._peak_disk_bytes
        self._log.append(entry)

    def _look_at_disk(self) -> None:
        self._peak_disk_bytes = max(self._peak_disk_bytes, bytes_below(self._work.path))
