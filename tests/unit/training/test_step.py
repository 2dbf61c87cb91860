"""The quick ways to take a step against the plain ones."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.optim import Optimizer

from automata.datasets.prepared import Normalisation, Split
from automata.models.classifier import Classifier
from automata.models.nets import BasicBlock, LstmClassifier, Mlp, ResNet
from automata.training.optimization import build_optimizer, build_schedule, quick_step

BASE = {"weight_decay": 0.0, "momentum": 0.0, "nesterov": False, "learning_rate": 0.05}
OPTIMIZERS: list[dict[str, Any]] = [
    {"optimizer": "sgd"},
    {"optimizer": "sgd", "weight_decay": 0.01},
    {"optimizer": "sgd", "momentum": 0.9},
    {"optimizer": "sgd", "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
    {"optimizer": "adam"},
    {"optimizer": "adam", "weight_decay": 0.01},
]


def mlp() -> Mlp:
    torch.manual_seed(0)
    return Mlp(5, 7, 6, 4)


def batch(n: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(n, 5, generator=generator)
    return inputs, torch.randint(0, 4, (n,), generator=generator)


def gradients(model: Classifier) -> list[Tensor]:
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def take_steps(model: Mlp, optimizer: Optimizer, seeds: range) -> None:
    step = quick_step(optimizer)
    for seed in seeds:
        model.backward(*batch(8, seed=seed), 1.0)
        step()


@pytest.mark.parametrize("weight", [1.0, 0.3, 0.0])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_the_chain_rule_of_the_mlp_is_that_of_autograd(n: int, weight: float) -> None:
    model, (inputs, labels) = mlp().double(), batch(n)
    written = model.backward(inputs.double(), labels, weight)
    by_hand = gradients(model)
    automatic = model.autograd_backward(inputs.double(), labels, weight)
    torch.testing.assert_close(written, automatic)
    torch.testing.assert_close(by_hand, gradients(model))


def test_gradients_of_a_second_mini_batch_are_not_added_to_the_first() -> None:
    model = mlp()
    model.backward(*batch(4, seed=2), 1.0)
    model.backward(*batch(3, seed=3), 1.0)
    fresh = mlp()
    fresh.backward(*batch(3, seed=3), 1.0)
    assert all(torch.equal(a, b) for a, b in zip(gradients(model), gradients(fresh), strict=True))


def test_extreme_logits_give_finite_gradients() -> None:
    model, (inputs, labels) = mlp(), batch(6)
    loss = model.backward(inputs * 1e4, labels, 1.0)
    assert torch.isfinite(loss)
    assert all(torch.isfinite(gradient).all() for gradient in gradients(model))


@pytest.mark.parametrize("options", OPTIMIZERS, ids=str)
@pytest.mark.parametrize("schedule", ["none", "cosine"])
def test_quick_steps_are_the_optimizers_steps(options: dict[str, Any], schedule: str) -> None:
    values = {**BASE, **options, "schedule": schedule}
    ends = []
    for quick in (True, False):
        model = mlp()
        optimizer = build_optimizer(model, values)
        schedule_ = build_schedule(optimizer, values, 4)
        step = quick_step(optimizer) if quick else optimizer.step
        for epoch in range(4):
            for seed in range(3):
                model.autograd_backward(*batch(8, seed=10 * epoch + seed), 1.0)
                step()
            schedule_.step()
        ends.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    assert torch.equal(*ends)


@pytest.mark.parametrize("options", OPTIMIZERS, ids=str)
def test_quick_steps_leave_the_state_that_a_checkpoint_needs(options: dict[str, Any]) -> None:
    values = {**BASE, **options}
    straight, stopped = mlp(), mlp()
    optimizer = build_optimizer(straight, values)
    take_steps(straight, optimizer, range(6))
    first = build_optimizer(stopped, values)
    take_steps(stopped, first, range(3))
    second = build_optimizer(stopped, values)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    take_steps(stopped, second, range(3, 6))
    for a, b in zip(straight.parameters(), stopped.parameters(), strict=True):
        assert torch.equal(a, b)


# Not SGD with momentum: torch's own fused one raises there.
@pytest.mark.parametrize("options", [OPTIMIZERS[0], *OPTIMIZERS[4:]], ids=str)
def test_a_parameter_whose_first_gradient_comes_late_is_trained(options: dict[str, Any]) -> None:
    ends = []
    for quick in (True, False):
        model = mlp()
        optimizer = build_optimizer(model, {**BASE, **options})
        step = quick_step(optimizer) if quick else optimizer.step
        for seed in range(5):
            model.autograd_backward(*batch(8, seed=seed), 1.0)
            if seed < 2:
                model.head.bias.grad = None
            step()
        ends.append(torch.cat([p.detach().flatten() for p in model.parameters()]))
    assert torch.equal(*ends)


def resnet() -> tuple[Classifier, Split]:
    torch.manual_seed(0)
    pixels = torch.randint(0, 256, (12, 3, 8, 8), dtype=torch.uint8)
    normal = Normalisation(torch.full((3,), 0.5), torch.full((3,), 0.3))
    return ResNet(BasicBlock, (1, 1, 1, 1), 3, 4), Split(pixels, torch.arange(12) % 4, normal)


def lstm() -> tuple[Classifier, Split]:
    torch.manual_seed(0)
    words = torch.randint(1, 20, (12, 6), dtype=torch.int32)
    return LstmClassifier(torch.randn(20, 5), 6, 1, 4), Split(words, torch.arange(12) % 4)


def tabular() -> tuple[Classifier, Split]:
    inputs, labels = batch(12)
    return mlp(), Split(inputs, labels)


@pytest.mark.parametrize("make", [resnet, lstm, tabular])
def test_reduced_precision_gives_nearly_the_gradients_of_the_full_one(
    make: Callable[[], tuple[Classifier, Split]],
) -> None:
    model, split = make()
    inputs = split.ready(split.inputs)
    model.eval()  # statistics of so small a batch are noise
    for module in model.modules():
        if isinstance(module, torch.nn.LSTM):
            module.train()  # its backward pass needs it
    found, expected = [], []
    for precision, into in (("bfloat16", found), ("float32", expected)):
        model.autograd_backward(inputs, split.labels, 0.5, precision)
        into.append(torch.cat([g.flatten() for g in gradients(model)]))
    assert found[0].dtype == torch.float32
    error = (found[0] - expected[0]).norm() / expected[0].norm()
    assert 0 < error < 0.2


def test_training_does_not_import_torchs_compiler() -> None:
    code = """if True:
        import sys
        from benchmarks.workloads import images, sentences
        for workload in (sentences(40, 50, 8, 8), images(40, 8)):
            run = workload.run(8)
            run.train_to(2)
            workload.run(8).restore(run.state())
        print("torch._dynamo" in sys.modules)
    """
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
