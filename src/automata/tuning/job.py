"""One measured job: search, final training, one evaluation of the test set, one record."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import torch

from automata.allocation import keep_to_allocation
from automata.config import Job, OwnModel, Preparation
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import UserError
from automata.files import sha256, write_text
from automata.metering.gpus import gpu_models
from automata.metering.lock import exclusive_host
from automata.metering.meter import Meter
from automata.models.build import build_model, source_checksum
from automata.models.classifier import Classifier
from automata.provenance import provenance
from automata.recorded import Recorded
from automata.records import (
    SCHEMA_VERSION,
    Data,
    FinalTraining,
    Record,
    Test,
    Trial,
    Tuning,
)
from automata.seeds import derive
from automata.selection.random import Full
from automata.training.device import choose_device, visible_gpus
from automata.training.evaluation import evaluate
from automata.training.progress import Progress
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan
from automata.training.threads import limit_threads
from automata.tuning.search import RandomSearch, domains
from automata.tuning.search_phase import load_best_weights, run_search

logger = logging.getLogger(__name__)


PLACE = ("host", "device", "packages", "automata", "git", "own_model_sha256")
"""The parts of the provenance in which both phases of a record must agree."""


class FinishedSearch(Recorded):
    """A search phase kept in the work folder, for a restart with the same job and data."""

    job: Job
    data_sha256: str
    tuning: Tuning
    provenance: dict[str, Any]


def run_job(job: Job, data: Path, work: Path) -> Record:
    """Run `job` on the prepared file `data` and return its record (paper, Algorithm 1).

    `work` keeps the finished search: an interrupted job that starts again goes on with the
    final training. Remove it (`remove_work`) once the record is safe.
    """
    keep_to_allocation(job.settings.compute)
    dataset = read_dataset(data)
    if dataset.name != job.run.dataset:
        raise UserError(f"{data}: is data set '{dataset.name}', not '{job.run.dataset}'")
    _check(job, dataset, data)
    source = _describe(dataset, data)
    settings = job.settings
    device = choose_device(settings.compute.device)
    model = settings.protocol.model
    own_model = source_checksum(model) if isinstance(model, OwnModel) else None
    here = {
        **provenance(),
        "device": _device_name(device),
        "gpus": gpu_models([]),
        "own_model_sha256": own_model,
    }
    limit_threads(settings.compute.threads_per_trial)
    work.mkdir(parents=True, exist_ok=True)
    with exclusive_host(settings.metering.exclusive) as waited:
        search = _search_once(job, source, data, work, here)
        tuning = search.tuning
        best = tuning.trials[tuning.best]
        logger.info("best of %d trials: %s", len(tuning.trials), best.configuration)
        run = _best_run(job, dataset, best, device)
        final = None
        if job.run.trains_finally:
            final = _train_finally(job, run)
        else:
            run.model.load_state_dict(load_best_weights(work))
        test = _test(run.model, run.data)
    return Record(
        schema_version=SCHEMA_VERSION,
        job=job,
        data=source,
        tuning=tuning,
        final=final,
        test=test,
        lock_wait_seconds=waited,
        provenance=search.provenance,
    )


def _check(job: Job, dataset: Dataset, data: Path) -> None:
    """Raise UserError, before any work, if the data or the model are not what the job asks for."""
    prepared = Preparation.model_validate(dataset.metadata["preparation"])
    if prepared != job.settings.data:
        raise UserError(f"{data}: prepared with other settings: remove it, to prepare it again")
    space = job.settings.protocol.search_space
    if isinstance(job.settings.protocol.model, OwnModel):
        sample = RandomSearch(domains(space), job.run.seed).suggest("")
        build_model(dataset, sample, job.settings.protocol.model)


def remove_work(work: Path) -> None:
    """Remove the unfinished work of a job whose record is written."""
    shutil.rmtree(work, ignore_errors=True)


def _search_once(
    job: Job, source: Data, data: Path, work: Path, here: dict[str, Any]
) -> FinishedSearch:
    """Search, or take the finished search of the same job, data, host and software from `work`."""
    kept = work / "search.json"
    if kept.exists():
        finished = FinishedSearch.model_validate_json(kept.read_text(encoding="utf-8"))
        same_input = finished.job == job and finished.data_sha256 == source.sha256
        if same_input and all(finished.provenance[key] == here[key] for key in PLACE):
            logger.info("the search was finished before: %s", kept)
            return finished
    tuning = run_search(job, data, work) if job.run.searches else _drawn(job)
    finished = FinishedSearch(job=job, data_sha256=source.sha256, tuning=tuning, provenance=here)
    write_text(kept, finished.model_dump_json())
    return finished


def _drawn(job: Job) -> Tuning:
    """Return a search of nothing: the first configuration that random search would try."""
    space = domains(job.settings.protocol.search_space)
    trial = Trial(
        index=0,
        configuration=RandomSearch(space, job.run.seed).suggest(""),
        rungs=[],
        status="drawn",
        progress=Progress(),
    )
    return Tuning(measurement=None, setup_seconds=0.0, trials=[trial], best=0)


def _best_run(job: Job, dataset: Dataset, best: Trial, device: torch.device) -> TrainingRun:
    """Return a new training run of the best configuration, on all data."""
    return TrainingRun(
        dataset,
        best.configuration,
        job.settings.protocol,
        SubsetPlan(Full(), fraction=1.0),
        derive(job.run.seed, job.run.training_stream),
        device,
        job.settings.compute.precision,
        job.settings.compute.compiled,
    )


def _train_finally(job: Job, run: TrainingRun) -> FinalTraining:
    """Train `run` for all T epochs inside a window of its own."""
    metering = job.settings.metering
    meter = Meter(
        sample_seconds=metering.sample_seconds,
        gpus=visible_gpus() if run.device.type == "cuda" else [],
        exclusive=metering.exclusive,
    )
    with meter:
        run.train_to(job.settings.protocol.epochs)
    if run.progress.failure is not None:
        logger.warning("the final training diverged: %s", run.progress.failure)
    return FinalTraining(measurement=meter.measurement, progress=run.progress)


def _test(model: Classifier, dataset: Dataset) -> Test:
    scores = evaluate(model, dataset.test)
    return Test(accuracy=scores.accuracy, loss=scores.loss, rows=len(dataset.test))


def _describe(dataset: Dataset, path: Path) -> Data:
    return Data(
        sha256=sha256(path),
        classes=dataset.classes,
        counts=dataset.metadata["counts"],
        source=dataset.metadata["source"],
    )


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
