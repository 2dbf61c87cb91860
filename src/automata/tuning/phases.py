"""The phases of a job, as their logs have them: the search, and the final training."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from pathlib import Path

from automata.config.sections import SearchSettings
from automata.errors import KEPT, UserError
from automata.records.measurement import Measurement
from automata.records.progress import Progress
from automata.records.record import Finalist, FinalTraining, Segment, Trial, Tuning
from automata.search.finalists import FinalSearch, best_trials
from automata.search.search import Search
from automata.tuning.context import JobContext
from automata.tuning.live import LivePhase
from automata.tuning.log import (
    PhaseStarted,
    SearchLog,
    discard_unlogged,
    extend,
    header_of,
    latest_of,
    load_log,
    segments_of,
)
from automata.tuning.searchers import RandomSearch
from automata.tuning.work import PhaseFolder, WorkFolder

logger = logging.getLogger(__name__)


class Phases:
    """The phases of a job in its work folder; after `unfinished` they have ended."""

    tuning: Tuning | None = None
    final: FinalTraining | None = None
    model: Path
    """File of the model of the job."""

    def __init__(self, context: JobContext, work: WorkFolder, output: Path | None) -> None:
        """Read the log of the search, which may extend that of a record beside `output`."""
        self._context = context
        self._work = work
        # The models of a cluster's GPUs may differ after a restart: nodes come and go.
        device = {"device": context.trials_on} if context.ray_address else {}
        made_by = {**context.provenance, **device}
        self._header = header_of(context.job, context.dataset.sha256, made_by, context.ray_address)
        self._log = load_log(work.search, self._header)
        if len(self._log.entries) == 1:
            work.final.clear()
            if output is not None and not context.ray_address and context.job.run.searches:
                extend(self._log, self._header, output)
        self._resumed = bool(segments_of(self._log.entries))

    @property
    def resumed(self) -> bool:
        """Whether another process began the job."""
        return self._resumed or (self.final is not None and len(self.final.segments) > 1)

    @property
    def provenance(self) -> dict[str, object]:
        """The provenance of the process that searched last."""
        started = [it.provenance for it in self._log.entries if isinstance(it, PhaseStarted)]
        return [self._context.provenance, *started][-1]

    def unfinished(self) -> Iterator[LivePhase]:
        """Yield the phases that are left to train; the caller finishes one before the next."""
        run, protocol = self._context.job.run, self._context.job.settings.protocol
        if run.searches:
            search, log, left = self._context.search, self._log, math.inf
            log.replay(search)
            if protocol.search_minutes is not None:
                spent = sum(it.measurement.wall_seconds for it in segments_of(log.entries))
                left = protocol.search_minutes * 60 - spent
            if left <= 0 and search.results:  # the first trial ends at its first rung
                search.stop()
            yield from self._live(search, log, self._work.search, left)
            self.tuning = self._tuning(search)
        else:  # `untuned` trains the first configuration of random search
            drawn = RandomSearch(protocol.search_space, SearchSettings(), run.seed).suggest("0")
            trial = Trial(
                index=0, configuration=drawn, rungs=[], status="drawn", progress=Progress()
            )
            self.tuning = Tuning(segments=[], trials=[trial], best=0)
        best = self.tuning.trials[self.tuning.best]
        logger.info("best of %d trials: %s", len(self.tuning.trials), best.configuration)
        self.model = self._work.search.model(best.index)
        if run.trains_finally and best.status != "failed":
            yield from self._final_training(best_trials(self.tuning, protocol))

    def _final_training(self, finalists: list[Trial]) -> Iterator[LivePhase]:
        """Yield the final training if it is left to train."""
        settings = self._context.job.settings
        configurations = [trial.configuration for trial in finalists]
        header = self._header.model_copy(update={"finalists": configurations})
        log = load_log(self._work.final, header)
        slots = settings.compute.concurrent_trials
        search = FinalSearch(configurations, settings.protocol, slots)
        log.replay(search)
        yield from self._live(search, log, self._work.final)
        assert search.best is not None, "there is at least one finalist"
        latest, best = latest_of(log.entries), search.best.index
        self.final = FinalTraining(
            segments=self._segments(log),
            progress=latest[best],
            trial=finalists[best].index if len(finalists) > 1 else None,
            lost=[
                Finalist(trial=trial.index, progress=latest[number])
                for number, trial in enumerate(finalists)
                if number != best
            ],
            slots=min(slots, len(finalists)),
        )
        if self.final.progress.failure is not None:
            logger.warning("the final training diverged: %s", self.final.progress.failure)
        self.model = self._work.final.model(best)

    def _live(
        self, search: Search, log: SearchLog, folder: PhaseFolder, seconds: float = math.inf
    ) -> Iterator[LivePhase]:
        """Yield the phase of `search`, unless it is finished."""
        if search.finished:
            logger.info("finished before: %s", folder.log)
            return
        discard_unlogged(folder, log.entries)
        meter, made_by = self._context.meter(), self._context.provenance
        yield LivePhase(search, log, folder, meter, made_by, seconds)

    def _tuning(self, search: Search) -> Tuning:
        """Return the finished search for the record."""
        trials, latest = [], latest_of(self._log.entries)
        for it in search.trials:
            progress, whole = latest[it.index], it.reached == len(it.rungs)
            fields = {"index": it.index, "configuration": it.configuration, "rungs": it.rungs}
            ended = (
                "failed" if progress.failure is not None else "completed" if whole else "stopped"
            )
            trials.append(Trial(**fields, status=ended, progress=progress))
        assert search.best is not None, "there is at least one trial"
        return Tuning(
            segments=self._segments(self._log),
            trials=trials,
            best=search.best.index,
            cluster={"address": address} if (address := self._context.ray_address) else None,
        )

    def _segments(self, log: SearchLog) -> list[Segment]:
        """Return the segments of a phase; those on the user's Ray have their time alone."""
        segments = segments_of(log.entries)
        return [*map(_time_only, segments)] if self._context.ray_address else segments

    def ended(self) -> tuple[Tuning, FinalTraining | None]:
        """Return both phases; UserError if every trial diverged, or Ray ended early."""
        if self.tuning is None:
            raise UserError(f"Ray ended before the search was over; {KEPT}")
        trials = self.tuning.trials
        if trials[self.tuning.best].status == "failed":
            first = trials[0].progress.failure
            raise UserError(f"all {len(trials)} trials diverged; the first: {first}")
        if self.final is None and self._context.job.run.trains_finally:
            raise UserError(f"Ray ended before the final training was over; {KEPT}")
        return self.tuning, self.final


def _time_only(segment: Segment) -> Segment:
    """Return a segment without energy and CPU time, as its trials ran on the user's Ray."""
    measurement = Measurement(
        started_at=segment.measurement.started_at,
        wall_seconds=segment.measurement.wall_seconds,
        cpu_seconds=None,
        host_busy_cpu_seconds=None,
        exclusive=False,
        channels=[],
        flags=["elsewhere"],
        notes=["trials ran on a Ray cluster: their energy and CPU time were not measured"],
    )
    return segment.model_copy(update={"measurement": measurement})
