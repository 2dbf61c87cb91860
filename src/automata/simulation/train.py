"""The job that records learning curves: configurations trained one after the other, metered."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from automata.config.job import Job, Run
from automata.errors import UserError
from automata.files import Recorded, sha256
from automata.metering.measurement import Measurement
from automata.records import read_as, write_record
from automata.registry import CONTROLS
from automata.simulation.record import Curve, Curves, CurvesJob, Point, read_curves
from automata.training.device import take_device
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.training.subsets import subset_plan
from automata.tuning.context import JobContext, job_context
from automata.tuning.searchers import RandomSearch
from automata.tuning.work import WorkFolder

logger = logging.getLogger(__name__)


class Trained(Recorded):
    """A finished training, kept while others of its job train."""

    fingerprint: str
    """The job, its data and the measurement versions; a training of others is not used."""
    curve: Curve
    process: str
    """When the process opened its window."""
    measurement: Measurement
    """Of the process so far."""


def record_curves(job: CurvesJob, data: Path, folder: Path, output: Path) -> None:
    """Train the configurations of `job` on the prepared file `data`, and write `output`.

    `folder` keeps each finished training, so an interruption loses the running one only. If
    another process works on the job, wait for it and take its record.
    """
    work = WorkFolder(folder)
    with work.only_worker() as waited:
        if waited and _is_record_of(output, job, data):
            logger.info("%s: another process has finished it", output)
        else:
            write_record(_curves(job, data, folder), output)
        work.remove()


def _is_record_of(path: Path, job: CurvesJob, data: Path) -> bool:
    try:
        record = read_curves(path)
    except UserError:  # missing or damaged
        return False
    return record.job == job and record.data_sha256 == sha256(data)


def _curves(job: CurvesJob, data: Path, folder: Path) -> Curves:
    """Return the record of `job`; `folder` keeps each finished training."""
    run = Run(
        dataset=job.dataset,
        search="random",
        scheduler="none",
        selector=job.selector,
        fraction=job.fraction,
        seed=job.seed,
    )
    with job_context(Job(run=run, settings=job.settings, files=job.files), data) as context:
        versions = context.provenance["measurement"]
        key = f"{job.model_dump_json()} {context.data_sha256} {versions}"
        finished = {index: _kept(folder / f"{index}.json", key) for index in job.configurations}
        missing = [index for index, trained in finished.items() if trained is None]
        if missing:
            take_device(context.device)  # before the window
            space, search = job.settings.protocol.search_space, job.settings.search
            proposer = RandomSearch(space, search, job.pool_seed)
            pool = [proposer.suggest(str(index)) for index in range(max(missing) + 1)]
            with context.meter() as meter:
                for index in missing:
                    curve = _train(job, context, index, pool[index])
                    so_far = meter.so_far()
                    trained = Trained(
                        fingerprint=key,
                        curve=curve,
                        process=str(so_far.started_at),
                        measurement=so_far,
                    )
                    write_record(trained, folder / f"{index}.json")
                    finished[index] = trained
    return _combined(job, context, [trained for trained in finished.values() if trained])


def _kept(path: Path, fingerprint: str) -> Trained | None:
    """Return the training at `path`, None unless it is sound and of the same job."""
    if not path.exists():
        return None
    try:
        trained = read_as(Trained, path, "trained again")
    except UserError as error:
        logger.warning("%s", error)
        return None
    return trained if trained.fingerprint == fingerprint else None


def _train(
    job: CurvesJob, context: JobContext, index: int, configuration: dict[str, object]
) -> Curve:
    """Return the learning curve of one configuration."""
    plan = replace(subset_plan(context.job), warm_start=job.warm_start)
    run = context.training_run(configuration, plan)
    points = []
    for epoch in job.epochs:
        run.train_to(epoch)
        if run.progress.epochs == epoch:
            run.evaluate()
            points.append(_point(run))
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
        test_balanced_accuracy=test and test.balanced_accuracy,
        segment=0,
    )


def _point(run: TrainingRun) -> Point:
    seconds = run.progress.seconds
    return Point(
        samples=run.progress.samples,
        training_seconds=seconds.training,
        selection_seconds=seconds.selection,
        evaluation_seconds=seconds.evaluation,
    )


def _combined(job: CurvesJob, context: JobContext, trained: list[Trained]) -> Curves:
    """Return the record; a segment is the longest measurement of one process."""
    segments: dict[str, Measurement] = {}
    for each in sorted(trained, key=lambda each: each.measurement.wall_seconds):
        segments[each.process] = each.measurement
    processes = sorted(segments)
    return Curves(
        job=job,
        data_sha256=context.data_sha256,
        curves=[
            each.curve.model_copy(update={"segment": processes.index(each.process)})
            for each in trained
        ],
        segments=[segments[process] for process in processes],
        provenance=context.provenance,
    )
