"""GLISTER's greedy choice against automatic differentiation on a real last layer."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from automata.selection.embeddings import LastLayer
from automata.selection.glister import taylor_greedy

FEATURES, CLASSES = 5, 3
SEEDS = range(4)


@dataclass(frozen=True)
class Model:
    """A linear layer, and rows of a training and a validation set for it."""

    parameters: Tensor
    """(c h + c,): the weights, row by row, then the bias."""
    training: tuple[Tensor, Tensor]
    validation: tuple[Tensor, Tensor]
    batches: list[Tensor]

    def loss(self, rows: tuple[Tensor, Tensor], parameters: Tensor) -> Tensor:
        features, labels = rows
        weight, bias = parameters.split([CLASSES * FEATURES, CLASSES])
        return cross_entropy(features @ weight.view(CLASSES, FEATURES).T + bias, labels)

    def gradient(self, rows: tuple[Tensor, Tensor], parameters: Tensor) -> Tensor:
        """Return the gradient of the mean loss by autograd."""
        leaf = parameters.clone().requires_grad_()
        return torch.autograd.grad(self.loss(rows, leaf), leaf)[0]

    def gradient_of(self, batch: Tensor) -> Tensor:
        features, labels = self.training
        return self.gradient((features[batch], labels[batch]), self.parameters)

    def layer(self, rows: tuple[Tensor, Tensor]) -> LastLayer:
        features, labels = rows
        weight, bias = self.parameters.split([CLASSES * FEATURES, CLASSES])
        return LastLayer(features, features @ weight.view(CLASSES, FEATURES).T + bias, labels)

    def choose(self, budget: int, step: float, updates: int) -> list[int]:
        layers = self.layer(self.training), self.layer(self.validation)
        return taylor_greedy(
            layers[0], self.batches, layers[1], budget, step=step, updates=updates
        ).tolist()


def model_of(seed: int) -> Model:
    """Return 60 rows of training in 13 mini-batches, the last of 2 rows, and 20 of validation."""
    generator = torch.Generator().manual_seed(seed)

    def rows(count: int) -> tuple[Tensor, Tensor]:
        features = torch.randn(count, FEATURES, generator=generator).double().relu()
        return features, torch.randint(CLASSES, (count,), generator=generator)

    parameters = torch.randn(CLASSES * (FEATURES + 1), generator=generator).double()
    order = torch.randperm(62, generator=generator)
    return Model(parameters, rows(62), rows(20), list(order.split(5)))


def brute_force(model: Model, budget: int, step: float) -> list[int]:
    """Choose the best mini-batch by one, all gradients by autograd, none in closed form."""
    candidates = [model.gradient_of(batch) for batch in model.batches]
    parameters, chosen = model.parameters, list[int]()
    for _ in range(min(budget, len(candidates))):
        slope = model.gradient(model.validation, parameters)
        gains = {i: float(g @ slope) for i, g in enumerate(candidates) if i not in chosen}
        chosen.append(max(gains, key=lambda i: gains[i]))
        parameters = parameters - step * candidates[chosen[-1]]
    return chosen


@pytest.mark.parametrize("updates", [7, 100])
@pytest.mark.parametrize("step", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_choices_are_those_of_brute_force(seed: int, step: float, updates: int) -> None:
    model = model_of(seed)
    assert model.choose(7, step, updates) == brute_force(model, 7, step)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_large_step_changes_later_choices(seed: int) -> None:
    """Or else the test above could not tell whether the step is taken."""
    model = model_of(seed)
    assert model.choose(13, 5.0, 13) != model.choose(13, 5.0, 1)


@pytest.mark.parametrize("budget", [1, 4, 13])
@pytest.mark.parametrize("seed", SEEDS)
def test_one_update_takes_the_best_by_one_gradient(seed: int, budget: int) -> None:
    model = model_of(seed)
    slope = model.gradient(model.validation, model.parameters)
    gains = torch.stack([model.gradient_of(batch) for batch in model.batches]) @ slope
    assert model.choose(budget, 5.0, 1) == gains.argsort(descending=True)[:budget].tolist()


@pytest.mark.parametrize(("updates", "at_once"), [(1, 8), (2, 4), (3, 3), (5, 2), (8, 1), (99, 1)])
def test_the_validation_gradient_is_computed_as_often_as_allowed(
    monkeypatch: pytest.MonkeyPatch, updates: int, at_once: int
) -> None:
    sizes: list[int] = []
    plain = LastLayer.gradients

    def counted(layer: LastLayer, batches: list[Tensor]) -> Tensor:
        sizes.append(len(batches))
        return plain(layer, batches)

    monkeypatch.setattr(LastLayer, "gradients", counted)
    model_of(0).choose(8, 1.0, updates)
    validation, chosen = sizes[::2], sizes[1::2]
    assert len(validation) <= updates
    assert (set(validation), max(chosen), sum(chosen)) == ({1}, at_once, 8)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_gain_is_the_decrease_of_the_validation_loss_to_first_order(seed: int) -> None:
    model = model_of(seed)
    slope = model.gradient(model.validation, model.parameters)
    gains = model.layer(model.training).products(model.batches, slope)
    step = 1e-6
    before = model.loss(model.validation, model.parameters)
    decreases = [
        before - model.loss(model.validation, model.parameters - step * model.gradient_of(batch))
        for batch in model.batches
    ]
    torch.testing.assert_close(gains, torch.stack(decreases) / step, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_products_are_those_of_the_gradients(seed: int) -> None:
    model = model_of(seed)
    vector = torch.randn(18, generator=torch.Generator().manual_seed(seed)).double()
    expected = torch.stack([model.gradient_of(batch) @ vector for batch in model.batches])
    torch.testing.assert_close(
        model.layer(model.training).products(model.batches, vector), expected
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_layer_after_a_step_is_that_of_the_changed_parameters(seed: int) -> None:
    model = model_of(seed)
    change = model.gradient_of(model.batches[0])
    moved = Model(model.parameters - 0.3 * change, model.training, model.validation, [])
    found = model.layer(model.validation).after_step(change, 0.3)
    torch.testing.assert_close(found.logits, moved.layer(model.validation).logits)


@pytest.mark.parametrize("budget", [0, 13, 14, 100])
def test_choices_are_distinct_and_as_many_as_possible(budget: int) -> None:
    chosen = model_of(1).choose(budget, 0.1, 4)
    assert len(set(chosen)) == len(chosen) == min(budget, 13)


def test_no_mini_batches_give_no_choice() -> None:
    layer = model_of(0).layer(model_of(0).validation)
    assert taylor_greedy(layer, [], layer, 3, step=0.1, updates=2).tolist() == []


def test_the_first_of_equal_mini_batches_is_chosen_first() -> None:
    model = model_of(0)
    same = [model.batches[3]] * 4
    twins = Model(model.parameters, model.training, model.validation, same)
    assert twins.choose(4, 0.1, 1) == [0, 1, 2, 3]
