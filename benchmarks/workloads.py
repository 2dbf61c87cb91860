"""Data sets, protocols and configurations of the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from automata.config.data import Preparation
from automata.config.protocol import Protocol
from automata.config.sections import Compute
from automata.datasets.prepare import prepare
from automata.datasets.prepared import UNKNOWN, Dataset, Normalisation, Split
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, build_selector

CPU = torch.device("cpu")

EPOCHS = 10_000
"""More than any benchmark trains."""


@dataclass(frozen=True)
class Workload:
    """A data set, and the model and configuration that train on it."""

    dataset: Dataset
    model: str
    configuration: dict[str, Any]
    """All hyper-parameters but the batch size."""

    def run(
        self,
        batch_size: int,
        selector: str = "full",
        fraction: float = 1.0,
        *,
        device: torch.device = CPU,
        compute: Compute = Compute(),  # noqa: B008 - frozen
    ) -> TrainingRun:
        """Return a new training run."""
        size: dict[str, Any] = {"configurations": 1, "epochs": EPOCHS, "search_space": {}}
        protocol = Protocol(model=self.model, reselect_every=1, **size)
        plan = SubsetPlan(build_selector(selector), fraction)
        configuration = {**self.configuration, "batch_size": batch_size}
        return TrainingRun(self.dataset, configuration, protocol, plan, 0, device, compute)


def tabular(name: str, optimizer: str = "adam") -> Workload:
    """Return a table of the project, and an MLP with sizes from the middle of its search space."""
    dataset = prepare(name, Preparation(), Path("results/downloads"))
    own = {"hidden1": 225, "hidden2": 225, "learning_rate": 0.005, "optimizer": optimizer}
    return Workload(dataset, "mlp", {**own, **_FIXED})


def sentences(rows: int, words: int, dimension: int = 300, hidden: int = 128) -> Workload:
    """Return random sentences with lengths as in TREC and word frequencies as in a language."""
    generator = torch.Generator().manual_seed(0)
    frequency = 1 / torch.arange(1, words - UNKNOWN, dtype=torch.float64)

    def split(count: int) -> Split:
        lengths = (3 + torch.empty(count).log_normal_(1.9, 0.45, generator=generator)).long()
        lengths.clamp_(max=37)
        longest = int(lengths.max())
        drawn = torch.multinomial(frequency, count * longest, True, generator=generator)
        inputs = (drawn + UNKNOWN + 1).view(count, longest).int()
        inputs[torch.arange(longest) >= lengths[:, None]] = 0
        return Split(inputs, torch.randint(6, (count,), generator=generator))

    vectors = torch.randn(words, dimension, generator=generator) * 0.4
    splits, extras = map(split, _sizes(rows)), {"vectors": vectors}
    dataset = Dataset(f"{words} words", "text", 6, *splits, metadata={}, extras=extras)
    own = {"hidden": hidden, "learning_rate": 0.003, "optimizer": "adam"}
    return Workload(dataset, "lstm", {**own, **_FIXED})


def images(rows: int, size: int = 32) -> Workload:
    """Return random images like those of CIFAR-10, slightly tinted by class."""
    generator = torch.Generator().manual_seed(0)
    normal = Normalisation(torch.full((3,), 0.5), torch.full((3,), 0.25))

    def split(count: int) -> Split:
        labels = torch.randint(10, (count,), generator=generator)
        pixels = torch.randint(256, (count, 3, size, size), generator=generator, dtype=torch.uint8)
        pixels[:, 0] = pixels[:, 0] // 2 + 12 * labels.to(torch.uint8)[:, None, None]
        return Split(pixels, labels, normal)

    dataset = Dataset("images", "image", 10, *map(split, _sizes(rows)), metadata={})
    rates = {f"lr{group}": 0.005 for group in (1, 2, 3, 4)}
    fixed = {**_FIXED, "optimizer": "sgd", "momentum": 0.9, "weight_decay": 5e-4}
    return Workload(dataset, "resnet18", {**rates, **fixed, "nesterov": False})


_FIXED = {"momentum": 0.0, "nesterov": False, "weight_decay": 0.0, "schedule": "none"}


def _sizes(rows: int) -> tuple[int, int, int]:
    """Return how many rows the splits have; the test set is never read."""
    return rows, max(rows // 9, 1), 8
