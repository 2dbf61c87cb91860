"""One measured job: search, refit, one evaluation of the test set, one record."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch

from automata.allocation import keep_to_allocation
from automata.config.data import Preparation
from automata.config.inputs import FACTORY
from automata.config.job import Job
from automata.config.protocol import OwnModel
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import UserError
from automata.files import bytes_below, sha256
from automata.metering.gpus import gpu_models
from automata.metering.lock import exclusive_host
from automata.metering.measurement import Measurement
from automata.models.build import build_model
from automata.models.classifier import Classifier
from automata.prediction.saved import SavedModel, write_model
from automata.provenance import numerics, provenance
from automata.records import (
    Data,
    Record,
    Segment,
    Test,
    Trial,
    Tuning,
    read_record,
    write_record,
)
from automata.registry import OWN
from automata.runs import DEPTH
from automata.seeds import derive
from automata.selection.random import Full
from automata.training.device import choose_device, take_device
from automata.training.evaluation import evaluate
from automata.training.progress import Progress
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, subset_plan
from automata.training.threads import limit_threads
from automata.tuning.checkpoints import WorkFolder, read_model
from automata.tuning.log import (
    Closed,
    JobFingerprint,
    Opened,
    ReplayLog,
    load_log,
    replay,
    results_of,
    usable,
)
from automata.tuning.ray_search import search_in_ray
from automata.tuning.refit import refit
from automata.tuning.search import Search, search_of
from automata.tuning.searchers import random_configuration
from automata.versions import measurement

logger = logging.getLogger(__name__)

PLACE = (
    "automata",
    "measurement",
    "packages",
    "cpu",
    "cpu_count",
    "gpus",
    "device",
    "own_model_sha256",
)
"""The parts of the provenance in which all segments of a record must agree; hosts may differ."""


class Kept(NamedTuple):
    """Where a trained model shall be."""

    path: Path
    encoding: Path
    """File that says how rows of the data set are encoded."""
    rows: str
    """`train`, or `train+validation`: what it is trained on."""


def complete_job(
    job: Job,
    data: Path,
    folder: Path,
    output: Path,
    ray_address: str | None = None,
    again: bool = False,
    kept: Kept | None = None,
) -> None:
    """Run `job` on the prepared file `data`, and write its record to `output`.

    What is unfinished is kept in `folder` until then: an interrupted job that starts again goes
    on from there. It waits for a process that is at the same job, and takes its record. A
    finished record at `output` stays as it is, whatever made Snakemake start the job, and work that
    is left beside it is removed: `again` repeats the run, and replaces the record when the new one
    is complete. The model is written where `kept` says; that of a finished run is trained again.
    """
    work = WorkFolder(folder)
    with work.only_worker() as waited:
        model = None
        encoding = _encoding(kept.encoding) if kept is not None else {}  # before hours of training
        record = None if again and not waited else _finished(output, job, data)
        if record is not None:
            logger.info("%s: the run is finished, its record stays", output)
            output.touch()  # Snakemake takes an output for made that is newer than its inputs
        else:
            record, model = run_with_model(job, data, folder, ray_address, _siblings(output))
            write_record(record, output)
        if kept is not None:
            keep_model(kept.path, record, read_dataset(data), encoding, model, kept.rows)
        work.remove()


def _encoding(path: Path) -> dict[str, Any]:
    """Return what `path` says of how rows are encoded; raises UserError if it is damaged."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        remedy = "delete it, and call again to prepare it anew"
        raise UserError(f"{path}: not valid JSON: {error}; {remedy}") from error
    return found


def _finished(output: Path, job: Job, data: Path) -> Record | None:
    """Return the record of `job` on `data` at `output`, by whichever code; None without one.

    Raises UserError if it is a record of something else, which nothing may replace.
    """
    try:
        record = read_record(output)
    except UserError:  # none, or damaged
        return None
    same = record.job.run == job.run and record.job.settings == job.settings
    if not same or record.data.sha256 != sha256(data):
        raise UserError(
            f"{output}: is the record of another run or of other data, which is not replaced: "
            "move it away"
        )
    return record


