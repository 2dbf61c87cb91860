"""The search phase of a job: trials under a search algorithm and a scheduler, in Ray Tune."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import NamedTuple

import torch
from ray import tune
from ray.tune import (
    CheckpointConfig,
    FailureConfig,
    PlacementGroupFactory,
    ResultGrid,
    RunConfig,
    TuneConfig,
)

from automata.config import Job
from automata.config.machine import Compute, Metering
from automata.errors import UserError
from automata.metering.meter import Meter
from automata.records import Trial, Tuning
from automata.registry import load
from automata.training.device import choose_device, visible_gpus
from automata.training.progress import Progress
from automata.tuning import SCHEDULERS, SEARCHES
from automata.tuning.cleaner import Cleaner
from automata.tuning.history import Deliveries, History
from automata.tuning.keys import SCORE
from automata.tuning.ledger import Ledger
from automata.tuning.ray_cluster import join_cluster
from automata.tuning.ray_session import gpu_share, local_ray
from automata.tuning.schedulers import TuningScheduler
from automata.tuning.search import PatientSearch, domains
from automata.tuning.trainable import TuneTrial
from automata.tuning.trials import EarlyTrials
from automata.tuning.work import WorkFolder

# A folder of results that is soon removed is of no interest.
logging.getLogger("ray.tune.tune").setLevel(logging.WARNING)

# Every trial's last result is at hand; Ray also looks for the files of loggers that are off.
logging.getLogger("ray.tune.analysis.experiment_analysis").setLevel(logging.ERROR)


class Searched(NamedTuple):
    """A finished search."""

    tuning: Tuning
    peak_disk_bytes: int


def run_search(
    job: Job, data: Path, work: WorkFolder, history: History, ray_address: str | None = None
) -> Searched:
    """Search the best configuration of `job` on the prepared file `data`.

    Results of `history` are taken as they are, new ones go into the journal of `work`, and of
    FULL the best trial's model stays there. Trials run in a Ray of this job's own, or on the
    cluster at `ray_address`. Raises UserError when every trial diverged, and
    RuntimeError when one crashed.
    """
    run, settings = job.run, job.settings
    protocol, compute = settings.protocol, settings.compute
    slots = compute.concurrent_trials
    scheduler: TuningScheduler = load(SCHEDULERS, run.scheduler)(
        protocol.configurations, protocol.epochs, slots, settings.scheduler
    )
    space = domains(protocol.search_space)
    search = load(SEARCHES, run.search)(space, settings.search, run.seed)
    Deliveries(work.deliveries).clear()
    shutil.rmtree(work.ray, ignore_errors=True)
    cluster = join_cluster(ray_address, compute, data, work.path) if ray_address else None
    gpus = cluster.gpus if cluster else _gpus(compute)
    share = gpu_share(compute, gpus)
    meter = cluster.meter() if cluster else _meter(settings.metering, gpus)
    if cluster:
        cluster.places.recall(history)
    ledger = Ledger(meter, work, protocol.configurations)
    try:
        with cluster or local_ray(slots * compute.threads_per_trial, gpus):
            trainable = tune.with_parameters(
                TuneTrial,
                job=job.model_dump_json(),
                data=str(data.resolve()),
                work=str(work.path.resolve()),
            )
            resources = PlacementGroupFactory([{"CPU": compute.threads_per_trial, "GPU": share}])
            proposals = PatientSearch(search, scheduler, protocol.configurations, slots, history)
            results = tune.Tuner(
                tune.with_resources(trainable, resources),
                tune_config=TuneConfig(
                    metric=SCORE,
                    mode="max",
                    search_alg=EarlyTrials(proposals, scheduler, slots, resources),
                    scheduler=scheduler.ray,
                    num_samples=-1,  # the search says when it is finished
                    reuse_actors=True,
                ),
                run_config=RunConfig(
                    name="tune",
                    storage_path=str(work.ray.resolve()),
                    callbacks=[ledger, Cleaner(work), *([cluster.places] if cluster else [])],
                    verbose=0,
                    failure_config=FailureConfig(fail_fast=True),
                    checkpoint_config=CheckpointConfig(checkpoint_at_end=False),
                ),
            ).fit()
        ledger.close()
    finally:
        ledger.stop()
    _raise_for_crashes(results)
    trials = _trials(results)
    best = max(trials, key=lambda trial: (trial.score, -trial.index))
    if best.status == "failed":
        raise UserError(
            f"all {len(trials)} trials diverged; the first: {trials[0].progress.failure}"
        )
    segments = [*history.segments, *([ledger.segment] if ledger.segment else [])]
    tuning = Tuning(
        segments=segments,
        trials=trials,
        best=best.index,
        cluster=cluster.recorded() if cluster else None,
    )
    return Searched(tuning, ledger.peak_disk_bytes)


def _gpus(compute: Compute) -> int:
    """Return the GPUs of this host that trials may use."""
    return torch.cuda.device_count() if choose_device(compute.device).type == "cuda" else 0


def _meter(metering: Metering, gpus: int) -> Meter:
    return Meter(
        sample_seconds=metering.sample_seconds,
        gpus=visible_gpus() if gpus else [],
        exclusive=metering.exclusive,
    )


def _trials(results: ResultGrid) -> list[Trial]:
    trials = []
    for result in results:
        config, metrics = result.config or {}, result.metrics or {}
        progress = Progress.model_validate_json(metrics["progress"])
        if progress.failure is not None:
            status = "failed"
        else:
            status = "completed" if progress.epochs == config["rungs"][-1] else "stopped"
        proposed = {name: value for name, value in config.items() if name != "known"}
        trials.append(Trial.model_validate({**proposed, "status": status, "progress": progress}))
    return sorted(trials, key=lambda trial: trial.index)


def _raise_for_crashes(results: ResultGrid) -> None:
    """Raise for trials that crashed: unlike a divergence, that is no result."""
    if results.num_errors:
        error: object = results.errors[0]  # not always an exception
        cause = error if isinstance(error, BaseException) else None
        raise RuntimeError(f"{results.num_errors} trials crashed; the first: {error}") from cause
