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
from automata.simulation.grid import Curve, Curves, CurvesJob, Point, read_curves
from automata.training.device import take_device
from automata.training.evaluation import evaluate
from automata.training.subsets import subset_plan
from automata.tuning.context import JobContext, job_context
from automata.tuning.searchers import RandomSearch
from automata.tuning.work import WorkFolder

logger = logging.getLogger(__name__)


class Trained(Recorded):
    """A finished training, kept until all trainings of its job are finished."""

    fingerprint: str
    """The job, its data and the measurement versions."""
    curve: Curve
    measurement: Measurement
    """The measurement of the process up to now; its start identifies the process."""


def record_curves(job: CurvesJob, data: Path, folder: Path, output: Path) -> None:
    """Train the configurations of `job` on the prepared file `data`, and write `output`.

    `folder` keeps each finished training, so that an interruption loses one training at most. If
    another process works on the job, this one waits and keeps that record.
    """
    work = WorkFolder(folder)
    with work.only_worker() as waited:
        if not (waited and _is_record_of(output, job, data)):
            write_record(_curves(job, data, folder), output)
        work.remove()


def _is_record_of(path: Path, job: CurvesJob, data: Path) -> bool:
    try:
        record = read_curves(path)
    except UserError:  # missing or damaged
        return False
    return record.job == job and record.data_sha256 == sha256(data)


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
        versions = context.provenance["measurement"]
        key = f"{job.model_dump_json()} {context.data_sha256} {versions}"
        paths = {index: folder / f"{index}.json" for index in job.configurations}
        trained = {index: it for index, path in paths.items() if (it := _kept(path, key))}
        if missing := [index for index in paths if index not in trained]:
            take_device(context.device)  # before the window
            space, search = job.settings.protocol.search_space, job.settings.search
            proposer = RandomSearch(space, search, job.pool_seed)
            pool = [proposer.suggest(str(index)) for index in range(max(missing) + 1)]
            with context.meter() as meter:
                for index in missing:
                    curve = _train(job, context, index, pool[index])
                    trained[index] = Trained(
                        fingerprint=key, curve=curve, measurement=meter.so_far()
                    )
                    write_record(trained[index], paths[index])
    last_wins = sorted(trained.values(), key=lambda it: it.measurement.wall_seconds)
    processes = {it.measurement.started_at: it.measurement for it in last_wins}
    starts = sorted(processes)
    return Curves(
        job=job,
        data_sha256=context.data_sha256,
        curves=[
            it.curve.model_copy(update={"segment": starts.index(it.measurement.started_at)})
            for it in map(trained.__getitem__, job.configurations)
        ],
        segments=[processes[start] for start in starts],
        provenance=context.provenance,
    )


def _kept(path: Path, fingerprint: str) -> Trained | None:
    """Return the training at `path`, None unless it is undamaged and of the same job."""
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
    run.patience = None  # a curve has all epochs
    points = []
    for epoch in job.epochs:
        run.train_to(epoch)
        if run.progress.epochs == epoch:
            run.evaluate()
            seconds = run.progress.seconds.model_dump()
            parts = {f"{activity}_seconds": spent for activity, spent in seconds.items()}
            points.append(Point(samples=run.progress.samples, **parts))
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
