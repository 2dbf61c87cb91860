"""Optimizers and schedules against their formulas."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.optim import SGD, Adam, Optimizer

from automata.config import Protocol
from automata.models.mlp import Mlp
from automata.training.optimization import build_optimizer, build_schedule

RATE = 0.02
EPOCHS = range(12)


@pytest.fixture
def model() -> Mlp:
    torch.manual_seed(0)
    return Mlp(inputs=6, hidden1=8, hidden2=7, classes=3)


@pytest.fixture
def configuration(configuration: dict[str, Any]) -> dict[str, Any]:
    return {**configuration, "learning_rate": RATE}


def rates(model: Mlp, configuration: dict[str, Any], protocol: Protocol) -> list[float]:
    """Return the learning rate of each epoch."""
    optimizer = build_optimizer(model, configuration, protocol)
    schedule = build_schedule(optimizer, configuration, protocol)
    seen = []
    for _ in EPOCHS:
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return seen


def settings_of(optimizer: Optimizer, *names: str) -> list[float]:
    return [optimizer.param_groups[0][name] for name in names]


@pytest.mark.parametrize("name", ["adam", "sgd"])
@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("none", [RATE for _ in EPOCHS]),
        ("cosine", [RATE * (1 + math.cos(math.pi * e / 12)) / 2 for e in EPOCHS]),
        ("step", [RATE * 0.1 ** (e // 4) for e in EPOCHS]),
    ],
)
def test_learning_rate_of_each_epoch_follows_the_formula(
    model: Mlp,
    configuration: dict[str, Any],
    protocol: Protocol,
    name: str,
    schedule: str,
    expected: list[float],
) -> None:
    chosen = {**configuration, "optimizer": name, "schedule": schedule}
    assert rates(model, chosen, protocol) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "expected"), [("adam", Adam), ("sgd", SGD)])
def test_the_named_optimizer_is_built(
    model: Mlp, configuration: dict[str, Any], protocol: Protocol, name: str, expected: type
) -> None:
    optimizer = build_optimizer(model, {**configuration, "optimizer": name}, protocol)
    assert type(optimizer) is expected


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_all_parameters_are_optimised(
    model: Mlp, configuration: dict[str, Any], protocol: Protocol, name: str
) -> None:
    optimizer = build_optimizer(model, {**configuration, "optimizer": name}, protocol)
    optimised = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert optimised == [id(p) for p in model.parameters()]


def test_sgd_gets_rate_momentum_and_weight_decay(
    model: Mlp, configuration: dict[str, Any], protocol: Protocol
) -> None:
    optimizer = build_optimizer(model, {**configuration, "optimizer": "sgd"}, protocol)
    assert settings_of(optimizer, "lr", "momentum", "weight_decay") == [RATE, 0.9, 0.01]


def test_adam_gets_rate_and_weight_decay_and_the_usual_moments(
    model: Mlp, configuration: dict[str, Any], protocol: Protocol
) -> None:
    optimizer = build_optimizer(model, {**configuration, "optimizer": "adam"}, protocol)
    found = settings_of(optimizer, "lr", "weight_decay", "betas", "eps")
    assert found == [RATE, 0.01, (0.9, 0.999), 1e-8]


def test_two_steps_of_sgd_are_those_of_a_hand_computation(
    model: Mlp, configuration: dict[str, Any], protocol: Protocol
) -> None:
    """v = g + d w, w -= r v; then v = m v + g + d w, w -= r v: one parameter, g = 1."""
    optimizer = build_optimizer(model, {**configuration, "optimizer": "sgd"}, protocol)
    bias = model.head.bias
    with torch.no_grad():
        bias.fill_(1.0)
    for _ in range(2):
        bias.grad = torch.ones_like(bias)
        optimizer.step()
    first = 1 - RATE * (1 + 0.01)
    second = first - RATE * (0.9 * 1.01 + 1 + 0.01 * first)
    assert bias.tolist() == pytest.approx([second] * 3, rel=1e-6)
