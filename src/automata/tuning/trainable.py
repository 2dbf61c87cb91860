"""A trial as Ray Tune sees it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch
from ray import tune

from automata.config import Job
from automata.datasets.prepared import Dataset, read_dataset
from automata.registry import load
from automata.seeds import derive
from automata.selection import SELECTORS
from automata.selection.problem import Selector
from automata.training.device import choose_device
from automata.training.run import SubsetPlan, TrainingRun
from automata.tuning.keys import EPOCH, SCORE

CHECKPOINT = "trial.pt"


class TuneTrial(tune.Trainable):
    """Trains one configuration from rung to rung; one result per rung.

    Schedulers decide at rungs only, and a result costs milliseconds: the curve between rungs
    comes along inside the result. A trial that has diverged reports the worst score at its
    rungs without training, until the scheduler drops it.
    """

    def setup(self, config: dict[str, Any], job: str, data: str) -> None:
        """Build the training run of `config`; `job` is a Job in JSON, `data` a prepared file."""
        self._job = Job.model_validate_json(job)
        self._data = data
        settings = self._job.settings
        torch.set_num_threads(settings.compute.threads_per_trial)
        self._device = choose_device(settings.compute.device)
        self._begin(config)

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take over another trial in the same process."""
        self._begin(new_config)
        return True

    def step(self) -> dict[str, Any]:
        """Train to the next rung and evaluate there."""
        self._training.train_to(self._rungs[self._reached])
        self._training.evaluate()
        epoch = self._rungs[self._reached]
        self._reached += 1
        progress = self._training.progress
        return {
            EPOCH: epoch,
            SCORE: progress.score,
            "progress": progress.model_dump_json(),
        }

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        """Write the training run's state."""
        state = {"reached": self._reached, "training": self._training.state()}
        torch.save(state, Path(checkpoint_dir) / CHECKPOINT)

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Go on from a folder of `save_checkpoint`."""
        state = read_checkpoint(Path(checkpoint))
        self._reached = state["reached"]
        self._training.restore(state["training"])

    def _begin(self, config: dict[str, Any]) -> None:
        run, settings = self._job.run, self._job.settings
        self._rungs: list[int] = config["rungs"]
        self._reached = 0
        plan = SubsetPlan(
            build_selector(self._job), run.fraction, settings.warm_start(run.scheduler)
        )
        self._training = TrainingRun(
            load_data(self._data),
            config["configuration"],
            settings.protocol,
            plan,
            derive(run.seed, "training"),
            self._device,
        )


def read_checkpoint(folder: Path) -> dict[str, Any]:
    """Return the state that `TuneTrial.save_checkpoint` wrote into `folder`."""
    state: dict[str, Any] = torch.load(folder / CHECKPOINT, weights_only=True)
    return state


def build_selector(job: Job) -> Selector:
    """Return the selector of `job`, with its settings."""
    name = job.run.selector
    selector: Selector = load(SELECTORS, name)(**job.settings.selector.of(name))
    return selector


@cache
def load_data(path: str) -> Dataset:
    """Return the prepared data set at `path`, read once per process."""
    return read_dataset(Path(path))
