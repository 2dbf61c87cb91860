"""The multi-layer perceptron and its split into features and head."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from automata.datasets.prepared import Dataset
from automata.models.nets import Mlp
from automata.models.nets import mlp as build


@pytest.fixture
def model() -> Mlp:
    torch.manual_seed(0)
    return Mlp(inputs=5, hidden1=8, hidden2=7, classes=3)


def test_logits_are_the_head_of_the_features(model: Mlp) -> None:
    inputs = torch.randn(4, 5)
    assert torch.equal(model(inputs), model.head(model.features(inputs)))


def test_features_are_two_rectified_layers(model: Mlp) -> None:
    inputs = torch.randn(4, 5, dtype=torch.float64)
    w1, b1, w2, b2 = (p.detach() for p in model.double().body.parameters())
    expected = torch.relu(torch.relu(inputs @ w1.T + b1) @ w2.T + b2)
    torch.testing.assert_close(model.features(inputs), expected)


def test_parameters_are_those_of_three_linear_layers(model: Mlp) -> None:
    counted = sum(parameter.numel() for parameter in model.parameters())
    assert counted == (5 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3)


def test_a_built_model_has_the_sizes_of_data_and_configuration(
    dataset: Dataset, configuration: dict[str, Any]
) -> None:
    model = build(dataset, {**configuration, "hidden1": 11, "hidden2": 9})
    shapes = [tuple(weight.shape) for weight in model.parameters() if weight.ndim == 2]
    assert shapes == [(11, 6), (9, 11), (3, 9)]
