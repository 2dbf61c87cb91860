"""A trial as Ray Tune sees it."""

from __future__ import annotations

import gc
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch
from ray import tune

from automata.config.job import Job
from automata.datasets.prepared import read_dataset
from automata.training.device import limit_threads, take_device
from automata.training.progress import Progress
from automata.training.subsets import subset_plan
from automata.tuning.context import training_run
from automata.tuning.search import scheduler_of
from automata.tuning.work import (
    CheckpointStore,
    WorkFolder,
    memory_of_paused_runs,
    write_checkpoint,
)


class TuneTrial(tune.Trainable):
    """Trains one configuration from rung to rung; reports one result per rung.

    A trial that has diverged or is out of patience reports its score until the scheduler ends it.
    A trial with results in the log resumes from its checkpoint. Without one it trains again to its
    last logged rung, keeps the logged results, and reports the next rung.
    """

    def setup(self, config: dict[str, Any], job: str, data: str, device: str, work: str) -> None:
        """Build the training run of `config` (`ray_search.worker_config`).

        `job` is a Job in JSON, `data` a prepared file, `device` `cpu` or `cuda`.
        """
        self._job = Job.model_validate_json(job)
        threads = self._job.settings.compute.threads_per_trial
        # One thread trains all trials: torch's limit of threads holds for the thread that sets it.
        self._worker = ThreadPoolExecutor(1, "training", limit_threads, (threads,))
        self._work = WorkFolder(Path(work))  # each checkpoint of Ray would cost a call and a folder
        self._may_pause = scheduler_of(self._job).pauses
        # Only build the run: the window opens later, when Ray knows that this process is ready.
        begun: Future[Any] = self._worker.submit(self._start, data, device, config)
        # The first step raises an error of `_start`. From `setup`, Ray would pass on its text only.
        self._ahead: Future[dict[str, Any]] | None = begun if begun.exception() else None
        gc.freeze()  # garbage collection of all loaded objects would take 0.2 s

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take over another trial; train at once, as Ray asks for the step only one call later."""
        self._ahead = self._worker.submit(self._train, new_config)
        return True

    def step(self) -> dict[str, Any]:
        """Train to the next rung and evaluate there."""
        result = self._ahead or self._worker.submit(self._train)
        self._ahead = None
        return result.result()

    def cleanup(self) -> None:
        """End the thread."""
        self._worker.shutdown()

    def _start(self, data: str, device: str, config: dict[str, Any]) -> None:
        self._dataset = read_dataset(Path(data))
        self._device = take_device(torch.device(device))
        # With several workers, any of them may resume a paused trial, and only from a file.
        alone = self._job.settings.compute.concurrent_trials == 1
        memory = memory_of_paused_runs(self._device) if alone else 0
        self._checkpoints = CheckpointStore(self._work, memory)
        self._begin(config)

    def _begin(self, config: dict[str, Any]) -> None:
        """Resume the trial of `config`, or start it."""
        self._index: int = config["index"]
        self._rungs: list[int] = config["rungs"]
        logged: str | None = config["logged"]
        self._logged = Progress.model_validate_json(logged).evaluations if logged else []
        parts = config["configuration"], subset_plan(self._job, self._index), self._device
        build = partial(training_run, self._job, self._dataset, *parts)
        self._training = self._checkpoints.take(self._index, build)

    def _train(self, config: dict[str, Any] | None = None) -> dict[str, Any]:
        """Train to the next rung; begin the trial of `config` first, if given."""
        if config is not None:
            self._begin(config)
        training = self._training
        evaluations = training.progress.evaluations
        reached = max(len(evaluations), len(self._logged))
        for epoch in self._rungs[len(evaluations) : reached + 1]:
            training.train_to(epoch)
            training.evaluate()
        evaluations[: len(self._logged)] = self._logged
        if not self._job.run.trains_finally:  # without Adam's moments, a third of a checkpoint
            state = {"epochs": training.progress.epochs, "model": training.weights}
            write_checkpoint(self._work.model(self._index), state)
        if len(evaluations) < len(self._rungs):
            keep = self._checkpoints.put if self._may_pause else self._checkpoints.save
            keep(self._index, training)
        return {"progress": training.progress.model_dump_json()}
