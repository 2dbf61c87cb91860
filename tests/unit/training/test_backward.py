"""Compiled steps against automatic differentiation."""

from __future__ import annotations

import shutil
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from automata.config.sections import Compute
from automata.models.classifier import Classifier
from automata.models.nets import BasicBlock, ResNet
from automata.training import optimization as backward
from automata.training.optimization import backward_of
from tests.unit.training.test_step import mlp

BATCH = 4


def network(seed: int = 0) -> ResNet:
    torch.manual_seed(seed)
    return ResNet(BasicBlock, (1, 1, 1, 1), 3, 5)


def images(rows: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, 3, 8, 8, generator=generator), torch.arange(rows) % 5


def compiling(backend: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let `backend` compile; return a list that grows by one number of rows per graph."""
    torch._dynamo.reset()
    made: list[int] = []

    def counted(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> object:
        made.append(max(len(tensor) for tensor in inputs if tensor.shape[1:] == (3, 8, 8)))
        return torch._dynamo.lookup_backend(backend)(graph, inputs)

    step = torch.compile(Classifier.loss, dynamic=False, backend=counted)
    monkeypatch.setattr(backward, "_compiled_loss", lambda: step)
    return made


def take(model: ResNet, step: Any, rows: int) -> tuple[Tensor, list[Tensor]]:
    model.train()
    loss = step(*images(rows), 0.7)
    return loss, [parameter.grad for parameter in model.parameters()]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_compiled_step_is_the_plain_one(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiling("aot_eager", monkeypatch)
    plain, compiled = network(), network()
    expected = take(plain, partial(plain.autograd_backward, precision=precision), BATCH)
    found = take(
        compiled, backward_of(compiled, BATCH, Compute(precision=precision, compiled=True)), BATCH
    )
    bound = 1e-5 if precision == "float32" else 5e-2
    torch.testing.assert_close(found, expected, rtol=bound, atol=bound)
    for a, b in zip(plain.buffers(), compiled.buffers(), strict=True):
        torch.testing.assert_close(a, b, rtol=bound, atol=bound)


def test_models_of_one_shape_share_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compiling("eager", monkeypatch)
    for seed in range(10):  # more than torch compiles a function anew
        model = network(seed)
        step = backward_of(model, BATCH, Compute(compiled=True))
        loss, _ = take(model, step, BATCH)
        same = network(seed)
        assert torch.equal(loss, take(same, same.autograd_backward, BATCH)[0])
    assert made == [BATCH]


def test_a_mini_batch_that_is_not_full_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compiling("eager", monkeypatch)
    model = network()
    take(model, backward_of(model, BATCH, Compute(compiled=True)), BATCH - 1)
    assert made == []


def test_only_models_that_say_so_are_compiled() -> None:
    model = mlp()
    assert backward_of(model, BATCH, Compute(compiled=True)) == model.backward


@pytest.mark.e2e
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
def test_what_the_real_compiler_makes_is_the_plain_step() -> None:
    # In double precision: normalising over four numbers makes much of a rounding.
    plain, compiled = network().double(), network().double()
    inputs, labels = images(BATCH)
    found = []
    for model, step in (
        (plain, plain.autograd_backward),
        (compiled, backward_of(compiled, BATCH, Compute(compiled=True))),
    ):
        model.train()
        loss = step(inputs.double(), labels, 0.7)
        found.append((loss, [parameter.grad for parameter in model.parameters()]))
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-9)