def run_job(job: Job, data: Path, folder: Path) -> Record:
    """Return the record of `run_with_model`."""
    return run_with_model(job, data, folder)[0]


def run_with_model(
    job: Job,
    data: Path,
    folder: Path,
    ray_address: str | None = None,
    earlier: Iterable[Path] = (),
) -> tuple[Record, Classifier]:
    """Run `job` on the prepared file `data`; return record and model (paper, Algorithm 1).

    What is finished is kept in `folder`: the log of the search, and checkpoints of trials and
    of the refit. The caller removes it once the record is safe. Only trials run
    at `ray_address`. A search begins with the results of one of the `earlier` records that is the
    same but for having tried fewer configurations.
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
    device = choose_device(settings.compute, dataset.kind)
    model = settings.protocol.model
    own_model = _own_model(model, job) if isinstance(model, OwnModel) else None
    limit_threads(settings.compute.threads_per_trial)
    here = {
        **provenance(job.run.selector),
        **numerics(),
        "device": device_name(device),
        "gpus": gpu_models([]),
        "own_model_sha256": own_model,
    }
    place = _place(here, ray_address)
    fingerprint = JobFingerprint(job=job, data_sha256=source.sha256, place=place)
    with exclusive_host(settings.metering.exclusive) as waited:
        log = load_log(work, fingerprint)
        if not log.reported and not ray_address:
            _take_over(log, fingerprint, earlier)
        resumed = bool(log.reported)
        tuning = _searched(job, data, work, log, here, device, ray_address)
        best = tuning.trials[tuning.best]
        logger.info("best of %d trials: %s", len(tuning.trials), best.configuration)
        final = None
        if job.run.trains_finally:
            all_data = SubsetPlan(Full(), fraction=1.0)
            finalists = best_trials(tuning, settings.protocol.finalists)
            runs = {it.index: _training_run(job, dataset, it, all_data, device) for it in finalists}
            key = f"{fingerprint.model_dump_json()} {[it.configuration for it in finalists]}"
            final, run = refit(runs, settings, work.refit, key)
            resumed = resumed or len(final.segments) > 1
        else:
            run = _training_run(job, dataset, best, subset_plan(job), device)
            _restore_model(run, best, work)
        test = _test(run.model, run.data)
    opened = [entry for entry in log.entries if isinstance(entry, Opened)]
    closed = [entry for entry in log.entries if isinstance(entry, Closed)]
    record = Record(
        job=job,
        data=source,
        tuning=tuning,
        final=final,
        test=test,
        resumed=resumed,
        peak_disk_bytes=max([bytes_below(work.path), *(entry.peak_disk_bytes for entry in closed)]),
        lock_wait_seconds=waited,
        provenance=opened[-1].provenance if opened else here,
    )
    return record, run.model


def keep_model(
    path: Path,
    record: Record,
    dataset: Dataset,
    encoding: dict[str, Any],
    model: Classifier | None,
    rows: str = "train",
) -> None:
    """Write the trained model of a run, which is `model` if it was trained just now."""
    job, best = record.job, record.best
    final = record.final
    epochs = (final or best).progress.epochs
    if model is None or rows != "train":
        logger.info("training %s, which is not measured", path)
        compute = job.settings.compute
        limit_threads(compute.threads_per_trial)
        wider = dataset
        if rows != "train":
            wider = replace(dataset, train=dataset.train_with_validation())
        plan = SubsetPlan(Full(), fraction=1.0) if final else subset_plan(job)
        with exclusive_host(job.settings.metering.exclusive):
            device = choose_device(compute, dataset.kind)
            run = _training_run(job, wider, best, plan, device)
            run.train_to(epochs)
        model = run.model
    saved = SavedModel(
        job=job,
        configuration=best.configuration,
        kind=dataset.kind,
        classes=dataset.metadata["class_names"],
        encoding=encoding,
        inputs=[*dataset.train.inputs.shape[1:]],
        extras={name: [*extra.shape] for name, extra in dataset.extras.items()},
    )
    write_model(path, model, saved)


def _place(provenance: dict[str, Any], ray_address: str | None) -> dict[str, Any]:
    """Return what all segments of a record must agree in."""
    return {name: provenance[name] for name in PLACE} | {"ray.address": ray_address}


def _siblings(output: Path) -> list[Path]:
    """Return the records of the same run under other protocols of its search and scheduler."""
    if len(output.parts) < DEPTH:
        return []
    method, _, _ = output.parents[2].name.rpartition("-")
    run = output.relative_to(output.parents[2])
    return sorted(output.parents[3].glob(f"{method}-*/{run}")) if method else []


def _take_over(log: ReplayLog, fingerprint: JobFingerprint, earlier: Iterable[Path]) -> None:
    """Begin an empty log with the largest of the `earlier` searches that this one extends."""
    found = []
    for path in earlier:
        with suppress(UserError):
            record = read_record(path)
            if _is_extended(record, fingerprint):
                found.append((record.job.settings.protocol.configurations, str(path), record))
    if found:
        configurations, name, record = max(found, key=lambda one: one[:2])
        logger.info("%s: its search of %d configurations is extended", name, configurations)
        for entry in usable([*results_of(record)], search_of(fingerprint.job)):
            log.append(entry)


def _is_extended(record: Record, fingerprint: JobFingerprint) -> bool:
    """Say whether a search is the same as that of the `record`, of more configurations."""
    job, address = fingerprint.job, (record.tuning.cluster or {}).get("address")
    tried, wanted = record.job.settings.protocol, job.settings.protocol
    settings = record.job.settings.model_copy(
        update={"protocol": tried.model_copy(update={"configurations": wanted.configurations})}
    )
    same = record.job.model_copy(update={"settings": settings}) == job
    versions = {part: record.version(part) for part in measurement(job.run.selector)}
    made = {**record.provenance, "measurement": versions}
    return (
        same
        and tried.configurations < wanted.configurations
        and record.data.sha256 == fingerprint.data_sha256
        and _place(made, address) == fingerprint.place
    )


def _own_model(model: OwnModel, job: Job) -> str | None:
    """Return the SHA-256 of the user's own model; UserError if it is not that of the call."""
    return checked_module(model.factory, job.files.get(FACTORY), "protocol.*.model.factory")


