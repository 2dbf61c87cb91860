"""Keeps the account of a search while it runs: time, energy, and what a restart needs."""

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
from automata.metering.elsewhere import Stopwatch
from automata.metering.meter import Meter
from automata.records import Segment
from automata.training.progress import Progress
from automata.tuning.history import Deliveries
from automata.tuning.journal import Closed, Entry, Journal, Opened, Reported
from automata.tuning.work import WorkFolder

ACCOUNT_SECONDS = 1.0
"""Between two accounts in the journal: what an interruption takes from the times, at most."""


class Ledger(Callback):
    """Holds the meter open from the first new work to the last trial's end, and writes a journal.

    When Ray says that a trial has started, its process has imported and loaded everything.
    What an earlier process did is not measured again: the window opens when the search has seen
    its results. Writing is done on a thread, while the next trial trains.
    """

    def __init__(self, meter: Meter | Stopwatch, work: WorkFolder, trials: int) -> None:
        """Account for `trials` that run in `work`, by `meter`."""
        self.segment: Segment | None = None
        """What was measured, once the last trial has ended; None if there was nothing to do."""
        self.peak_disk_bytes = 0
        self._meter = meter
        self._journal = Journal(work.journal)
        self._work = work
        self._deliveries = Deliveries(work.deliveries)
        self._left = trials
        self._begun_at = time.perf_counter()
        self._setup_seconds: float | None = None
        self._preparation = threading.Thread(target=meter.prepare, name="prepare", daemon=True)
        self._writer = ThreadPoolExecutor(1, "journal")
        self._written: deque[Future[None]] = deque()
        self._accounted_at = 0.0

    def __getstate__(self) -> dict[str, object]:
        """Leave all out of the state that Tune saves: an account is of one process."""
        return {}

    def setup(self, *_: object, **__: object) -> None:
        """Do, while the first trial's process starts, what this process has to do anyway."""
        self._preparation.start()

    def on_trial_start(self, trial: Trial, **_: object) -> None:
        """Open the window, once, if this trial has something to train."""
        self._open_for(trial)

    def on_trial_result(self, trial: Trial, result: dict[str, Any], **_: object) -> None:
        """Write the result down, unless an earlier process did."""
        index, known = trial.config["index"], trial.config["known"]
        if self._deliveries.left(index, known):
            self._deliveries.add(index)
            if trial.status == Trial.RUNNING and not result.get("done"):
                self._open_for(trial)
            return
        progress = Progress.model_validate_json(result["progress"])
        self._write(
            Reported(
                index=index,
                configuration=trial.config["configuration"],
                progress=progress,
                node=result["node_ip"],
                account=None,
            )
        )

    def on_trial_complete(self, trial: Trial, **_: object) -> None:
        """Close the window after the last trial."""
        self._left -= 1
        if self._left == 0 and self._setup_seconds is not None:
            self._meter.__exit__(None, None, None)
            self.segment = Segment(
                host=platform.node(),
                setup_seconds=self._setup_seconds,
                measurement=self._meter.measurement,
            )
            self._write(Closed(account=self._meter.measurement))

    def stop(self) -> None:
        """Write down what there is, whatever happened."""
        self._writer.shutdown()

    def close(self) -> None:
        """Wait for what is still being written; raises what went wrong there."""
        self.stop()
        while self._written:
            self._written.popleft().result()
        self.peak_disk_bytes = max(self.peak_disk_bytes, bytes_below(self._work.path))

    def _open_for(self, trial: Trial) -> None:
        known = trial.config["known"]
        if self._setup_seconds is None and not self._deliveries.left(trial.config["index"], known):
            self._preparation.join()
            # Python would look through all that is loaded for garbage: 0.3 s in some windows.
            gc.freeze()
            self._setup_seconds = time.perf_counter() - self._begun_at
            self._write(Opened(host=platform.node(), setup_seconds=self._setup_seconds))
            self._meter.__enter__()

    def _write(self, entry: Entry) -> None:
        while self._written and self._written[0].done():
            self._written.popleft().result()  # a full disk ends the search
        self._written.append(self._writer.submit(self._append, entry))

    def _append(self, entry: Entry) -> None:
        if isinstance(entry, Reported) and time.monotonic() >= self._accounted_at:
            self._accounted_at = time.monotonic() + ACCOUNT_SECONDS
            entry.account = self._meter.so_far()
            self.peak_disk_bytes = max(self.peak_disk_bytes, bytes_below(self._work.path))
        self._journal.append(entry)
