"""The job that records learning curves: configurations trained one after the other, metered."""

from __future__ import annotations

import logging
from pathlib import Path

import torch

from automata.allocation import keep_to_allocation
from automata.config.inputs import FACTORY
from automata.config.protocol import OwnModel
from automata.curves.record import Curve, Curves, CurvesJob, Point, read_curves
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import UserError
from automata.files import Recorded, sha256
from automata.metering.gpus import gpu_models
from automata.metering.lock import exclusive_host
from automata.metering.measurement import Measurement
from automata.metering.meter import Meter
from automata.models.build import load_factory
from automata.provenance import numerics, provenance
from automata.records import read_as, write_record
from automata.registry import CONTROLS, OWN, load_own
from automata.seeds import derive
from automata.training.device import choose_device, gpus_in_use, take_device
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, build_selector
from automata.training.threads import limit_threads
from automata.tuning.checkpoints import WorkFolder
from automata.tuning.job import checked_module, device_name
from automata.tuning.searchers import RandomSearch

logger = logging.getLogger(__name__)


class Trained(Recorded):
    """What is kept of one configuration while others of its job train."""

    fingerprint: str
    """Of the job, the data and the code: anything else is of no use."""
    curve: Curve
    process: str
    measurement: Measurement
    """Of the process so far."""


def record_curves(job: CurvesJob, data: Path, folder: Path, output: Path) -> None:
    """Train the configurations of `job` on the prepared file `data`, and write `output`.

    Each that is finished is kept in `folder`, and is not trained again after an interruption. A
    process that is at the same job is waited for, and its record taken.
    """
    work = WorkFolder(folder)
    with work.only_worker() as waited:
        if waited and _is_record_of(output, job, data):
            logger.info("%s: another process has finished it", output)
        else:
            write_record(_recorded(job, data, folder), output)
        work.remove()


def _is_record_of(path: Path, job: CurvesJob, data: Path) -> bool:
    try:
        record = read_curves(path)
    except UserError:  # none, or damaged
        return False
    return record.job == job and record.data_sha256 == sha256(data)


def _recorded(job: CurvesJob, data: Path, folder: Path) -> Curves:
    """Return the record of `job`; what is finished of it is kept in `folder`."""
    keep_to_allocation(job.settings.compute)
    dataset = read_dataset(data)
    if dataset.name != job.dataset:
        raise UserError(f"{data}: is data set '{dataset.name}', not '{job.dataset}'")
    _check_own_files(job)
    compute, metering = job.settings.compute, job.settings.metering
    limit_threads(compute.threads_per_trial)
    device = take_device(choose_device(compute, dataset.kind))
    data_sha256 = sha256(data)
    here = {
        **provenance(job.selector),
        **numerics(),
        "device": device_name(device),
        "gpus": gpu_models([]),
    }
    key = f"{job.model_dump_json()} {data_sha256} {here['measurement']}"
    finished = {index: _kept(folder / f"{index}.json", key) for index in job.configurations}
    missing = [index for index, trained in finished.items() if trained is None]
    if missing:
        space = job.settings.protocol.search_space
        proposer = RandomSearch(space, job.settings.search, job.pool_seed)
        pool = [proposer.suggest(str(index)) for index in range(max(missing) + 1)]
        with exclusive_host(metering.exclusive):
            meter = Meter(
                sample_seconds=metering.sample_seconds,
                gpus=gpus_in_use(device),
                exclusive=metering.exclusive,
            )
            with meter:
                for index in missing:
                    curve = _train(job, dataset, index, pool[index], device)
                    so_far = meter.so_far()
                    trained = Trained(
                        fingerprint=key,
                        curve=curve,
                        process=str(so_far.started_at),
                        measurement=so_far,
                    )
                    write_record(trained, folder / f"{index}.json")
                    finished[index] = trained
    every = [trained for trained in finished.values() if trained is not None]
    return _combined(job, data_sha256, every, here)


def _check_own_files(job: CurvesJob) -> None:
    """Raise UserError if a file of the user's own methods or model is not that of the call."""
    model = job.settings.protocol.model
    if isinstance(model, OwnModel):
        load_factory(model)
        checked_module(model.factory, job.files.get(FACTORY), f"protocol.*.{FACTORY}")
    for kind, target in job.settings.own.items():
        key = f"{OWN[kind]}.{job.selector}"
        load_own(target, key)
        checked_module(target, job.files.get(key), key)


def _kept(path: Path, fingerprint: str) -> Trained | None:
    """Return what an interrupted process left of a configuration of the same job."""
    if not path.exists():
        return None
    try:
        trained = read_as(Trained, path, "trained again")
    except UserError as error:
        logger.warning("%s", error)
        return None
    return trained if trained.fingerprint == fingerprint else None


def _train(
    job: CurvesJob,
    dataset: Dataset,
    index: int,
    configuration: dict[str, object],
    device: torch.device,
) -> Curve:
    control, settings = CONTROLS.get(job.selector), job.settings
    selector = build_selector(job.selector, settings.own, **settings.selector.of(job.selector))
    run = TrainingRun(
        dataset,
        configuration,
        settings.protocol,
        SubsetPlan(selector, job.fraction, job.warm_start),
        derive(job.seed, (control or CONTROLS["full"]).stream),
        device,
        settings.compute,
    )
    points = []
    for epoch in job.epochs:
        run.train_to(epoch)
        if run.progress.epochs == epoch:
            run.evaluate()
            points.append(_point(run))
        if run.progress.failure is not None:
            break
    test = evaluate(run.model, run.data.test) if control is not None else None
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


def _combined(
    job: CurvesJob, data_sha256: str, trained: list[Trained], here: dict[str, object]
) -> Curves:
    """Return the record; of each process the longest measurement is of its last training."""
    segments: dict[str, Measurement] = {}
    for each in trained:
        known = segments.get(each.process)
        if known is None or known.wall_seconds < each.measurement.wall_seconds:
            segments[each.process] = each.measurement
    place = {process: number for number, process in enumerate(sorted(segments))}
    return Curves(
        job=job,
        data_sha256=data_sha256,
        curves=[each.curve.model_copy(update={"segment": place[each.process]}) for each in trained],
        segments=[segments[process] for process in sorted(segments)],
        provenance=here,
    )
