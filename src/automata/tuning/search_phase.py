"""The search phase of a job: trials under a search algorithm and a scheduler, in Ray Tune."""

from __future__ import annotations

import gc
import logging
import shutil
import threading
import time
from pathlib import Path

import torch
from ray import tune
from ray.tune import (
    Callback,
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
from automata.metering.elsewhere import Stopwatch
from automata.metering.meter import Meter
from automata.records import Trial, Tuning
from automata.registry import load
from automata.training.device import choose_device, visible_gpus
from automata.training.progress import Progress
from automata.tuning import SCHEDULERS, SEARCHES
from automata.tuning.keys import SCORE
from automata.tuning.ray_cluster import join_cluster
from automata.tuning.ray_session import gpu_share, local_ray
from automata.tuning.schedulers import TuningScheduler
from automata.tuning.search import PatientSearch, domains
from automata.tuning.trainable import WEIGHTS, TuneTrial
from automata.tuning.trials import EarlyTrials

BEST_WEIGHTS = "best_trial.pt"


class MeterWindow(Callback):
    """Holds the meter open from the first trial's start to the last one's end.

    When Ray says that a trial has started, its process has imported and loaded everything.
    """

    def __init__(self, meter: Meter | Stopwatch, trials: int) -> None:
        self._meter = meter
        self._left = trials
        self._preparation = threading.Thread(target=self._prepare, name="prepare", daemon=True)
        self.opened_at: float | None = None

    def __getstate__(self) -> dict[str, object]:
        """Leave the meter out of the state that Tune saves: a window is of one process."""
        return {}

    def setup(self, *_: object, **__: object) -> None:
        """Do, while the first trial's process starts, what this process has to do anyway."""
        self._preparation.start()

    def _prepare(self) -> None:
        self._meter.prepare()

    def on_trial_start(self, **_: object) -> None:
        """Open the window, once."""
        if self.opened_at is None:
            self._preparation.join()
            # Python would look through all that is loaded for garbage: 0.3 s in some windows.
            gc.freeze()
            self.opened_at = time.perf_counter()
            self._meter.__enter__()

    def on_trial_complete(self, **_: object) -> None:
        """Close the window after the last trial."""
        self._left -= 1
        if self._left == 0:
            self._meter.__exit__(None, None, None)


# Every trial's last result is at hand; Ray also looks for the files of loggers that are off.
logging.getLogger("ray.tune.analysis.experiment_analysis").setLevel(logging.ERROR)


def run_search(job: Job, data: Path, work: Path, ray_address: str | None = None) -> Tuning:
    """Search the best configuration of `job` on the prepared file `data`.

    Ray's state, and for FULL the best trial's weights (`BEST_WEIGHTS`), go into the folder `work`.
    Trials run in a Ray of this job's own, or on the cluster at `ray_address`.
    Raises UserError when every trial diverged, and RuntimeError when one crashed.
    """
    start = time.perf_counter()
    run, settings = job.run, job.settings
    protocol, compute = settings.protocol, settings.compute
    slots = compute.concurrent_trials
    scheduler: TuningScheduler = load(SCHEDULERS, run.scheduler)(
        protocol.configurations, protocol.epochs, slots, settings.scheduler
    )
    space = domains(protocol.search_space)
    search = load(SEARCHES, run.search)(space, settings.search, run.seed)
    folder = work.resolve() / "ray"
    shutil.rmtree(folder, ignore_errors=True)
    cluster = join_cluster(ray_address, compute, data, work) if ray_address else None
    gpus = cluster.gpus if cluster else _gpus(compute)
    share = gpu_share(compute, gpus)
    meter = cluster.meter() if cluster else _meter(settings.metering, gpus)
    window = MeterWindow(meter, protocol.configurations)
    with cluster or local_ray(slots * compute.threads_per_trial, gpus):
        trainable = tune.with_parameters(
            TuneTrial, job=job.model_dump_json(), data=str(data.resolve()), work=str(folder)
        )
        resources = PlacementGroupFactory([{"CPU": compute.threads_per_trial, "GPU": share}])
        results = tune.Tuner(
            tune.with_resources(trainable, resources),
            tune_config=TuneConfig(
                metric=SCORE,
                mode="max",
                search_alg=EarlyTrials(
                    PatientSearch(search, scheduler, protocol.configurations, slots),
                    scheduler,
                    slots,
                    resources,
                ),
                scheduler=scheduler.ray,
                num_samples=-1,  # the search says when it is finished
                reuse_actors=True,
            ),
            run_config=RunConfig(
                name="tune",
                storage_path=str(folder),
                callbacks=[window, *([cluster.places] if cluster else [])],
                verbose=0,
                failure_config=FailureConfig(fail_fast=True),
                checkpoint_config=CheckpointConfig(checkpoint_at_end=False),
            ),
        ).fit()
    _raise_for_crashes(results)
    assert window.opened_at is not None, "a search with results has started a trial"
    trials = _trials(results)
    best = max(trials, key=lambda trial: (trial.score, -trial.index))
    if best.status == "failed":
        raise UserError(
            f"all {len(trials)} trials diverged; the first: {trials[0].progress.failure}"
        )
    if not run.trains_finally:
        weights = folder / "weights" / WEIGHTS.format(index=best.index)
        weights.replace(work / BEST_WEIGHTS)
    return Tuning(
        measurement=meter.measurement,
        setup_seconds=window.opened_at - start,
        trials=trials,
        best=best.index,
        cluster=cluster.recorded() if cluster else None,
    )


def load_best_weights(work: Path) -> dict[str, torch.Tensor]:
    """Return the model state of the best trial, which `run_search` kept for FULL."""
    state: dict[str, torch.Tensor] = torch.load(work / BEST_WEIGHTS, weights_only=True)
    return state


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
        trials.append(Trial.model_validate({**config, "status": status, "progress": progress}))
    return sorted(trials, key=lambda trial: trial.index)


def _raise_for_crashes(results: ResultGrid) -> None:
    """Raise for trials that crashed: unlike a divergence, that is no result."""
    if results.num_errors:
        error: object = results.errors[0]  # not always an exception
        cause = error if isinstance(error, BaseException) else None
        raise RuntimeError(f"{results.num_errors} trials crashed; the first: {error}") from cause
