"""The search of a job: replay the log, run the missing trials in Ray, return it for the record."""

from __future__ import annotations

import logging
import math
from typing import Literal

from automata.errors import UserError
from automata.metering.measurement import Measurement
from automata.records import Segment, Trial, Tuning
from automata.training.progress import Progress
from automata.tuning.context import JobContext
from automata.tuning.live import LiveSearch
from automata.tuning.log import SearchLog
from automata.tuning.ray_search import search_in_ray
from automata.tuning.search import SearchTrial, search_of
from automata.tuning.searchers import random_configuration
from automata.tuning.work import WorkFolder

logger = logging.getLogger(__name__)


def search_phase(
    context: JobContext, work: WorkFolder, log: SearchLog, ray_address: str | None
) -> Tuning:
    """Finish the search of a job, and return it for the record.

    Raises UserError if every trial diverged, and the error of a trial that crashed.
    """
    job = context.job
    if not job.run.searches:  # `untuned` trains the first configuration of random search
        drawn = random_configuration(job)
        trial = Trial(index=0, configuration=drawn, rungs=[], status="drawn", progress=Progress())
        return Tuning(segments=[], trials=[trial], best=0)
    search = search_of(job)
    log.replay(search)
    minutes = job.settings.protocol.search_minutes
    spent = sum(segment.measurement.wall_seconds for segment in log.segments)
    left = math.inf if minutes is None else minutes * 60 - spent
    if left <= 0:
        search.stop()
    if search.finished:
        logger.info("the search is already finished: %s", work.log)
    else:
        meter = context.meter(job.settings.compute.gpus)
        live = LiveSearch(search, log, work, meter, context.provenance, left)
        search_in_ray(context, live, ray_address)
    progress = log.latest
    trials = [
        Trial(
            index=trial.index,
            configuration=trial.configuration,
            rungs=trial.rungs,
            status=_status(trial, progress[trial.index]),
            progress=progress[trial.index],
        )
        for trial in search.trials
    ]
    assert search.best is not None, "there is at least one trial"
    best = trials[search.best.index]
    if best.status == "failed":
        raise UserError(
            f"all {len(trials)} trials diverged; the first: {trials[0].progress.failure}"
        )
    return Tuning(
        segments=[_time_only(it) for it in log.segments] if ray_address else log.segments,
        trials=trials,
        best=best.index,
        cluster={"address": ray_address} if ray_address else None,
    )


def _status(trial: SearchTrial, progress: Progress) -> Literal["completed", "stopped", "failed"]:
    if progress.failure is not None:
        return "failed"
    return "completed" if trial.reached == len(trial.rungs) else "stopped"


def _time_only(segment: Segment) -> Segment:
    """Return only the times of a segment: its trials ran on the user's Ray."""
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
