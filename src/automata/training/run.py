"""One training run: it trains on subsets up to a given epoch, and can be saved and resumed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from automata.config.job import Job
from automata.config.protocol import Protocol
from automata.config.sections import Compute
from automata.datasets.prepared import Dataset, Split
from automata.models.classifier import Classifier, arithmetic, build_model
from automata.models.loss import CrossEntropy
from automata.records.progress import Evaluation, Progress
from automata.seeds import derive
from automata.selection.embeddings import LastLayer
from automata.selection.problem import SelectionProblem, Subset, subset_size
from automata.training.batches import MiniBatches
from automata.training.evaluation import evaluate, last_layer
from automata.training.optimization import (
    backward_of,
    build_optimizer,
    build_schedule,
    hyperparameters,
    quick_step,
)
from automata.training.subsets import ALL_DATA, SubsetPlan, Subsets, subset_plan
from automata.training.vocabulary import WorkingVocabulary


class DivergedError(Exception):
    """The gradients that a selection reads are not finite."""


class TrainingRun:
    """Trains one configuration (paper, Algorithm 2).

    `seed` fixes the initial weights, for all configurations (Algorithm 1, theta), and all random
    draws.
    """

    def __init__(
        self,
        dataset: Dataset,
        configuration: dict[str, Any],
        protocol: Protocol,
        plan: SubsetPlan,
        seed: int,
        device: torch.device,
        compute: Compute = Compute(),  # noqa: B008 - frozen
    ) -> None:
        self.data = dataset.to(device)
        self.configuration = configuration
        self.protocol = protocol
        self.plan = plan
        self.seed = seed
        self.device = device
        self.precision = compute.precision
        self.model = _build_model(dataset, configuration, protocol, seed).to(device)
        values = hyperparameters(configuration, protocol)
        self.batch_size: int = values["batch_size"]
        self.optimizer = build_optimizer(self.model, values)
        self._backward = backward_of(self.model, self.batch_size, compute)
        self._step = quick_step(self.optimizer)
        self.schedule = build_schedule(self.optimizer, values, protocol.epochs)
        self._vocabulary = WorkingVocabulary(self.model.word_table, self.optimizer)
        self._rate_factor = plan.fraction**-plan.horizon_exponent
        """f^-beta, the factor of the learning rates on subsets: fewer steps, but longer ones."""
        metric, break_ties = plan.metric or protocol.metric, protocol.break_ties
        self.progress = Progress(metric=metric, break_ties=break_ties)
        self.patience = protocol.patience
        self._best_weights: dict[str, Tensor] = {}
        self._subsets = Subsets(plan, protocol)
        self._batches = MiniBatches(self.data, self.model, protocol, seed)

    @property
    def subset(self) -> Subset | None:
        """The latest subset, None before the first one."""
        return self._subsets.latest

    @property
    def weights(self) -> dict[str, Tensor]:
        """The weights that are kept: with `patience` those of the best epoch, else the latest."""
        return self._best_weights or self.model.state_dict()

    @property
    def bytes(self) -> int:
        """An estimate: model, gradients, two moments of Adam, and weights for patience."""
        copies = 4 if self.patience is None else 5
        return copies * sum(parameter.nbytes for parameter in self.model.parameters())

    @property
    def ended(self) -> bool:
        """Whether the training has diverged or run out of patience."""
        best, patience = self.progress.best, self.patience
        waited = 0 if best is None else self.progress.epochs - best.epoch
        return self.progress.failure is not None or (patience is not None and waited >= patience)

    def train_to(self, epoch: int, pause: Callable[[], bool] = lambda: False) -> bool:
        """Train until `epoch` epochs are done in total, or until the training has `ended`.

        Return False if it stopped before, because `pause` returned true between two epochs.
        """
        started_at = self.progress.epochs
        while self.progress.epochs < epoch and not self.ended:
            if self.progress.epochs > started_at and pause():
                return False
            try:
                with self._timed("selection"):
                    subset = self._subsets.of_epoch(self.progress, self._problem)
            except DivergedError as error:
                self.progress.failure = str(error)
                break
            with self._timed("training"), self._own_randomness():
                loss = self._train_epoch(subset)
            self.progress.epochs += 1
            self.progress.training_loss.append(float(f"{loss:.6g}"))
            if not math.isfinite(loss):
                self.progress.failure = f"training loss {loss} in epoch {self.progress.epochs}"
            elif self.patience is not None:
                self._keep_if_best(self._evaluation())
        return True

    def repeat(self, progress: Progress) -> None:
        """Train to the weights that an equal run with this `progress` kept."""
        self.patience = None  # the best epoch is known
        self.train_to(progress.kept_epoch)

    def evaluate(self) -> None:
        """Add an evaluation on the validation set to the progress: with `patience` the best."""
        progress, best = self.progress, self.progress.best
        if best is None or progress.failure is not None:
            evaluation = self._evaluation()
        else:
            now = {"epoch": progress.epochs, "finished_at": time.time()}
            evaluation = best.model_copy(update=now)
        if progress.failure is None and not math.isfinite(evaluation.loss):
            progress.failure = f"validation loss {evaluation.loss} after epoch {progress.epochs}"
        progress.evaluations.append(evaluation)

    def _keep_if_best(self, evaluation: Evaluation) -> None:
        """Keep the current weights if their `evaluation` is the best so far."""
        best, metric = self.progress.best, self.progress.metric
        if best is None or evaluation.rank(metric) > best.rank(metric):
            self.progress.best = evaluation
            self._best_weights = {k: it.clone() for k, it in self.model.state_dict().items()}

    def _evaluation(self) -> Evaluation:
        with self._timed("evaluation"), arithmetic(self.precision, self.device):
            scores = evaluate(self.model, self.data.validation, self.protocol.metric)
        return Evaluation(
            epoch=self.progress.epochs, finished_at=time.time(), **scores.model_dump()
        )

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`; the run goes on to change its tensors."""
        subset = self.subset
        return {
            "configuration": self.configuration,
            "model": self.model.state_dict(),
            "best": self._best_weights,
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "progress": self.progress.model_dump(),
            # One tensor, because writing thousands takes half a second.
            "rows": torch.cat(subset.batches) if subset else None,
            "lengths": [len(batch) for batch in subset.batches] if subset else [],
            "weights": subset.weights if subset else None,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the `state` of a run with the same arguments."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self._vocabulary.forget()
        self._best_weights = state["best"]
        self.progress = Progress.model_validate(state["progress"])
        rows, weights = state["rows"], state["weights"]
        latest = None if rows is None else Subset(list(rows.split(state["lengths"])), weights)
        self._subsets.latest = latest

    def _problem(self) -> SelectionProblem:
        rows = len(self.data.train)
        return SelectionProblem(
            rows=rows,
            budget=subset_size(rows, self.plan.fraction),
            batch_size=self.batch_size,
            seed=self.seed,
            draw=self.progress.draws,
            training=self._training_layer,
            validation=lambda: self._last_layer(self.data.validation),
            learning_rate=self._head_rate() * self._rate_factor,
        )

    def _head_rate(self) -> float:
        """Return the learning rate of the last layer in this epoch."""
        head = self.model.head.weight
        groups = self.optimizer.param_groups
        (group,) = [group for group in groups if any(p is head for p in group["params"])]
        return float(group["lr"])

    def _training_layer(self) -> LastLayer:
        self.progress.gradient_selections += 1
        return self._last_layer(self.data.train)

    def _last_layer(self, split: Split) -> LastLayer:
        with arithmetic(self.precision, self.device):
            layer = last_layer(self.model, split)
        # Solvers square the features: larger ones than 1e19 overflow.
        if not torch.isfinite(torch.linalg.vector_norm(layer.features) + layer.logits.sum()):
            raise DivergedError(f"gradients not finite after epoch {self.progress.epochs}")
        return layer

    def _train_epoch(self, subset: Subset) -> float:
        """Take one step per mini-batch in random order; return the mean weighted loss."""
        selected = subset is self.subset  # a warm start trains on all rows instead
        self.model.train()
        mini_batches = self._batches.of_epoch(subset, self.progress.epochs)
        total = torch.zeros((), device=self.device)
        vocabulary = self._vocabulary.restricted_to(self.data.train.inputs, subset.batches)
        with vocabulary as numbers, self._scaled_rates(self._rate_factor if selected else 1.0):
            for inputs, labels, weight in mini_batches:
                renumbered = inputs if numbers is None else numbers[inputs]
                total += self._backward(renumbered, labels, weight)
                self._step()
        self.schedule.step()
        progress, steps = self.progress, len(subset.batches)
        progress.steps += steps
        progress.samples += subset.samples
        if selected:
            progress.subset_epochs += 1
            progress.selected_samples += subset.samples
        return float(total) / steps

    @contextmanager
    def _scaled_rates(self, factor: float) -> Iterator[None]:
        """Multiply the learning rates by `factor` during the body."""
        groups = self.optimizer.param_groups
        rates = [group["lr"] for group in groups]
        for group in groups:
            group["lr"] *= factor
        yield
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = rate

    @contextmanager
    def _own_randomness(self) -> Iterator[None]:
        """Seed the model's own randomness, such as dropout, by this run's seed and epoch."""
        cuda = self.device.type == "cuda"
        with torch.random.fork_rng(devices=[self.device] if cuda else []):
            seed = derive(self.seed, "model", self.progress.epochs)
            # torch.manual_seed records a stack trace, which takes longer than a small epoch.
            torch.default_generator.manual_seed(seed)
            if cuda:
                torch.cuda.manual_seed(seed)
            yield

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        """Add the wall seconds of the body to `part` of the progress."""
        start = self._now()
        try:
            yield
        finally:
            seconds = self.progress.seconds
            setattr(seconds, part, getattr(seconds, part) + self._now() - start)

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter()


def training_run(
    job: Job, data: Dataset, configuration: dict[str, Any], trial: int | None, device: torch.device
) -> TrainingRun:
    """Return a new run of `trial`, or on all data, on a device that this process has taken."""
    seed, settings = derive(job.run.seed, job.run.training_stream), job.settings
    plan = ALL_DATA if trial is None else subset_plan(job, trial)
    protocol = settings.protocol
    return TrainingRun(data, configuration, protocol, plan, seed, device, settings.compute)


def _build_model(
    dataset: Dataset, configuration: dict[str, Any], protocol: Protocol, seed: int
) -> Classifier:
    """Return the model of the protocol; its initial weights depend on `seed` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(seed, "initial weights"))
        model = build_model(dataset, configuration, protocol.model)
    if protocol.class_weights == "balanced":
        rows = torch.bincount(dataset.train.labels, minlength=dataset.classes).clamp(min=1)
        model.criterion = CrossEntropy(len(dataset.train) / (dataset.classes * rows))
    return model
