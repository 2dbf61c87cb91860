"""One measured job: search, refit, one evaluation of the test set, one record."""

from __future__ import annotations

import logging
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from automata.config.job import Job
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import UserError
from automata.files import sha256
from automata.metering.measurement import Measurement
from automata.models.classifier import Classifier
from automata.prediction.saved import SavedModel, read_encoding, write_model
from automata.records import Data, Record, Segment, Test, Trial, Tuning, read_record, write_record
from automata.training.evaluation import evaluate
from automata.training.progress import Progress
from automata.training.run import TrainingRun
from automata.training.subsets import subset_plan
from automata.tuning.context import JobContext, job_context
from automata.tuning.live import LiveSearch
from automata.tuning.log import SearchLog, SearchStarted, extend, header_of, load_log
from automata.tuning.ray_search import search_in_ray
from automata.tuning.refit import ALL_DATA, best_trials, refit
from automata.tuning.search import search_of
from automata.tuning.searchers import random_configuration
from automata.tuning.work import WorkFolder, read_checkpoint

logger = logging.getLogger(__name__)


class ModelFiles(NamedTuple):
    """The files of the model that a job keeps."""

    path: Path
    encoding: Path
    """A sealed JSON file: how rows of the data set are encoded."""
    rows: str = "train"
    """The rows that it is trained on: `train` or `train+validation`."""


def complete_job(
    job: Job,
    data: Path,
    folder: Path,
    output: Path,
    ray_address: str | None = None,
    again: bool = False,
    files: ModelFiles | None = None,
) -> None:
    """Run `job` on the prepared file `data`; write its record to `output`, and its model.

    An interrupted job resumes from `folder`, and waits for another process that works on it. A
    finished run keeps its record, unless `again` repeats it; only its model is trained again.
    """
    work = WorkFolder(folder)
    with work.only_worker() as waited:
        encoding = read_encoding(files.encoding) if files else {}  # fails before hours of training
        model = None
        record = None if again and not waited else _finished_record(output, job, data)
        if record is None:
            record, model = run(job, data, folder, ray_address, output)
            write_record(record, output)
        else:
            logger.info("%s: the run is finished; its record stays", output)
            output.touch()  # newer than its inputs, so that Snakemake does not make it again
        if files is not None:
            if model is None or files.rows != "train":
                model = _train_again(record, job, data, files.rows)
            keep_model(files.path, record, read_dataset(data), encoding, model)
        work.remove()


def run(
    job: Job,
    data: Path,
    folder: Path,
    ray_address: str | None = None,
    output: Path | None = None,
) -> tuple[Record, Classifier]:
    """Run `job` on the prepared file `data` (paper, Algorithm 1); return its record and model.

    `folder` keeps unfinished work until the caller has written the record. The trials run in the
    Ray at `ray_address`, if given. The search may extend that of a record beside `output`.
    """
    work = WorkFolder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with job_context(job, data) as context:
        header = header_of(job, context.data_sha256, context.provenance, ray_address)
        log = load_log(work, header)
        if output is not None and not log.results and not ray_address:
            extend(log, header, output)
        resumed = bool(log.results)
        tuning = run_search(context, work, log, ray_address)
        best = tuning.trials[tuning.best]
        logger.info("best of %d trials: %s", len(tuning.trials), best.configuration)
        if job.run.trains_finally:
            finalists = best_trials(tuning, job.settings.protocol)
            key = f"{header.model_dump_json()} {[trial.configuration for trial in finalists]}"
            final, trained = refit(context, finalists, work.refit, key)
            resumed = resumed or len(final.segments) > 1
        else:
            final, trained = None, _best_model(context, best, work)
        test = evaluate(trained.model, trained.data.test, job.settings.protocol.metric)
    started = [it.provenance for it in log.entries if isinstance(it, SearchStarted)]
    dataset = context.dataset
    record = Record(
        job=job,
        data=Data(
            sha256=context.data_sha256,
            classes=dataset.classes,
            counts=dataset.metadata["counts"],
            source=dataset.metadata["source"],
            read=dataset.metadata.get("read", []),
        ),
        tuning=tuning,
        final=final,
        test=Test(rows=len(trained.data.test), **asdict(test)),
        resumed=resumed,
        lock_wait_seconds=context.lock_wait_seconds,
        provenance=[context.provenance, *started][-1],
    )
    return record, trained.model


