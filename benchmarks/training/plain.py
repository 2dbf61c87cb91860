"""Training as most people write it, and the matrix products that no MLP step can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim import SGD, Adam, Optimizer
from torch.utils.data import DataLoader, Subset, TensorDataset

from automata.datasets.prepared import Split
from automata.models.classifier import Classifier
from automata.models.mlp import Mlp


def default_optimizer(model: Classifier, configuration: dict[str, Any]) -> Optimizer:
    """Return torch's SGD or Adam with all of its own choices, over the model's groups."""
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


def matrix_products(model: Mlp, batches: Sequence[Tensor]) -> Callable[[], None]:
    """Return the matrix products of a training step per mini-batch of inputs, and nothing else.

    Every result has its place; mini-batches are all as long as the first.
    """
    (w1, w2, w3) = (weight.detach() for weight in model.parameters() if weight.ndim == 2)
    n = len(batches[0])
    hidden1, hidden2, logits = (torch.empty(n, len(w)) for w in (w1, w2, w3))
    error1, error2 = torch.empty(n, len(w1)), torch.empty(n, len(w2))
    gradients = [torch.empty_like(weight) for weight in (w1, w2, w3)]

    @torch.no_grad()
    def run() -> None:
        for inputs in batches:
            torch.mm(inputs, w1.t(), out=hidden1)
            torch.mm(hidden1, w2.t(), out=hidden2)
            torch.mm(hidden2, w3.t(), out=logits)
            torch.mm(logits.t(), hidden2, out=gradients[2])
            torch.mm(logits, w3, out=error2)
            torch.mm(error2.t(), hidden1, out=gradients[1])
            torch.mm(error2, w2, out=error1)
            torch.mm(error1.t(), inputs, out=gradients[0])

    return run


def repeated(run: Callable[[], object], times: int) -> Callable[[], None]:
    """Return what runs `run` so many times."""
    return partial(_repeat, run, times)


def _repeat(run: Callable[[], object], times: int) -> None:
    for _ in range(times):
        run()
