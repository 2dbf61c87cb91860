"""The job that records learning curves: configurations trained one after the other."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from automata.config.job import Job, Run
from automata.errors import UserError
from automata.files import fingerprint, sha256
from automata.records.record import R, read_as, write_record
from automata.registry import CONTROLS
from automata.training.evaluation import evaluate
from automata.tuning.context import JobContext, job_context
from automata.tuning.searchers import RandomSearch
from automata.tuning.work import WorkFolder
from studies.curves.jobs import Curve, Curves, CurvesJob, Point

logger = logging.getLogger(__name__)


def record_curves(job: CurvesJob, data: Path, folder: Path, output: Path) -> None:
    """Train the configurations of `job` on the prepared file `data`, and write `output`.

    `folder` keeps each finished training, so that an interruption loses one training at most. If
    another process works on the job, this one waits and keeps that record.
    """
    work = WorkFolder(folder)
    with work.only_worker() as waited:
        record = _kept(Curves, output) if waited else None
        if record is None or (record.job, record.data_sha256) != (job, sha256(data)):
            write_record(_curves(job, data, folder), output)
        work.remove()


def _curves(job: CurvesJob, data: Path, folder: Path) -> Curves:
    run = Run(
        dataset=job.dataset,
        search="random",
        scheduler="none",
        selector=job.selector,
        fraction=job.fraction,
        seed=job.seed,
    )
    with job_context(Job(run=run, settings=job.settings, files=job.files), data) as context:
        sources = context.provenance["measurement"], context.dataset.sha256
        key = fingerprint({"job": job.model_dump(mode="json"), "sources": sources})
        space, search = job.settings.protocol.search_space, job.settings.search
        proposer = RandomSearch(space, search, job.pool_seed)
        pool = [proposer.suggest(str(index)) for index in range(job.configurations[-1] + 1)]
        curves = []
        for index in job.configurations:
            path = folder / f"{index}-{key}.json"
            curve = _kept(Curve, path)
            if curve is None:
                curve = _train(job, context, index, pool[index])
                write_record(curve, path)
            curves.append(curve)
        return Curves(
            job=job,
            data_sha256=context.dataset.sha256,
            curves=curves,
            provenance=context.provenance,
        )


def _kept(kind: type[R], path: Path) -> R | None:
    """Return the record at `path`, None if it is missing or damaged."""
    if path.exists():
        try:
            return read_as(kind, path, "trained again")
        except UserError as error:
            logger.warning("%s", error)
    return None


def _train(
    job: CurvesJob, context: JobContext, index: int, configuration: dict[str, object]
) -> Curve:
    """Return the learning curve of one configuration."""
    start = time.process_time()
    run = context.training_run(configuration, 0)
    run.patience = None  # a curve has all epochs
    points = []
    for epoch in job.epochs:
        run.train_to(epoch)
        if run.progress.epochs == epoch:
            run.evaluate()
        cpu_seconds = time.process_time() - start
        points.append(Point(samples=run.progress.samples, cpu_seconds=cpu_seconds))
        if run.progress.failure is not None:
            break
    test = evaluate(run.model, run.data.test) if job.selector in CONTROLS else None
    logger.info("configuration %d: %s", index, run.progress.score)
    return Curve(
        index=index,
        configuration=configuration,
        points=points,
        progress=run.progress,
        test_accuracy=test and test.accuracy,
    )
