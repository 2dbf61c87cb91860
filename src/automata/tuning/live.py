"""A running search: it logs each result with the measurement so far, then judges it."""

from __future__ import annotations

import gc
import math
import platform
import threading
import time
from typing import Any

from automata.metering.measurement import Measurement
from automata.metering.meter import Meter
from automata.training.progress import Progress
from automata.tuning.log import SearchEnded, SearchLog, SearchStarted, TrialReported, judge
from automata.tuning.schedulers import Verdict
from automata.tuning.search import Search
from automata.tuning.work import WorkFolder

MEASUREMENT_SECONDS = 1.0
"""Least time between two measurements in the log."""

MEASUREMENT_SHARE = 0.01
"""Largest share of the window that measurements may take: one takes 2 ms or more."""


class LiveSearch:
    """A search, its log, and its measured window: from the first trial's start to the last end."""

    def __init__(
        self,
        search: Search,
        log: SearchLog,
        work: WorkFolder,
        meter: Meter,
        provenance: dict[str, Any],
        seconds: float = math.inf,
    ) -> None:
        """After `seconds` of the window, no trial starts or goes on."""
        self.search = search
        self.log = log
        self.work = work
        self._meter = meter
        self._provenance = provenance
        self._seconds = seconds
        self._created_at = time.perf_counter()
        self._preparation = threading.Thread(target=meter.prepare, name="prepare", daemon=True)
        self._preparation.start()  # while Ray and its first worker start
        self._opened_at = math.inf
        self._measure_at = 0.0

    def __getstate__(self) -> dict[str, object]:
        """Return no state: Ray Tune pickles this object, but a restart reads the log only."""
        return {}

    def open(self) -> None:
        """Open the window, once: the first worker has loaded everything and starts to train."""
        if self._opened_at < math.inf:
            return
        self._preparation.join()
        gc.freeze()  # garbage collection of all loaded objects would take 0.3 s of the window
        self.log.append(
            SearchStarted(
                host=platform.node(),
                setup_seconds=time.perf_counter() - self._created_at,
                provenance=self._provenance,
            )
        )
        self._meter.__enter__()
        self._opened_at = time.monotonic()

    def report(self, index: int, progress: Progress) -> Verdict:
        """Log a result of trial `index`, judge it, and close the window after the last one."""
        search, previous_best = self.search, self.search.best
        result = TrialReported(
            index=index,
            configuration=search.trials[index].configuration,
            progress=progress,
            measurement=self._measurement(),
        )
        self.log.append(result)
        verdict = judge(result, search)
        assert verdict is not None, f"trial {index} was not asked for this result"
        if time.monotonic() - self._opened_at >= self._seconds:
            verdict = verdict._replace(ends=[*verdict.ends, *search.stop()])
        bests = {trial.index for trial in (previous_best, search.best) if trial is not None}
        for ended in bests.union(verdict.ends):  # of ended trials, only the best keeps its model
            self.work.checkpoint(ended).unlink(missing_ok=True)
            if search.best is not None and ended != search.best.index:
                self.work.model(ended).unlink(missing_ok=True)
        if search.finished:
            self._meter.__exit__(None, None, None)
            self.log.append(SearchEnded(measurement=self._meter.measurement))
        return verdict

    def _measurement(self) -> Measurement | None:
        """Return the measurement up to now; None if the previous one is recent."""
        start = time.monotonic()
        if start < self._measure_at:
            return None
        measurement = self._meter.so_far()
        now = time.monotonic()
        self._measure_at = now + max(MEASUREMENT_SECONDS, (now - start) / MEASUREMENT_SHARE)
        return measurement