def checked_module(target: str, expected: str | None, key: str) -> str | None:
    """Return the SHA-256 of the file of a "module:attribute", None if it is in no file.

    Raises UserError, which names the `key`, if it is not the `expected` one.
    """
    path = getattr(import_module(target.partition(":")[0]), "__file__", None)
    found = sha256(Path(path)) if path is not None else None
    if expected not in (None, found):
        raise UserError(f"{key}: {target}: has changed: call again")
    return found


def _check(job: Job, dataset: Dataset, data: Path) -> None:
    """Raise UserError, before any work, if data, model or methods are not what the job asks for."""
    prepared = Preparation.model_validate(dataset.metadata["preparation"])
    if prepared != job.settings.data:
        raise UserError(f"{data}: prepared with other settings: remove it, to prepare it again")
    search_of(job)
    subset_plan(job)
    names = {"search": job.run.search, "scheduler": job.run.scheduler, "selector": job.run.selector}
    for kind, target in job.settings.own.items():
        key = f"{OWN[kind]}.{names[kind]}"
        checked_module(target, job.files.get(key), key)
    if isinstance(job.settings.protocol.model, OwnModel):
        build_model(dataset, random_configuration(job), job.settings.protocol.model)


def _searched(
    job: Job,
    data: Path,
    work: WorkFolder,
    log: ReplayLog,
    here: dict[str, Any],
    device: torch.device,
    ray_address: str | None,
) -> Tuning:
    """Return the search: what `log` has of it, and in Ray Tune what is missing.

    Raises UserError when every trial diverged, and RuntimeError when one crashed.
    """
    if not job.run.searches:
        return _drawn(job)
    search = search_of(job)
    replay(log, search)
    minutes = job.settings.protocol.search_minutes
    taken = sum(segment.measurement.wall_seconds for segment in log.segments)
    left = math.inf if minutes is None else minutes * 60 - taken
    if left <= 0:
        search.stop()
    if search.finished:
        logger.info("the search was finished before: %s", work.log)
    else:
        search_in_ray(job, data, work, search, log, here, device, ray_address, left)
    return _tuning(search, log, ray_address)


