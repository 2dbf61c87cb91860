"""The search phase of a job in Ray Tune: it runs the trials that `search.Search` asks for."""

from __future__ import annotations

import logging
import math
import shutil
import time
from pathlib import Path
from typing import Any

import ray
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
from ray.tune.execution import class_cache
from ray.tune.execution.tune_controller import TuneController
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher, SearchGenerator

from automata.config.job import Job
from automata.metering.meter import Meter
from automata.training.device import gpus_in_use
from automata.training.progress import Progress
from automata.tuning.checkpoints import WorkFolder
from automata.tuning.log import ReplayLog
from automata.tuning.metering_callback import MeteringCallback
from automata.tuning.ray_cluster import users_ray
from automata.tuning.ray_session import gpu_share, local_ray
from automata.tuning.search import SCORE, Search
from automata.tuning.trainable import TuneTrial

# A folder of results that is soon removed is of no interest.
logging.getLogger("ray.tune.tune").setLevel(logging.WARNING)

# Every trial's last result is at hand; Ray also looks for the files of loggers that are off.
logging.getLogger("ray.tune.analysis.experiment_analysis").setLevel(logging.ERROR)

# A trial with an environment of its own could not have the worker that is ready.
class_cache.DEFAULT_ENV_VARS.clear()


class RaySearcher(Searcher):
    """Hands Ray the trials of a search that it does not have yet, when a slot is free."""

    def __init__(self, search: Search, progress: dict[int, Progress]) -> None:
        """Take what the log says of trials that go on."""
        super().__init__(metric=SCORE, mode="max")
        self._search = search
        self._progress = progress
        self._handed_out: set[int] = set()

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any
    ) -> bool:
        """Accept Tune's metric: it is the one that the search has."""
        return True

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """Return a trial, None while there is none, FINISHED after the last.

        The search counts as finished only when all trials have ended: Ray ends the process of
        a trial that pauses after that, and every one that goes on would pay for a new one.
        """
        if self._search.finished:
            return str(Searcher.FINISHED)
        trial = self._search.upcoming()
        if trial is None or trial.index in self._handed_out:
            self._search.prepare()  # while others train
            return None
        self._search.start(trial.index)
        self._handed_out.add(trial.index)
        progress = self._progress.get(trial.index)
        return {
            "index": trial.index,
            "rungs": trial.rungs,
            "configuration": trial.configuration,
            "logged": progress.model_dump_json() if progress else None,
        }

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Do nothing: the search has judged the trial, and hears of its end from nobody else."""

    def save(self, checkpoint_path: str) -> None:
        """Keep no state: a restart goes on from the log."""

    def restore(self, checkpoint_path: str) -> None:
        """Restore no state."""


class LightTrial(Trial):
    """A trial whose worker is asked for nothing but to train: 0.2 s, 8 % of the default window.

    Ray asks it for host and process, twice per start, which it does while it trains.
    """

    def set_ray_actor(self, ray_actor: Any) -> None:
        """Note the actor."""
        self.temporary_state.ray_actor = ray_actor


class LightTrials(SearchGenerator):
    """Makes light trials of what a searcher suggests."""

    def create_trial_if_possible(self, experiment_spec: dict[str, Any]) -> Trial | None:
        """Return a trial of the next suggestion, None while there is none."""
        trial_id = Trial.generate_id()
        suggestion = self.searcher.suggest(trial_id)
        if suggestion == Searcher.FINISHED:
            self.set_finished()
        if not isinstance(suggestion, dict):
            return None
        return LightTrial(
            experiment_spec["run"],
            config=suggestion,
            trial_id=trial_id,
            experiment_tag=str(suggestion["index"]),
            storage=experiment_spec["storage"],
            checkpoint_config=experiment_spec["checkpoint_config"],
        )


class RayScheduler(FIFOScheduler):
    """Lets Ray continue, pause and stop trials as a search judges them.

    Trials pause without a checkpoint of Ray's: they keep their state themselves.
    """

    def __init__(self, search: Search, work: WorkFolder, seconds: float = math.inf) -> None:
        """Let `search` run for so many seconds from the start of its first trial's training."""
        super().__init__()
        self._search = search
        self._work = work
        self._trials: dict[int, Trial] = {}
        self._seconds = seconds
        self._started_at = 0.0

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """Take note of `trial`."""
        if not self._trials and self._search.slots > 1:
            _keep_workers(tune_controller._tune_controller, trial, self._search.slots)
        self._trials[trial.config["index"]] = trial

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Judge the result, and stop those that wait and are out."""
        index, best_before = trial.config["index"], self._search.best
        verdict = self._search.report(index, result[SCORE])
        ends = [*verdict.ends]
        if not self._started_at:  # the first result: Ray says how long its trial has trained
            self._started_at = time.monotonic() - result["time_total_s"]
        if time.monotonic() - self._started_at >= self._seconds:
            ends += self._search.stop()
        for ended in ends:
            if ended != index and ended in self._trials:
                tune_controller.stop_trial(self._trials[ended])
        self._remove_files([*ends, *([best_before.index] if best_before else [])])
        if index in ends:
            return str(TrialScheduler.STOP)
        if index in verdict.goes_on:
            self._search.start(index)
            return str(TrialScheduler.CONTINUE)
        tune_controller.pause_trial(trial, should_checkpoint=False)
        return str(TrialScheduler.NOOP)

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        """Return the trial that goes on next, None while no slot is free."""
        upcoming = self._search.upcoming()
        if upcoming is None or upcoming.index not in self._trials:
            return None
        self._search.start(upcoming.index)
        return self._trials[upcoming.index]

    def _remove_files(self, ended: list[int]) -> None:
        """Keep of trials that have ended no checkpoint, and of models only the best one."""
        best = self._search.best
        for index in ended:
            for checkpoint in self._work.checkpoints(index):
                checkpoint.path.unlink(missing_ok=True)
            if best is None or index != best.index:
                self._work.model(index).unlink(missing_ok=True)


def _keep_workers(controller: TuneController, trial: Trial, slots: int) -> None:
    """Have Ray start `slots` workers, and keep them.

    It ends a worker that starts for a trial where another one is free before: trials that are
    shorter than a start, which takes seconds, would train one after another, and pay for a start
    each.
    """
    reuse = controller._maybe_reuse_cached_actor
    controller._maybe_reuse_cached_actor = lambda trial: (
        trial not in controller._trial_to_actor and reuse(trial)
    )
    controller._actor_cache.increase_max(trial.placement_group_factory, slots)
    controller.update_max_pending_trials(slots)


def search_in_ray(
    job: Job,
    data: Path,
    work: WorkFolder,
    search: Search,
    log: ReplayLog,
    provenance: dict[str, Any],
    device: torch.device,
    ray_address: str | None,
    seconds: float = math.inf,
) -> None:
    """Bring `search` to its end on the prepared file `data`, and `log` with it.

    It ends after so many `seconds` at the latest, but for trials on their way to a rung. Trials
    run in a Ray of this job's own, or in the user's at `ray_address`, on the kind of `device` that
    the job has. Of FULL the best trial's model stays in `work`. Raises RuntimeError when a
    trial crashed.
    """
    compute = job.settings.compute
    shutil.rmtree(work.ray, ignore_errors=True)
    used = gpus_in_use(device, compute.gpus)
    own = local_ray(compute.concurrent_trials, len(used))
    meter = Meter(gpus=used, **dict(job.settings.metering))
    callback = MeteringCallback(meter, search, log, work, provenance)
    try:
        with users_ray(ray_address, work.path) if ray_address else own as callback.begun_at:
            gpus = ray.cluster_resources().get("GPU", 0) if device.type == "cuda" else 0
            share = gpu_share(compute, int(gpus))
            trainable = tune.with_parameters(
                TuneTrial,
                job=job.model_dump_json(),
                data=str(data.resolve()),
                device=device.type,
                work=str(work.path.resolve()),
            )
            cpus = compute.threads_per_trial if ray_address else 1
            resources = PlacementGroupFactory([{"CPU": cpus, "GPU": share}])
            results = tune.Tuner(
                tune.with_resources(trainable, resources),
                tune_config=TuneConfig(
                    metric=SCORE,
                    mode="max",
                    search_alg=LightTrials(RaySearcher(search, log.latest)),
                    scheduler=RayScheduler(search, work, seconds),
                    num_samples=-1,  # the search says when it is finished
                    reuse_actors=True,
                ),
                run_config=RunConfig(
                    name="tune",
                    storage_path=str(work.ray.resolve()),
                    callbacks=[callback],
                    verbose=0,
                    failure_config=FailureConfig(fail_fast=True),
                    checkpoint_config=CheckpointConfig(checkpoint_at_end=False),
                ),
            ).fit()
        callback.close()
    finally:
        callback.stop()
    _raise_for_crashes(results)


def _raise_for_crashes(results: ResultGrid) -> None:
    """Raise for trials that crashed: unlike a divergence, that is no result."""
    if results.num_errors:
        error: object = results.errors[0]  # not always an exception
        cause = error if isinstance(error, BaseException) else None
        raise RuntimeError(f"{results.num_errors} trials crashed; the first: {error}") from cause
