"""The trials of a job in Ray Tune: `search.Search` decides, and Ray only runs them."""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
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
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import SearchAlgorithm

from automata.records.progress import Progress
from automata.search.finalists import FinalSearch
from automata.search.schedulers import Verdict
from automata.search.search import SearchTrial
from automata.training.device import gpus_in_use
from automata.tuning.context import JobContext
from automata.tuning.live import LivePhase
from automata.tuning.ray_errors import translated
from automata.tuning.ray_private import keep_workers
from automata.tuning.ray_session import gpu_share, local_ray
from automata.tuning.trainable import TuneTrial
from automata.tuning.work import WorkFolder

# Ray prints the path of its results, which the job removes.
logging.getLogger("ray.tune.tune").setLevel(logging.WARNING)

# Ray warns that its loggers wrote no files: they are off.
logging.getLogger("ray.tune.analysis.experiment_analysis").setLevel(logging.ERROR)

# Ray warns that processes may outlive a crash, but the Ray of a job ends with the job.
warnings.filterwarnings("ignore", "fail_fast='raise' detected")


class Stage(Callback):
    """The phase of a job that trains, shared by the classes that Ray calls."""

    def __init__(self, phases: Iterator[LivePhase], first: LivePhase) -> None:
        self._phases = phases
        self.live = first
        self.trials: dict[int, Trial] = {}
        """Ray's trials of this phase."""

    def __getstate__(self) -> dict[str, object]:
        """Return no state: Ray Tune pickles this object, but a restart reads the logs only."""
        return {}

    def on_trial_start(self, **_: object) -> None:
        """Open the window of the phase: the first trial's process is ready."""
        self.live.open()

    def report(self, index: int, result: dict[str, Any]) -> Verdict:
        """Log and judge a result of `TuneTrial`; begin the next phase after the last one."""
        progress = Progress.model_validate_json(result["progress"])
        verdict = self.live.report(index, progress, result["saved"])
        if self.live.search.finished and (following := next(self._phases, None)):
            self.live, self.trials = following, {}
            following.open()  # a worker is there: Ray has none to start before it trains
        return verdict


class RayTrials(SearchAlgorithm):
    """Gives Ray each trial of a phase once, when a slot is free."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def add_configurations(self, experiments: Any) -> None:
        """Store the settings of trials."""
        (experiment,) = experiments
        self._spec = experiment.spec

    def next_trial(self) -> Trial | None:
        """Return a new trial; None if no slot is free, no trial waits or a paused one is next."""
        stage, search = self._stage, self._stage.live.search
        trial = search.upcoming()
        if trial is None or trial.index in stage.trials:
            search.prepare()  # while other trials train
            return None
        search.start(trial.index)
        stage.trials[trial.index] = Trial(
            self._spec["run"],
            config=worker_config(trial, stage.live),
            experiment_tag=f"{stage.live.folder.path.name} {trial.index}",
            storage=self._spec["storage"],
            checkpoint_config=self._spec["checkpoint_config"],
        )
        return stage.trials[trial.index]

    def is_finished(self) -> bool:
        """Return whether all trials have ended: Ray then ends the process of a pausing trial."""
        return self._stage.live.search.finished


def worker_config(trial: SearchTrial, live: LivePhase) -> dict[str, Any]:
    """Return the `config` of `TuneTrial`: a trial of a phase, and what the log has of it."""
    search, logged = live.search, live.latest.get(trial.index)
    return {
        "folder": str(live.folder.path.resolve()),
        "pauses": search.pauses,
        "index": trial.index,
        "rungs": trial.rungs,
        "compared": search.compared if isinstance(search, FinalSearch) else None,
        "configuration": trial.configuration,
        "reached": trial.reached,
        "checkpoint": live.checkpoints.get(trial.index),
        "logged": logged.model_dump_json() if logged else None,
    }


class RayScheduler(FIFOScheduler):
    """Lets Ray continue, pause and stop trials as a search judges them."""

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self._stage = stage
        self._keeps_workers = False

    def on_trial_add(self, tune_controller: Any, trial: Trial) -> None:
        """With the first trial, have Ray keep a worker for each slot."""
        slots = self._stage.live.search.slots
        if not self._keeps_workers and slots > 1:
            keep_workers(tune_controller, trial, slots)
        self._keeps_workers = True

    def on_trial_result(self, tune_controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Judge the result; stop the paused trials that it ends."""
        index, live, trials = trial.config["index"], self._stage.live, self._stage.trials
        if "progress" not in result:
            live.saved(index, result["epoch"])
            return str(TrialScheduler.CONTINUE)
        verdict = self._stage.report(index, result)
        for ended in verdict.ends:
            if ended != index and ended in trials:
                tune_controller.stop_trial(trials[ended])
        if index in verdict.ends:
            return str(TrialScheduler.STOP)
        if index in verdict.goes_on:
            live.search.start(index)
            return str(TrialScheduler.CONTINUE)
        tune_controller.pause_trial(trial, should_checkpoint=False)  # `TuneTrial` keeps its own
        return str(TrialScheduler.NOOP)

    def choose_trial_to_run(self, tune_controller: Any) -> Trial | None:
        """Return the paused trial that goes on next; None if there is none or no slot is free."""
        live = self._stage.live
        upcoming = live.search.upcoming()
        if upcoming is None or upcoming.index not in self._stage.trials:
            return None
        live.search.start(upcoming.index)
        trial = self._stage.trials[upcoming.index]
        trial.set_config(worker_config(upcoming, live))
        return trial


def train_in_ray(context: JobContext, work: WorkFolder, phases: Iterator[LivePhase]) -> None:
    """Finish the `phases` in a Ray of this job, or in the user's that the `context` is on.

    Raises the error of the first trial that crashes; a training that diverges is a result.
    """
    first = next(phases, None)
    if first is None:
        return
    compute = context.job.settings.compute
    shutil.rmtree(work.ray, ignore_errors=True)
    gpus = len(gpus_in_use(context.device, compute.gpus))
    in_ray = nullcontext() if context.ray_address else local_ray(compute.concurrent_trials, gpus)
    with translated(), in_ray:
        on_gpu = context.trials_on == "cuda"
        share = gpu_share(compute, int(ray.cluster_resources().get("GPU", 0)) if on_gpu else 0)
        trainable = tune.with_parameters(
            TuneTrial,
            job=context.job.model_dump_json(),
            data=str(context.data.resolve()),
            device=context.trials_on,
        )
        cpus = compute.threads_per_trial if context.ray_address else 1
        resources = PlacementGroupFactory([{"CPU": cpus, "GPU": share}])
        stage = Stage(phases, first)
        tune.Tuner(
            tune.with_resources(trainable, resources),
            tune_config=TuneConfig(
                search_alg=RayTrials(stage), scheduler=RayScheduler(stage), reuse_actors=True
            ),
            run_config=RunConfig(
                name="tune",
                storage_path=str(work.ray.resolve()),
                callbacks=[stage],
                verbose=0,
                failure_config=FailureConfig(fail_fast="raise"),
                checkpoint_config=CheckpointConfig(checkpoint_at_end=False),
            ),
        ).fit()
