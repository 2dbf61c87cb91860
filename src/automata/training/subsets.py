"""The rows that an epoch trains on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from automata.config.job import Job
from automata.config.protocol import Protocol
from automata.loading import make
from automata.records.progress import Progress
from automata.registry import CONTROLS
from automata.seeds import derive
from automata.selection.problem import (
    Cadence,
    SelectionProblem,
    Selector,
    Subset,
    random_subset,
    uniform,
    without_lone_rows,
)
from automata.selection.random import Full


@dataclass(frozen=True)
class SubsetPlan:
    """How the subsets of a training run are selected, how large they are, and when they start."""

    selector: Selector
    fraction: float
    warm_start: float = 0.0
    """kappa of the warm start."""
    horizon_exponent: float = 0.0
    """beta: learning rates on subsets are multiplied by f^-beta."""
    metric: str | None = None
    """The score by which trainings are compared; None: that of the protocol."""

    def warm_start_epochs(self, epochs: int) -> int:
        """Return T_w = ceil(kappa T k/N), the epochs on all data (paper, 'Warm-starting...')."""
        return math.ceil(self.warm_start * epochs * self.fraction)


ALL_DATA = SubsetPlan(Full(), fraction=1.0)


def build_selector(name: str, own: Mapping[str, str] | None = None, /, **settings: Any) -> Selector:
    """Return the selector `name` with its settings; a control selects all rows.

    `own` are the targets of the user's methods by kind, as in the settings of a job.
    """
    if name in CONTROLS:
        return Full()
    selector: Selector = make("selector", name, own or {}, **settings)
    return selector


def subset_plan(job: Job, trial: int = 0) -> SubsetPlan:
    """Return the plan of a trial of `job`; trials of one screen have the same plan."""
    run, settings, protocol = job.run, job.settings, job.settings.protocol
    selector = build_selector(run.selector, settings.own, **settings.selector.of(run.selector))
    exponent = protocol.screens[trial // protocol.configurations]
    warm_start = float(settings.scheduler.of(run.scheduler).get("warm_start", 0))
    return SubsetPlan(selector, run.fraction, warm_start, exponent, protocol.screen_metric)


class Subsets:
    """Selects a new subset when one is due, and keeps the latest."""

    def __init__(self, plan: SubsetPlan, protocol: Protocol) -> None:
        self.latest: Subset | None = None
        self._plan = plan
        self._protocol = protocol

    def of_epoch(self, progress: Progress, problem: Callable[[], SelectionProblem]) -> Subset:
        """Return the subset of the next epoch; count a new one in `progress`.

        `problem` returns the current selection problem. As an attribute it would make a reference
        cycle, which keeps the run's memory until a garbage collection.
        """
        epoch = progress.epochs
        if epoch < self._plan.warm_start_epochs(self._protocol.epochs):
            return self._all_rows(epoch, problem())
        cadence = self._plan.selector.cadence
        reselect = epoch > 0 and epoch % self._protocol.reselect_every == 0
        due = cadence is Cadence.EVERY_EPOCH or (cadence is Cadence.EVERY_INTERVAL and reselect)
        if self.latest is not None and not due:
            return self.latest
        if cadence is Cadence.EVERY_INTERVAL and not reselect:  # the first subset of Algorithm 2
            subset = random_subset(problem(), "first")
        else:
            subset = self._plan.selector.select(problem())
        batches = [batch.cpu() for batch in subset.batches]  # an own selector may use a GPU
        self.latest = without_lone_rows(replace(subset, batches=batches))
        progress.draws += 1
        progress.random_fill += self.latest.random_fill
        progress.subset_samples = self.latest.samples
        return self.latest

    def _all_rows(self, epoch: int, problem: SelectionProblem) -> Subset:
        generator = torch.Generator().manual_seed(derive(problem.seed, "warm", epoch))
        order = torch.randperm(problem.rows, generator=generator)
        batches = list(order.split(problem.batch_size))
        return without_lone_rows(uniform(batches))
