"""GLISTER's greedy choice against automatic differentiation on a real last layer."""

from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from automata.selection.embeddings import LastLayer
from automata.selection.glister import taylor_greedy

FEATURES, CLASSES = 5, 3


@dataclass(frozen=True)
class Model:
    """A linear layer, and rows of a training and a validation set for it."""

    parameters: Tensor
    """(c h + c,): the weights, row by row, then the bias."""
    training: tuple[Tensor, Tensor]
    validation: tuple[Tensor, Tensor]
    batches: list[Tensor]

    def logits(self, features, parameters):
        weight, bias = parameters.split([CLASSES * FEATURES, CLASSES])
        return features @ weight.view(CLASSES, FEATURES).T + bias

    def gradient(self, rows, parameters):
        """Return the gradient of the mean loss by autograd."""
        leaf = parameters.clone().requires_grad_()
        return torch.autograd.grad(cross_entropy(self.logits(rows[0], leaf), rows[1]), leaf)[0]

    def choose(self, budget, step, updates):
        training, validation = (
            LastLayer(features, self.logits(features, self.parameters), labels)
            for features, labels in (self.training, self.validation)
        )
        chosen = taylor_greedy(
            training, self.batches, validation, budget, step=step, updates=updates
        )
        return chosen.tolist()


def model_of(seed):
    """Return 62 rows of training in 13 mini-batches, the last of 2 rows, and 20 of validation."""
    generator = torch.Generator().manual_seed(seed)

    def rows(count):
        features = torch.randn(count, FEATURES, generator=generator).double().relu()
        return features, torch.randint(CLASSES, (count,), generator=generator)

    parameters = torch.randn(CLASSES * (FEATURES + 1), generator=generator).double()
    order = torch.randperm(62, generator=generator)
    return Model(parameters, rows(62), rows(20), list(order.split(5)))


def brute_force(model, budget, step, at_once):
    """Choose the best mini-batches, `at_once` by one gradient of the validation loss."""
    features, labels = model.training
    candidates = [
        model.gradient((features[batch], labels[batch]), model.parameters)
        for batch in model.batches
    ]
    parameters, chosen = model.parameters, []
    while len(chosen) < min(budget, 13):
        slope = model.gradient(model.validation, parameters)
        gains = {i: float(g @ slope) for i, g in enumerate(candidates) if i not in chosen}
        best = sorted(gains, key=gains.get, reverse=True)[: min(at_once, budget - len(chosen))]
        chosen += best
        parameters = parameters - step * sum(candidates[i] for i in best)
    return chosen


@pytest.mark.parametrize(
    ("budget", "updates", "at_once"),
    [(8, 1, 8), (8, 2, 4), (8, 3, 3), (8, 5, 2), (0, 3, 1), (1, 3, 1), (13, 99, 1), (99, 13, 1)],
)
@pytest.mark.parametrize("step", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_choices_are_those_of_brute_force(seed, step, budget, updates, at_once):
    model = model_of(seed)
    assert model.choose(budget, step, updates) == brute_force(model, budget, step, at_once)


@pytest.mark.parametrize("copies", [0, 4])
def test_the_first_of_equal_mini_batches_is_chosen_first(copies):
    model = model_of(0)
    twins = replace(model, batches=[model.batches[3]] * copies)
    assert twins.choose(4, 0.1, 1) == list(range(copies))
