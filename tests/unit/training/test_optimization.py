"""Optimizers and schedules against their formulas."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.optim import Optimizer

from automata.config.protocol import Protocol
from automata.models.nets import Mlp
from automata.training.optimization import build_optimizer, build_schedule, hyperparameters

RATE = 0.02
EPOCHS = range(12)


@pytest.fixture
def model() -> Mlp:
    torch.manual_seed(0)
    return Mlp(inputs=6, hidden1=8, hidden2=7, classes=3)


@pytest.fixture
def values(configuration: dict[str, Any], protocol: Protocol) -> dict[str, Any]:
    return hyperparameters({**configuration, "learning_rate": RATE}, protocol)


def rates(model: Mlp, values: dict[str, Any]) -> list[float]:
    """Return the learning rate of each epoch."""
    optimizer = build_optimizer(model, values)
    schedule = build_schedule(optimizer, values, len(EPOCHS))
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
    values: dict[str, Any],
    name: str,
    schedule: str,
    expected: list[float],
) -> None:
    chosen = {**values, "optimizer": name, "schedule": schedule}
    assert rates(model, chosen) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_all_parameters_are_optimised(model: Mlp, values: dict[str, Any], name: str) -> None:
    optimizer = build_optimizer(model, {**values, "optimizer": name})
    optimised = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert optimised == [id(p) for p in model.parameters()]


def test_adam_gets_rate_and_weight_decay_and_the_usual_moments(
    model: Mlp, values: dict[str, Any]
) -> None:
    optimizer = build_optimizer(model, {**values, "optimizer": "adam"})
    found = settings_of(optimizer, "lr", "weight_decay", "betas", "eps")
    assert found == [RATE, 0.01, (0.9, 0.999), 1e-8]


def test_two_steps_of_sgd_are_those_of_a_hand_computation(
    model: Mlp, values: dict[str, Any]
) -> None:
    """v = g + d w, w -= r v; then v = m v + g + d w, w -= r v: one parameter, g = 1."""
    optimizer = build_optimizer(model, {**values, "optimizer": "sgd"})
    bias = model.head.bias
    with torch.no_grad():
        bias.fill_(1.0)
    for _ in range(2):
        bias.grad = torch.ones_like(bias)
        optimizer.step()
    first = 1 - RATE * (1 + 0.01)
    second = first - RATE * (0.9 * 1.01 + 1 + 0.01 * first)
    assert bias.tolist() == pytest.approx([second] * 3, rel=1e-6)


def test_a_tuned_hyperparameter_takes_the_place_of_the_fixed_one(protocol: Protocol) -> None:
    assert protocol.momentum == 0.9
    assert hyperparameters({"momentum": 0.5}, protocol)["momentum"] == 0.5


class Grouped(Mlp):
    def parameter_groups(self) -> dict[str, list[torch.nn.Parameter]]:
        return {"lr1": list(self.body.parameters()), "lr2": list(self.head.parameters())}


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_each_group_gets_the_rate_of_its_name(values: dict[str, Any], name: str) -> None:
    model = Grouped(inputs=6, hidden1=8, hidden2=7, classes=3)
    chosen = {**values, "optimizer": name, "lr1": 0.5, "lr2": 0.25}
    groups = build_optimizer(model, chosen).param_groups
    assert [group["lr"] for group in groups] == [0.5, 0.25]
    assert [len(group["params"]) for group in groups] == [4, 2]


def test_groups_share_the_learning_rate_where_they_have_none(values: dict[str, Any]) -> None:
    model = Grouped(inputs=6, hidden1=8, hidden2=7, classes=3)
    assert [g["lr"] for g in build_optimizer(model, values).param_groups] == [RATE, RATE]


def test_the_schedule_scales_every_group(values: dict[str, Any]) -> None:
    model = Grouped(inputs=6, hidden1=8, hidden2=7, classes=3)
    chosen = {**values, "lr1": 0.5, "lr2": 0.25, "schedule": "step"}
    optimizer = build_optimizer(model, chosen)
    schedule = build_schedule(optimizer, chosen, len(EPOCHS))
    for _ in range(4):
        optimizer.step()
        schedule.step()
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.05, 0.025])


def test_two_steps_of_nesterovs_momentum_are_those_of_a_hand_computation(
    values: dict[str, Any],
) -> None:
    """v = m v + g, w -= r (g + m v), with g = 1 and no weight decay."""
    model = Mlp(inputs=6, hidden1=8, hidden2=7, classes=3)
    chosen = {**values, "optimizer": "sgd", "nesterov": True, "weight_decay": 0.0}
    optimizer = build_optimizer(model, chosen)
    bias = model.head.bias
    with torch.no_grad():
        bias.fill_(1.0)
    for _ in range(2):
        bias.grad = torch.ones_like(bias)
        optimizer.step()
    expected = 1 - RATE * (1 + 0.9) - RATE * (1 + 0.9 * 1.9)
    assert bias.tolist() == pytest.approx([expected] * 3, rel=1e-6)
