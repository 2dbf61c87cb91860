"""The tabular model: a multi-layer perceptron with two hidden layers (paper, section 3.2)."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from automata.datasets.prepared import Dataset
from automata.models.classifier import Classifier


class Mlp(Classifier):
    """Two hidden ReLU layers: (n, inputs) -> (n, classes)."""

    def __init__(self, inputs: int, hidden1: int, hidden2: int, classes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(inputs, hidden1), nn.ReLU(), nn.Linear(hidden1, hidden2), nn.ReLU()
        )
        self.head = nn.Linear(hidden2, classes)

    def features(self, inputs: Tensor) -> Tensor:
        """Return the second hidden layer: (n, inputs) -> (n, hidden2)."""
        hidden: Tensor = self.body(inputs)
        return hidden


def build(dataset: Dataset, configuration: dict[str, Any]) -> Mlp:
    """Return an MLP for `dataset` with the hidden sizes of `configuration`."""
    inputs = dataset.train.inputs.shape[1]
    return Mlp(inputs, configuration["hidden1"], configuration["hidden2"], dataset.classes)