def _tuning(search: Search, log: ReplayLog, ray_address: str | None) -> Tuning:
    """Return a finished search as it is recorded."""
    progress = log.latest
    trials = [
        Trial(
            index=trial.index,
            configuration=trial.configuration,
            rungs=trial.rungs,
            status="failed" if progress[trial.index].failure is not None else trial.status,
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
        segments=[_elsewhere(it) for it in log.segments] if ray_address else log.segments,
        trials=trials,
        best=best.index,
        cluster={"address": ray_address} if ray_address else None,
    )


def _elsewhere(segment: Segment) -> Segment:
    """Return what is known of a segment whose trials ran on the user's Ray: its time."""
    known = Measurement(
        started_at=segment.measurement.started_at,
        wall_seconds=segment.measurement.wall_seconds,
        cpu_seconds=None,
        host_busy_cpu_seconds=None,
        exclusive=False,
        channels=[],
        flags=["elsewhere"],
        notes=["trials ran on a Ray cluster: their energy and CPU time were not measured"],
    )
    return segment.model_copy(update={"measurement": known})


def best_trials(tuning: Tuning, count: int) -> list[Trial]:
    """Return the best `count` trials, of different configurations; the earlier wins a tie.

    There are fewer where others diverged.
    """
    found: list[Trial] = [tuning.trials[tuning.best]]
    for trial in sorted(tuning.trials, key=lambda trial: (-trial.score, trial.index)):
        new = all(trial.configuration != other.configuration for other in found)
        if len(found) < count and new and trial.status != "failed":
            found.append(trial)
    return found


def _drawn(job: Job) -> Tuning:
    """Return a search of nothing: the first configuration that random search would try."""
    trial = Trial(
        index=0,
        configuration=random_configuration(job),
        rungs=[],
        status="drawn",
        progress=Progress(),
    )
    return Tuning(segments=[], trials=[trial], best=0)


def _training_run(
    job: Job, dataset: Dataset, best: Trial, plan: SubsetPlan, device: torch.device
) -> TrainingRun:
    """Return a new training run of the best configuration."""
    return TrainingRun(
        dataset,
        best.configuration,
        job.settings.protocol,
        plan,
        derive(job.run.seed, job.run.training_stream),
        take_device(device),
        job.settings.compute,
    )


def _restore_model(run: TrainingRun, best: Trial, work: WorkFolder) -> None:
    """Give `run` the model of the `best` trial; without a sound file it trains as that did."""
    model = read_model(work.model(best.index), best.progress.epochs)
    if model is not None:
        run.model.load_state_dict(model)
        return
    logger.warning("%s: trained again", work.model(best.index))
    run.train_to(best.progress.epochs)


def _test(model: Classifier, dataset: Dataset) -> Test:
    return Test(rows=len(dataset.test), **asdict(evaluate(model, dataset.test)))


def _describe(dataset: Dataset, path: Path) -> Data:
    return Data(
        sha256=sha256(path),
        classes=dataset.classes,
        counts=dataset.metadata["counts"],
        source=dataset.metadata["source"],
        read=dataset.metadata.get("read", []),
    )


def device_name(device: torch.device) -> str:
    """Return what a record calls the device: a GPU by its name."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
