"""One measured job: search, final training, one evaluation of the test set, one record."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from automata.config.job import Job
from automata.datasets.prepared import read_dataset
from automata.errors import UserError
from automata.files import sha256
from automata.models.classifier import Classifier
from automata.prediction.saved import keep_model, read_encoding
from automata.records.progress import Progress
from automata.records.record import Data, Record, Test, read_record, write_record
from automata.training.evaluation import scored
from automata.training.run import TrainingRun
from automata.tuning.checkpoints import read_checkpoint
from automata.tuning.context import job_context
from automata.tuning.phases import Phases
from automata.tuning.ray_search import train_in_ray
from automata.tuning.ray_session import users_ray
from automata.tuning.work import WorkFolder

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
                model = _train_again(record, job, data, files.rows, bool(ray_address))
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
    with ExitStack() as stack:
        context = stack.enter_context(job_context(job, data, cluster=bool(ray_address)))
        if ray_address:
            resources = stack.enter_context(users_ray(ray_address, work.path))
            context = context.on_cluster(ray_address, resources)
        phases = Phases(context, work, output)
        train_in_ray(context, work, phases.unfinished())
        tuning, final = phases.ended()
        best = tuning.trials[tuning.best if final is None or final.trial is None else final.trial]
        trained = context.training_run(best.configuration, best.index if final is None else None)
        _load_model(trained, phases.model, (final or best).progress)
        metric = job.settings.protocol.metric
        test, counts = scored(trained.model, trained.data.test, metric)
    dataset = context.dataset
    answers = [
        (row, answer, int(counts[row, answer])) for row, answer in np.argwhere(counts).tolist()
    ]
    record = Record(
        job=job,
        data=Data(
            sha256=dataset.sha256,
            classes=dataset.classes,
            counts=dataset.metadata["counts"],
            source=dataset.metadata["source"],
            read=dataset.metadata.get("read", []),
            class_names=dataset.metadata["class_names"],
        ),
        tuning=tuning,
        final=final,
        test=Test(rows=len(trained.data.test), answers=answers, **test.model_dump()),
        resumed=phases.resumed,
        lock_wait_seconds=context.lock_wait_seconds,
        provenance=phases.provenance,
    )
    return record, trained.model


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


def _train_again(record: Record, job: Job, data: Path, rows: str, cluster: bool) -> Classifier:
    """Return the model of a finished run, trained again here on `rows` (see `ModelFiles`)."""
    logger.info("training the model of a finished run again, without measuring it")
    chosen = record.final or record.best
    with job_context(job, data, cluster) as context:
        if rows != "train":
            wider = replace(context.dataset, train=context.dataset.train_with_validation())
            context = replace(context, dataset=wider)
        trial = None if record.final else record.best.index
        trained = context.training_run(record.best.configuration, trial)
        trained.repeat(chosen.progress)
    return trained.model


def _load_model(run: TrainingRun, file: Path, progress: Progress) -> None:
    """Give a new `run` the model in `file`; train it again if that cannot be read."""
    state = read_checkpoint(file)
    if state is not None and state["epochs"] == progress.epochs:
        run.model.load_state_dict(state["model"])
    else:
        logger.warning("%s: missing or damaged; the model is trained again", file)
        run.repeat(progress)
