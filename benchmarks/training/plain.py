"""A usual training loop of torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim import SGD, Adam, Optimizer
from torch.utils.data import DataLoader, Subset, TensorDataset

from automata.datasets.prepared import Split
from automata.models.classifier import Classifier


def default_optimizer(model: Classifier, configuration: dict[str, Any]) -> Optimizer:
    """Return torch's SGD or Adam with its defaults, for the model's groups of parameters."""
    groups = [
        {"params": parameters, "lr": configuration[name]}
        for name, parameters in model.parameter_groups().items()
    ]
    decay = configuration["weight_decay"]
    if configuration["optimizer"] == "adam":
        return Adam(groups, weight_decay=decay)
    return SGD(groups, momentum=configuration["momentum"], weight_decay=decay)


def train_on(
    model: Classifier, optimizer: Optimizer, batches: Iterable[tuple[Tensor, Tensor]]
) -> None:
    """Take an eager step per mini-batch; the loss is never read."""
    model.train()
    for inputs, labels in batches:
        optimizer.zero_grad()
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()


def data_loader(
    split: Split, batch_size: int, rows: Sequence[int] | None = None
) -> DataLoader[tuple[Tensor, ...]]:
    """Return a shuffling DataLoader over `split`, or over some rows of it.

    Images are normalised beforehand: to do that per image would be slower still.
    """
    data: Any = TensorDataset(split.ready(split.inputs), split.labels)
    if rows is not None:
        data = Subset(data, rows)
    return DataLoader(data, batch_size=batch_size, shuffle=True, num_workers=0)


def resident(split: Split, batch_size: int, rows: int) -> Iterable[tuple[Tensor, Tensor]]:
    """Yield random mini-batches of `rows` rows in all, gathered where the tensors are."""
    order = torch.randperm(len(split))[:rows].to(split.labels.device)
    for some in order.split(batch_size):
        yield split.ready(split.inputs[some]), split.labels[some]