def run_search(
    context: JobContext, work: WorkFolder, log: SearchLog, ray_address: str | None
) -> Tuning:
    """Finish the search of a job, and return it for the record.

    Raises UserError if every trial diverged, and the error of a trial that crashes.
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
    trials, latest = [], log.latest
    for it in search.trials:
        progress, whole = latest[it.index], it.reached == len(it.rungs)
        fields = {"index": it.index, "configuration": it.configuration, "rungs": it.rungs}
        ended = "failed" if progress.failure is not None else "completed" if whole else "stopped"
        trials.append(Trial(**fields, status=ended, progress=progress))
    assert search.best is not None, "there is at least one trial"
    best = trials[search.best.index]
    if best.status == "failed":
        first = trials[0].progress.failure
        raise UserError(f"all {len(trials)} trials diverged; the first: {first}")
    segments, cluster = log.segments, None
    if ray_address:
        segments, cluster = [*map(_time_only, segments)], {"address": ray_address}
    return Tuning(segments=segments, trials=trials, best=best.index, cluster=cluster)


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


def keep_model(
    path: Path, record: Record, dataset: Dataset, encoding: dict[str, Any], model: Classifier
) -> None:
    """Write the trained `model` of a run, with all that prediction needs."""
    saved = SavedModel(
        job=record.job,
        configuration=record.best.configuration,
        kind=dataset.kind,
        classes=dataset.metadata["class_names"],
        encoding=encoding,
        inputs=[*dataset.train.inputs.shape[1:]],
        extras={name: [*extra.shape] for name, extra in dataset.extras.items()},
    )
    write_model(path, model, saved)


def _finished_record(output: Path, job: Job, data: Path) -> Record | None:
    """Return the record of `job` at `output`; None if it is missing or damaged.

    Raises UserError if the record is of another run or of other data, because it must stay.
    """
    try:
        record = read_record(output)
    except UserError:
        return None
    same = record.job.run == job.run and record.job.settings == job.settings
    if not same or record.data.sha256 != sha256(data):
        raise UserError(
            f"{output}: is the record of another run or of other data, which is not replaced: "
            "move it away"
        )
    return record


def _train_again(record: Record, job: Job, data: Path, rows: str) -> Classifier:
    """Return the model of a finished run, trained again on `rows` (see `ModelFiles`)."""
    logger.info("training the model of a finished run again, without measuring it")
    chosen = record.final or record.best
    with job_context(job, data) as context:
        if rows != "train":
            wider = replace(context.dataset, train=context.dataset.train_with_validation())
            context = replace(context, dataset=wider)
        plan = ALL_DATA if record.final else subset_plan(job)
        trained = context.training_run(record.best.configuration, plan)
        _train_to_kept(trained, chosen.progress)
    return trained.model


def _best_model(context: JobContext, best: Trial, work: WorkFolder) -> TrainingRun:
    """Return a run with the `best` trial's model, trained again if its file cannot be read."""
    trained = context.training_run(best.configuration, subset_plan(context.job))
    file, epochs = work.model(best.index), best.progress.epochs
    state = read_checkpoint(file)
    if state is not None and state["epochs"] == epochs:
        trained.model.load_state_dict(state["model"])
    else:
        logger.warning("%s: missing or damaged; the model is trained again", file)
        _train_to_kept(trained, best.progress)
    return trained


def _train_to_kept(run: TrainingRun, progress: Progress) -> None:
    """Train a new `run` to the weights that the run with this `progress` kept."""
    run.patience = None  # the best epoch is known
    run.train_to(progress.kept_epoch)
