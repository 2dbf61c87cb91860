"""How the gradients of a mini-batch are computed: the model's way, reduced, compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from automata.config.sections import Compute
from automata.models.classifier import Classifier, arithmetic

Backward = Callable[[Tensor, Tensor, float], Tensor]
"""`Classifier.backward`: (inputs, labels, weight) -> loss, with the gradients set."""


def backward_of(model: Classifier, batch_size: int, compute: Compute) -> Backward:
    """Return what computes the gradients of `model` on its device as `compute` says.

    Only a model that `compiles` is compiled.
    """
    precision = compute.precision
    if compute.compiled and model.compiles:
        return CompiledBackward(model, batch_size, precision)
    if precision != "float32":
        return partial(model.autograd_backward, precision=precision)
    return model.backward


class CompiledBackward:
    """The step of `Classifier.autograd_backward` by torch.compile; on a GPU, as CUDA graphs.

    A graph is of one shape: a mini-batch that is not full takes the usual way. The rounding
    differs from that of the usual way.
    """

    def __init__(self, model: Classifier, batch_size: int, precision: str) -> None:
        self._model = model
        self._batch_size = batch_size
        self._precision = precision
        self._loss = _compiled_loss(next(model.parameters()).is_cuda)

    def __call__(self, inputs: Tensor, labels: Tensor, weight: float) -> Tensor:
        """Set the gradients, return the weighted loss."""
        if len(labels) != self._batch_size:
            return self._model.autograd_backward(inputs, labels, weight, self._precision)
        self._model.zero_grad(set_to_none=True)
        with arithmetic(self._precision, inputs.device):
            # The weight stays outside: a number inside is part of the graph.
            loss: Tensor = self._loss(self._model, inputs, labels) * weight
        loss.backward()
        return loss.detach()


@cache
def _compiled_loss(cuda: bool) -> Any:
    """Return the compiled loss: one for all models of a process, which share its graphs."""
    return torch.compile(_loss, dynamic=False, mode="reduce-overhead" if cuda else None)


def _loss(model: Classifier, inputs: Tensor, labels: Tensor) -> Tensor:
    return model.loss(inputs, labels)
