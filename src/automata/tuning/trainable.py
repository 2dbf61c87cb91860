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
from automata.records.progress import Progress
from automata.training.device import limit_threads, take_device
from automata.training.run import training_run
from automata.tuning.checkpoints import CheckpointStore, memory_of_paused_runs, write_checkpoint
from automata.tuning.work import PhaseFolder


class TuneTrial(tune.Trainable):
    """Trains one configuration, on subsets or as a finalist, from rung to rung.

    A step ends at a rung, with a result, or at a checkpoint before it. A trial that has diverged or
    is out of patience reports its score until the scheduler ends it. A trial with results in the
    log resumes from its checkpoint. Without one it trains again to its last logged rung, keeps the
    logged results, and reports the next rung.
    """

    def setup(self, config: dict[str, Any], job: str, data: str, device: str) -> None:
        """Build the training run of `config` (`ray_search.worker_config`).

        `job` is a Job in JSON, `data` a prepared file, `device` `cpu` or `cuda`.
        """
        self._job = Job.model_validate_json(job)
        threads = self._job.settings.compute.threads_per_trial
        # One thread trains all trials: torch's limit of threads holds for the thread that sets it.
        self._worker = ThreadPoolExecutor(1, "training", limit_threads, (threads,))
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
        self._folder, self._saved = PhaseFolder(Path()), False
        self._begin(config)

    def _begin(self, config: dict[str, Any]) -> None:
        """Resume the trial of `config`, or start it."""
        # A checkpoint of Ray would cost a call and a folder.
        if self._folder.path != Path(config["folder"]):
            self._folder = PhaseFolder(Path(config["folder"]))
            # With several workers, any of them may resume a paused trial, and only from a file.
            alone = self._job.settings.compute.concurrent_trials == 1
            # Runs of the other phase leave memory first.
            self._checkpoints = CheckpointStore(self._folder, 0)
            memory = memory_of_paused_runs(self._device) if alone else 0
            self._checkpoints = CheckpointStore(self._folder, memory)
        self._config = config
        logged: str | None = config["logged"]
        self._logged = Progress.model_validate_json(logged).evaluations if logged else []
        self._reached: int = config["reached"]
        number: int | None = config["index"] if config["compared"] is None else None
        parts = self._job, self._dataset, config["configuration"], number, self._device
        place = config["index"], config["checkpoint"]
        self._training = self._checkpoints.take(*place, lambda: training_run(*parts))

    def _train(self, config: dict[str, Any] | None = None) -> dict[str, Any]:
        """Train to the next rung or checkpoint; begin the trial of `config` first, if given."""
        if config is not None:
            self._begin(config)
        elif self._saved:
            self._checkpoints.answered()
        training, index, rungs = self._training, self._config["index"], self._config["rungs"]
        save = partial(self._checkpoints.save, index, training)
        for number, rung in enumerate(rungs[: self._reached + 1], start=1):
            if not training.train_to(rung, pause=save):
                self._saved = True
                return {"epoch": training.progress.epochs}
            self._evaluate(number, rung)
        self._reached += 1
        evaluations = training.progress.evaluations
        evaluations[: len(self._logged)] = self._logged
        last, finally_ = self._reached == len(rungs), self._job.run.trains_finally
        if (not finally_) if self._config["compared"] is None else last:
            # Without Adam's moments, a third of a checkpoint.
            state = {"epochs": training.progress.epochs, "model": training.weights}
            write_checkpoint(self._folder.model(index), state)
        keep = self._checkpoints.put if self._config["pauses"] else self._checkpoints.save
        self._saved = not last and keep(index, training)
        return {"progress": training.progress.model_dump_json(), "saved": self._saved}

    def _evaluate(self, number: int, rung: int) -> None:
        """Evaluate at a rung, unless that was done.

        Finalists are evaluated once at an epoch, and only where there is a choice.
        """
        progress, compared = self._training.progress, self._config["compared"]
        if compared is None:
            needed = len(progress.evaluations) < number
        else:
            seen = {evaluation.epoch for evaluation in progress.evaluations}
            here = progress.epochs <= rung and progress.epochs not in seen
            needed = here and number <= compared and progress.failure is None
        if needed:
            self._training.evaluate()
