"""One measured job: search, final training, one evaluation of the test set, one record."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import torch

from automata.allocation import keep_to_allocation
from automata.code_versions import METHODS, code_versions, origins
from automata.config import Job, OwnModel, Preparation
from automata.config.inputs import FACTORY
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import UserError
from automata.files import bytes_below, sha256, write_text
from automata.metering.gpus import gpu_models
from automata.metering.lock import exclusive_host
from automata.models.build import build_model, source_checksum
from automata.models.classifier import Classifier
from automata.numerics import numerics
from automata.provenance import provenance
from automata.recorded import Recorded
from automata.records import Data, Record, Test, Trial, Tuning, read_record, write_record
from automata.seeds import derive
from automata.selection.random import Full
from automata.training.device import choose_device
from automata.training.evaluation import evaluate
from automata.training.progress import Progress
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan
from automata.training.threads import limit_threads
from automata.tuning.final_training import train_finally
from automata.tuning.history import History, forget, recall
from automata.tuning.journal import Begun
from automata.tuning.search import RandomSearch, domains
from automata.tuning.search_phase import run_search
from automata.tuning.states import read_model
from automata.tuning.work import WorkFolder, only_worker

logger = logging.getLogger(__name__)

PLACE = (
    "automata",
    "code",
    "packages",
    "cpu",
    "cpu_count",
    "gpus",
    "device",
    "own_model_sha256",
)
"""The parts of the provenance in which all segments of a record must agree; hosts may differ.

Code that is declared equal, in all that an interrupted run consists of, agrees.
"""


class FinishedSearch(Recorded):
    """A search phase kept in the work folder, for a restart with the same job and data."""

    begun: Begun
    tuning: Tuning
    resumed: bool
    peak_disk_bytes: int
    provenance: dict[str, Any]


def complete_job(
    job: Job,
    data: Path,
    folder: Path,
    output: Path,
    ray_address: str | None = None,
    again: bool = False,
) -> None:
    """Run `job` on the prepared file `data`, and write its record to `output`.

    What is unfinished is kept in `folder` until then: an interrupted job that starts again goes
    on from there. It waits for a process that is at the same job, and takes its record. A
    finished record at `output` stays as it is, whatever made Snakemake start the job, and work that
    is left beside it is removed: `again` repeats the run, and replaces the record when the new one
    is complete.
    """
    work = WorkFolder(folder)
    with only_worker(work) as waited:
        if (waited or not again) and _is_finished(output, job, data):
            logger.info("%s: the run is finished, its record stays", output)
            output.touch()  # Snakemake takes an output for made that is newer than its inputs
        else:
            write_record(run_job(job, data, folder, ray_address), output)
        work.remove()


def _is_finished(output: Path, job: Job, data: Path) -> bool:
    """Say whether `output` is the record of `job` on `data`, by whichever code.

    Raises UserError if it is a record of something else, which nothing may replace.
    """
    try:
        record = read_record(output)
    except UserError:  # none, or damaged
        return False
    same = record.job.run == job.run and record.job.settings == job.settings
    if not same or record.data.sha256 != sha256(data):
        raise UserError(
            f"{output}: is the record of another run or of other data, which is not replaced: "
            "move it away"
        )
    return True


def run_job(job: Job, data: Path, folder: Path, ray_address: str | None = None) -> Record:
    """Run `job` on the prepared file `data` and return its record (paper, Algorithm 1).

    What is finished is kept in `folder`: trials at their rungs, the search, and the state of
    the final training. The caller removes it once the record is safe. With a `ray_address`
    the trials run on that cluster; the final training is always here.
    """
    keep_to_allocation(job.settings.compute)
    dataset = read_dataset(data)
    if dataset.name != job.run.dataset:
        raise UserError(f"{data}: is data set '{dataset.name}', not '{job.run.dataset}'")
    _check(job, dataset, data)
    work = WorkFolder(folder)
    work.path.mkdir(parents=True, exist_ok=True)
    source = _describe(dataset, data)
    settings = job.settings
    device = choose_device(settings.compute.device)
    model = settings.protocol.model
    own_model = _own_model(model, job) if isinstance(model, OwnModel) else None
    limit_threads(settings.compute.threads_per_trial)
    here = {
        **provenance(),
        "code": code_versions(job.run.selector),
        **numerics(),
        "device": _device_name(device),
        "gpus": gpu_models([]),
        "own_model_sha256": own_model,
    }
    place = {name: here[name] for name in PLACE} | {"trials on a cluster": bool(ray_address)}
    place["code"] = origins(here["code"], METHODS, interrupted=True, device=here["device"])
    begun = Begun(job=job, data_sha256=source.sha256, place=place)
    with exclusive_host(settings.metering.exclusive) as waited:
        search = _search_once(begun, data, work, here, ray_address)
        tuning = search.tuning
        best = tuning.trials[tuning.best]
        logger.info("best of %d trials: %s", len(tuning.trials), best.configuration)
        run = _best_run(job, dataset, best, device)
        final, resumed = None, search.resumed
        if job.run.trains_finally:
            key = f"{begun.model_dump_json()} {best.configuration}"
            final, again = train_finally(run, settings, work.final, key)
            resumed = resumed or again
        else:
            run.model.load_state_dict(_best_model(tuning, work) or {})
        test = _test(run.model, run.data)
    return Record(
        job=job,
        data=source,
        tuning=tuning,
        final=final,
        test=test,
        resumed=resumed,
        peak_disk_bytes=max(search.peak_disk_bytes, bytes_below(work.path)),
        lock_wait_seconds=waited,
        provenance=search.provenance,
    )


def _own_model(model: OwnModel, job: Job) -> str | None:
    """Return the SHA-256 of the user's own model; UserError if it is not that of the call."""
    found = source_checksum(model)
    if job.files.get(FACTORY, found) != found:
        raise UserError(f"protocol.*.model.factory: {model.factory}: has changed: call again")
    return found


