"""GLISTER's greedy choice against automatic differentiation on a real last layer."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from automata.selection.embeddings import LastLayer
from automata.selection.glister import taylor_greedy

FEATURES, CLASSES = 5, 3


def logits(features, parameters):
    """Return those of a linear layer: the parameters are weights, row by row, then the bias."""
    weight, bias = parameters.split([CLASSES * FEATURES, CLASSES])
    return features @ weight.view(CLASSES, FEATURES).T + bias


def gradient(features, labels, parameters):
    """Return the gradient of the mean loss by autograd."""
    leaf = parameters.clone().requires_grad_()
    return torch.autograd.grad(cross_entropy(logits(features, leaf), labels), leaf)[0]


def drawn(seed):
    """Return parameters, rows of training and of validation, and 13 mini-batches."""
    generator = torch.Generator().manual_seed(seed)

    def rows(count):
        features = torch.randn(count, FEATURES, generator=generator).double().relu()
        return features, torch.randint(CLASSES, (count,), generator=generator)

    parameters = torch.randn(CLASSES * (FEATURES + 1), generator=generator).double()
    order = torch.randperm(62, generator=generator)  # the last mini-batch has 2 rows
    return parameters, rows(62), rows(20), list(order.split(5))


def choose(parameters, training, validation, batches, budget, step, updates):
    both = (training, validation)
    trained, validated = (LastLayer(x, logits(x, parameters), labels) for x, labels in both)
    return taylor_greedy(trained, batches, validated, budget, step=step, updates=updates).tolist()


def brute_force(parameters, training, validation, batches, budget, step, at_once):
    """Choose the best mini-batches, `at_once` by one gradient of the validation loss."""
    features, labels = training
    candidates = [gradient(features[batch], labels[batch], parameters) for batch in batches]
    chosen = []
    while len(chosen) < min(budget, 13):
        slope = gradient(*validation, parameters)
        gains = {i: float(g @ slope) for i, g in enumerate(candidates) if i not in chosen}
        best = sorted(gains, key=gains.get, reverse=True)[: min(at_once, budget - len(chosen))]
        chosen += best
        parameters = parameters - step * sum(candidates[i] for i in best)
    return chosen


@pytest.mark.parametrize(
    ("budget", "updates", "at_once"),
    [(8, 1, 8), (8, 3, 3), (8, 5, 2), (0, 3, 1), (1, 3, 1), (13, 99, 1), (99, 13, 1)],
)
@pytest.mark.parametrize("step", [0.01, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_choices_are_those_of_brute_force(seed, step, budget, updates, at_once):
    problem = drawn(seed)
    found = choose(*problem, budget, step, updates)
    assert found == brute_force(*problem, budget, step, at_once)


def test_the_first_of_equal_mini_batches_is_chosen_first():
    *layer, batches = drawn(0)
    assert choose(*layer, [batches[3]] * 4, 4, 0.1, 1) == [0, 1, 2, 3]
