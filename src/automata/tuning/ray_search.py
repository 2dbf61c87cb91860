"""The trials of a search in Ray Tune: `search.Search` decides, and Ray only runs them."""

from __future__ import annotations

import logging
import shutil
import warnings
from typing import Any

import ray
from ray import tune
from ray.tune import (
    Callback,
    CheckpointConfig,
    FailureConfig,
    PlacementGroupFactory,
    RunConfig,
    TuneConfig,
)
from ray.tune.execution import class_cache
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import SearchAlgorithm

from automata.training.device import gpus_in_use
from automata.training.progress import Progress
from automata.tuning.context import JobContext
from automata.tuning.live import LiveSearch
from automata.tuning.ray_session import gpu_share, local_ray, users_ray
from automata.tuning.search import SearchTrial
from automata.tuning.trainable import TuneTrial

# Ray prints the path of its results, which the job removes.
logging.getLogger("ray.tune.tune").setLevel(logging.WARNING)

# Ray warns that its loggers wrote no files: they are off.
logging.getLogger("ray.tune.analysis.experiment_analysis").setLevel(logging.ERROR)

# Ray warns that processes may outlive a crash, but the Ray of a job ends with the job.
warnings.filterwarnings("ignore", "fail_fast='raise' detected")

# With environment variables of its own, a trial would wait 3 s for a new worker.
class_cache.DEFAULT_ENV_VARS.clear()


class WindowOpener(Callback):
    """Opens the window of a search when Ray says that the first trial's process is ready."""

    def __init__(self, live: LiveSearch) -> None:
        self._live = live

    def on_trial_start(self, **_: object) -> None:
        """Open the window."""
        self._live.open()


class LightTrial(Trial):
    """A trial that does not ask its worker for host and process, which takes 0.2 s per start."""

    def set_ray_actor(self, ray_actor: Any) -> None:
        """Store the actor."""
        self.temporary_state.ray_actor = ray_actor


class RayTrials(SearchAlgorithm):
    """Gives Ray each trial of a search once, when a slot is free."""

    def __init__(self, live: LiveSearch) -> None:
        self._search = live.search
        self._logged = live.log.latest
        self._given: set[int] = set()

    def add_configurations(self, experiments: Any) -> None:
        """Store the settings of trials."""
        (experiment,) = experiments
        self._spec = experiment.spec

    def next_trial(self) -> Trial | None:
        """Return a new trial; None if no slot is free, no trial waits or a paused one is next."""
        trial = self._search.upcoming()
        if trial is None or trial.index in self._given:
            self._search.prepare()  # while other trials train
            return None
        self._search.start(trial.index)
        self._given.add(trial.index)
        return LightTrial(
            self._spec["run"],
            config=worker_config(trial, self._logged.get(trial.index)),
            experiment_tag=str(trial.index),
            storage=self._spec["storage"],
            checkpoint_config=self._spec["checkpoint_config"],
        )

    def is_finished(self) -> bool:
        """Return whether all trials have ended: Ray then ends the process of a pausing trial."""
        return self._search.finished


def worker_config(trial: SearchTrial, logged: Progress | None) -> dict[str, Any]:
    """Return the `config` of `TuneTrial`: a trial, and its progress in the log."""
    return {
        "index": trial.index,
        "rungs": trial.rungs,
        "configuration": trial.configuration,
        "logged": logged.model_dump_json() if logged else None,
    }


class RayScheduler(FIFOScheduler):
    """Lets Ray continue, pause and stop trials as a search judges them."""

    def __init__(self, live: LiveSearch) -> None:
        super().__init__()
        self._live = live
        self._search = live.search
        self._trials: dict[int, Trial] = {}

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """Store the trial; with the first one, have Ray keep a worker for each slot.

        By default Ray keeps one idle worker. A trial whose own worker is still starting gets it,
        and Ray ends the other. A start takes 3 s, so shorter trials would run one after the other.
        """
        if not self._trials and self._search.slots > 1:
            controller = tune_controller._tune_controller
            reuse = controller._maybe_reuse_cached_actor
            controller._maybe_reuse_cached_actor = lambda trial: (
                trial not in controller._trial_to_actor and reuse(trial)
            )
            controller._actor_cache.increase_max(trial.placement_group_factory, self._search.slots)
            controller.update_max_pending_trials(self._search.slots)
        self._trials[trial.config["index"]] = trial

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Judge the result; stop the paused trials that it ends."""
        index = trial.config["index"]
        verdict = self._live.report(index, Progress.model_validate_json(result["progress"]))
        for ended in verdict.ends:
            if ended != index and ended in self._trials:
                tune_controller.stop_trial(self._trials[ended])
        if index in verdict.ends:
            return str(TrialScheduler.STOP)
        if index in verdict.goes_on:
            self._search.start(index)
            return str(TrialScheduler.CONTINUE)
        tune_controller.pause_trial(trial, should_checkpoint=False)  # `TuneTrial` keeps its own
        return str(TrialScheduler.NOOP)

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        """Return the paused trial that goes on next; None if there is none or no slot is free."""
        upcoming = self._search.upcoming()
        if upcoming is None or upcoming.index not in self._trials:
            return None
        self._search.start(upcoming.index)
        return self._trials[upcoming.index]


def search_in_ray(context: JobContext, live: LiveSearch, ray_address: str | None) -> None:
    """Finish the search in a Ray of this job, or in the user's at `ray_address`.

    Raises the error of the first trial that crashes; a training that diverges is a result.
    """
    compute, work = context.job.settings.compute, live.work
    shutil.rmtree(work.ray, ignore_errors=True)
    if ray_address:
        session = users_ray(ray_address, work.path)
    else:
        gpus = len(gpus_in_use(context.device, compute.gpus))
        session = local_ray(compute.concurrent_trials, gpus)
    with session:
        on_gpu = context.device.type == "cuda"
        share = gpu_share(compute, int(ray.cluster_resources().get("GPU", 0)) if on_gpu else 0)
        trainable = tune.with_parameters(
            TuneTrial,
            job=context.job.model_dump_json(),
            data=str(context.data.resolve()),
            device=context.device.type,
            work=str(work.path.resolve()),
        )
        cpus = compute.threads_per_trial if ray_address else 1
        resources = PlacementGroupFactory([{"CPU": cpus, "GPU": share}])
        tune.Tuner(
            tune.with_resources(trainable, resources),
            tune_config=TuneConfig(
                search_alg=RayTrials(live), scheduler=RayScheduler(live), reuse_actors=True
            ),
            run_config=RunConfig(
                name="tune",
                storage_path=str(work.ray.resolve()),
                callbacks=[WindowOpener(live)],
                verbose=0,
                failure_config=FailureConfig(fail_fast="raise"),
                checkpoint_config=CheckpointConfig(checkpoint_at_end=False),
            ),
        ).fit()
