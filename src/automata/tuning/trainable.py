"""A trial as Ray Tune sees it."""

from __future__ import annotations

import gc
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import torch
from ray import tune

from automata.config.job import Job
from automata.datasets.prepared import Dataset, read_dataset
from automata.seeds import derive
from automata.training.device import take_device
from automata.training.progress import Progress
from automata.training.run import TrainingRun
from automata.training.subsets import subset_plan
from automata.training.threads import limit_threads
from automata.tuning.checkpoints import (
    CheckpointStore,
    WorkFolder,
    memory_of_waiting_runs,
    write_model,
)
from automata.tuning.search import SCORE, scheduler_of


class TuneTrial(tune.Trainable):
    """Trains one configuration from rung to rung; one result per rung.

    Schedulers decide at rungs only, and a result costs milliseconds: the curve between rungs
    comes along inside the result. A trial that has diverged reports the worst score at its
    rungs without training, until the scheduler drops it.

    A trial that an interrupted process brought to a rung goes on from its checkpoint. Without
    one it trains to that rung once more, and keeps the results that it had.

    Runs that may pause are kept here and not in Ray's checkpoints: those cost a call to the
    worker and a folder each, to write and to read, although nearly always the same process
    goes on.

    A trial that takes over this process trains at once, on a thread: Ray asks for the step
    one call after it has handed the trial over.
    """

    def setup(self, config: dict[str, Any], job: str, data: str, device: str, work: str) -> None:
        """Build the training run of `config`; `job` is a Job in JSON, `data` a prepared file.

        It trains on the `device` that the job has, `cpu` or `cuda`. The folder `work` takes what
        must outlast this process.
        """
        self._job = Job.model_validate_json(job)
        self._data = data
        compute = self._job.settings.compute
        threads = compute.threads_per_trial
        # One thread for all work: the number of torch's threads is a property of each.
        self._worker = ThreadPoolExecutor(1, "training", limit_threads, (threads,))
        self._work = WorkFolder(Path(work))
        self._may_pause = scheduler_of(self._job).pauses
        # Not a step yet: the window opens when Ray hears that this process is ready.
        begun: Future[Any] = self._worker.submit(self._start, device, config)
        # What went wrong is raised by the first step: Ray keeps no more than the text of it here.
        self._ahead: Future[dict[str, Any]] | None = begun if begun.exception() else None
        gc.freeze()  # what is loaded stays: to look through it for garbage takes 0.2 s

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take over another trial in the same process."""
        self._ahead = self._worker.submit(self._begin_and_train, new_config)
        return True

    def step(self) -> dict[str, Any]:
        """Train to the next rung and evaluate there."""
        result = self._ahead or self._worker.submit(self._train)
        self._ahead = None
        return result.result()

    def cleanup(self) -> None:
        """Let the thread go."""
        self._worker.shutdown()

    def _start(self, device: str, config: dict[str, Any]) -> None:
        self._device = take_device(torch.device(device))
        alone = self._job.settings.compute.concurrent_trials == 1
        memory = memory_of_waiting_runs(self._device) if alone else 0
        self._checkpoints = CheckpointStore(self._work, memory)
        self._begin(config)

    def _begin_and_train(self, config: dict[str, Any]) -> dict[str, Any]:
        self._begin(config)
        return self._train()

    def _begin(self, config: dict[str, Any]) -> None:
        """Go on with the trial of `config` where it paused, or start it."""
        self._index: int = config["index"]
        self._rungs: list[int] = config["rungs"]
        self._configuration: dict[str, Any] = config["configuration"]
        logged: str | None = config["logged"]
        self._logged = Progress.model_validate_json(logged).evaluations if logged else []
        kept = self._checkpoints.take(self._index, self._build)
        self._training = kept or self._build()

    def _train(self) -> dict[str, Any]:
        training = self._training
        evaluations = training.progress.evaluations
        reached = max(len(evaluations), len(self._logged))
        for epoch in self._rungs[len(evaluations) : reached + 1]:
            training.train_to(epoch)
            training.evaluate()
        evaluations[: len(self._logged)] = self._logged
        if not self._job.run.trains_finally:
            write_model(self._work.model(self._index), training)
        if len(evaluations) < len(self._rungs):
            keep = self._checkpoints.put if self._may_pause else self._checkpoints.save
            keep(self._index, training)
        return {SCORE: training.progress.score, "progress": training.progress.model_dump_json()}

    def _build(self) -> TrainingRun:
        run, settings = self._job.run, self._job.settings
        return TrainingRun(
            load_data(self._data),
            self._configuration,
            settings.protocol,
            subset_plan(self._job),
            derive(run.seed, run.training_stream),
            self._device,
            settings.compute,
        )


@cache
def load_data(path: str) -> Dataset:
    """Return the prepared data set at `path`, read once per process."""
    return read_dataset(Path(path))
