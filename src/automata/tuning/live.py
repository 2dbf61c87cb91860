"""A phase of a job that runs: it logs each result with the measurement so far, then judges it."""

from __future__ import annotations

import gc
import math
import platform
import threading
import time
from typing import Any

from automata.metering.meter import Meter
from automata.records.measurement import Measurement
from automata.records.progress import Progress
from automata.search.schedulers import Verdict
from automata.search.search import Search
from automata.tuning.log import (
    PhaseEnded,
    PhaseStarted,
    SearchLog,
    TrialReported,
    TrialSaved,
    judge,
    latest_of,
)
from automata.tuning.work import PhaseFolder

MEASUREMENT_SECONDS = 1.0
"""Least time between two measurements in the log."""

MEASUREMENT_SHARE = 0.01
"""Largest share of the window that measurements may take: one takes 2 ms or more."""


class LivePhase:
    """A search, its log, and its measured window: from the first trial's start to the last end."""

    def __init__(
        self,
        search: Search,
        log: SearchLog,
        folder: PhaseFolder,
        meter: Meter,
        provenance: dict[str, Any],
        seconds: float = math.inf,
    ) -> None:
        """After `seconds` of the window, no trial starts or goes on."""
        self.search = search
        self.log = log
        self.folder = folder
        self.latest = latest_of(log.entries)
        """The latest progress of each trial that has reported."""
        self.checkpoints = {trial: epoch for trial, epoch, _ in folder.checkpoints()}
        """The epoch of the latest checkpoint of each trial that has one."""
        self._meter = meter
        self._provenance = provenance
        self._seconds = seconds
        self._created_at = time.perf_counter()
        self._preparation = threading.Thread(target=meter.prepare, name="prepare", daemon=True)
        self._preparation.start()  # while Ray and its first worker start
        self._opened_at = math.inf
        self._measure_at = 0.0

    def open(self) -> None:
        """Open the window, once: the first worker has loaded everything and starts to train."""
        if self._opened_at < math.inf:
            return
        self._preparation.join()
        gc.freeze()  # garbage collection of all loaded objects would take 0.3 s of the window
        self.log.append(
            PhaseStarted(
                host=platform.node(),
                setup_seconds=time.perf_counter() - self._created_at,
                provenance=self._provenance,
            )
        )
        self._meter.__enter__()
        self._opened_at = time.monotonic()

    def saved(self, index: int, epoch: int) -> None:
        """Log that trial `index` has a checkpoint after `epoch`, and remove its older ones."""
        self.log.append(TrialSaved(index=index, epoch=epoch, measurement=self._measured()))
        self._keep_checkpoint(index, epoch)

    def _keep_checkpoint(self, index: int, epoch: int | None) -> None:
        """Keep the checkpoint of a trial after `epoch` alone; None: keep none."""
        earlier = self.checkpoints.pop(index, None)
        if earlier not in (None, epoch):
            self.folder.checkpoint(index, earlier).unlink(missing_ok=True)
        if epoch is not None:
            self.checkpoints[index] = epoch

    def report(self, index: int, progress: Progress, saved: bool) -> Verdict:
        """Log a result of trial `index`, judge it, and close the window after the last one.

        `saved` tells whether the trial has a checkpoint of it.
        """
        search, previous_best = self.search, self.search.best
        trial = search.trials[index]
        result = TrialReported(
            index=index,
            configuration=trial.configuration,
            rung=trial.reached + 1,
            progress=progress,
            measurement=None if time.monotonic() < self._measure_at else self._measured(),
        )
        self.log.append(result)
        self.latest[index] = progress
        if saved:
            self._keep_checkpoint(index, progress.epochs)
        verdict = judge(result, search)
        assert verdict is not None, f"trial {index} was not asked for this result"
        if time.monotonic() - self._opened_at >= self._seconds:
            verdict = verdict._replace(ends=[*verdict.ends, *search.stop()])
        bests = {trial.index for trial in (previous_best, search.best) if trial is not None}
        for ended in bests.union(verdict.ends):  # of ended trials, only the best keeps its model
            self._keep_checkpoint(ended, None)
            if search.best is not None and ended != search.best.index:
                self.folder.model(ended).unlink(missing_ok=True)
        if search.finished:
            self._meter.__exit__(None, None, None)
            self.log.append(PhaseEnded(measurement=self._meter.measurement))
        return verdict

    def _measured(self) -> Measurement:
        """Return the measurement up to now."""
        start = time.monotonic()
        measurement = self._meter.so_far()
        now = time.monotonic()
        self._measure_at = now + max(MEASUREMENT_SECONDS, (now - start) / MEASUREMENT_SHARE)
        return measurement
