"""How the gradients of a mini-batch are computed: the model's way, reduced, compiled, graphed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from automata.config.machine import Compute
from automata.errors import UserError
from automata.failures import first_line, ran_out_of_memory
from automata.models.classifier import Classifier, arithmetic

Backward = Callable[[Tensor, Tensor, float], Tensor]
"""`Classifier.backward`: (inputs, labels, weight) -> loss, with the gradients set."""


MODE = "thread_local"
"""Of a capture: what other threads do meanwhile, such as the meter, does not disturb it."""

WARM_UP = 3
"""Passes before a capture, in which CUDA's libraries set up what a graph cannot."""


def backward_of(model: Classifier, batch_size: int, compute: Compute) -> Backward:
    """Return what computes the gradients of `model`, at its place by now, as `compute` says.

    A model that `compiles` can be compiled, or on a GPU be run as a graph.
    """
    precision = compute.precision
    if compute.compiled and model.compiles:
        return CompiledBackward(model, batch_size, precision)
    if compute.cuda_graph and model.compiles and next(model.parameters()).is_cuda:
        return GraphedBackward(model, batch_size, precision)
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


class GraphedBackward:
    """The step of `Classifier.autograd_backward` as a CUDA graph: the same kernels in one call.

    A graph is of one shape: a mini-batch that is not full takes the usual way. It reads and
    writes memory at fixed addresses: the values of the model may change from outside, but its
    tensors must not be replaced. The loss is in the same tensor after each step.
    """

    def __init__(self, model: Classifier, batch_size: int, precision: str) -> None:
        self._model = model
        self._batch_size = batch_size
        self._precision = precision
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, inputs: Tensor, labels: Tensor, weight: float) -> Tensor:
        """Set the gradients, return the weighted loss."""
        if len(labels) != self._batch_size:
            return self._model.autograd_backward(inputs, labels, weight, self._precision)
        if self._graph is None:
            self._graph = self._captured(inputs, labels)
        self._inputs.copy_(inputs)
        self._labels.copy_(labels)
        self._weight.fill_(weight)
        self._graph.replay()
        for parameter, gradient in self._gradients:  # others may be there since the last step
            parameter.grad = gradient
        return self._loss

    def _captured(self, inputs: Tensor, labels: Tensor) -> torch.cuda.CUDAGraph:
        """Return the graph of a step on a mini-batch like this; it leaves the model as it was."""
        self._inputs, self._labels = inputs.clone(), labels.clone()
        self._weight = torch.ones((), device=inputs.device)
        before = [buffer.clone() for buffer in self._model.buffers()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.random.fork_rng(devices=[inputs.device]), torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self._pass()
        torch.cuda.current_stream().wait_stream(side)
        for buffer, value in zip(self._model.buffers(), before, strict=True):
            buffer.copy_(value)
        self._model.zero_grad(set_to_none=True)  # the graph's own gradients are made inside it
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=_pool().pool(), capture_error_mode=MODE):
                self._loss = self._pass()
        except RuntimeError as error:
            first = error
            while isinstance(first.__context__, RuntimeError):  # leaving the capture fails, too
                first = first.__context__
            if ran_out_of_memory(first):
                raise first from None
            raise UserError(
                f"compute.cuda_graph: true: {type(self._model).__name__} cannot be captured: "
                f"{first_line(first)}; set it to false"
            ) from first
        self._gradients = [(it, it.grad) for it in self._model.parameters()]
        return graph

    def _pass(self) -> Tensor:
        self._model.zero_grad(set_to_none=True)
        with arithmetic(self._precision, self._inputs.device):
            loss = self._model.loss(self._inputs, self._labels) * self._weight
        loss.backward()
        return loss.detach()


@cache
def _pool() -> torch.cuda.CUDAGraph:
    """Return a graph whose memory all graphs of a process share: no two of them run at once.

    It lives as long as the process: torch refuses the memory of graphs that are all gone.
    """
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode=MODE):
        torch.zeros(1, device="cuda")
    return graph
