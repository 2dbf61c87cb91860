"""Computes the gradients of a mini-batch: by the model's own method, in bfloat16, or compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor

from automata.config.sections import Compute
from automata.models.classifier import Classifier, Loss

Backward = Callable[[Tensor, Tensor, float], Tensor]
"""`Classifier.backward`: (inputs, labels, weight) -> loss; it sets the gradients."""


def backward_of(model: Classifier, batch_size: int, compute: Compute) -> Backward:
    """Return the function that computes the gradients of `model` as `compute` says.

    A model that `compiles` is compiled for full mini-batches only, because a CUDA graph has one
    shape. A compiled step rounds differently from a plain one.
    """
    plain = partial(model.autograd_backward, precision=compute.precision)
    if not (compute.compiled and model.compiles):
        return model.backward if compute.precision == "float32" else plain
    compiled = partial(plain, compiled=_compiled_loss())

    def backward(inputs: Tensor, labels: Tensor, weight: float) -> Tensor:
        step = compiled if len(labels) == batch_size else plain
        return step(inputs, labels, weight)

    return backward


@cache
def _compiled_loss() -> Loss:
    """Return the compiled loss; all models of a process share it and its graphs."""
    return torch.compile(Classifier.loss, dynamic=False, mode="reduce-overhead")