def _check(job: Job, dataset: Dataset, data: Path) -> None:
    """Raise UserError, before any work, if the data or the model are not what the job asks for."""
    prepared = Preparation.model_validate(dataset.metadata["preparation"])
    if prepared != job.settings.data:
        raise UserError(f"{data}: prepared with other settings: remove it, to prepare it again")
    space = job.settings.protocol.search_space
    if isinstance(job.settings.protocol.model, OwnModel):
        sample = RandomSearch(domains(space), job.run.seed).suggest("")
        build_model(dataset, sample, job.settings.protocol.model)


def _search_once(
    begun: Begun, data: Path, work: WorkFolder, here: dict[str, Any], ray_address: str | None
) -> FinishedSearch:
    """Search, or go on with what `work` has of the same search, or take the finished one."""
    job = begun.job
    finished = _kept(work.search, begun)
    while finished is None or not _has_best_model(finished, work):
        if finished is not None:  # its file is damaged: the trial trains again
            forget(work, finished.tuning.best)
        history = recall(work, begun) if job.run.searches else History()
        tuning, peak = (
            run_search(job, data, work, history, ray_address)
            if job.run.searches
            else (_drawn(job), 0)
        )
        finished = FinishedSearch(
            begun=begun,
            tuning=tuning,
            resumed=bool(history.reported),
            peak_disk_bytes=peak,
            provenance=here,
        )
        write_text(work.search, finished.model_dump_json())
    return finished


def _kept(path: Path, begun: Begun) -> FinishedSearch | None:
    """Return the search `begun` if `path` has it as finished, by an earlier process."""
    try:
        finished = FinishedSearch.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # none, or damaged
        return None
    if finished.begun != begun:
        return None
    logger.info("the search was finished before: %s", path)
    return finished.model_copy(update={"resumed": bool(finished.tuning.segments)})


def _has_best_model(search: FinishedSearch, work: WorkFolder) -> bool:
    """Say whether what is tested is there: of FULL the model of the best trial."""
    if search.begun.job.run.trains_finally:
        return True
    return _best_model(search.tuning, work) is not None


def _best_model(tuning: Tuning, work: WorkFolder) -> dict[str, torch.Tensor] | None:
    """Return the model of the best trial, as the search left it."""
    epochs = tuning.trials[tuning.best].progress.epochs
    return read_model(work.weights(tuning.best), epochs)


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
    return Tuning(segments=[], trials=[trial], best=0)


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
