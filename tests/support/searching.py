"""The search phase of a job in this process: what Ray Tune does with one slot, without Ray."""

from __future__ import annotations

from pathlib import Path

from automata.config.job import Job
from automata.records import Record
from automata.training.progress import Progress
from automata.tuning.context import JobContext
from automata.tuning.job import run
from automata.tuning.live import LiveSearch
from automata.tuning.ray_search import worker_config
from automata.tuning.trainable import TuneTrial


def run_job(job: Job, data: Path, folder: Path) -> Record:
    """Return the record of a job."""
    return run(job, data, folder)[0]


def search_here(context: JobContext, live: LiveSearch, ray_address: str | None) -> None:
    """Train trials one after the other, each from rung to rung in one worker."""
    assert ray_address is None
    search, logged = live.search, live.log.latest
    worker = object.__new__(TuneTrial)  # without what Ray adds to it
    places = str(context.data), context.device.type, str(live.work.path)
    latest = None
    try:
        while (trial := search.upcoming()) is not None:
            search.start(trial.index)
            config = worker_config(trial, logged.pop(trial.index, None))
            if latest is None:
                worker.setup(config, context.job.model_dump_json(), *places)
            elif latest != trial.index:
                worker.reset_config(config)
            latest = trial.index
            live.open()
            live.report(trial.index, Progress.model_validate_json(worker.step()["progress"]))
        assert search.finished, "the search neither goes on nor ends"
    finally:
        if latest is not None:
            worker.cleanup()
