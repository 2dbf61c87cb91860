"""Gradients in closed form against automatic differentiation."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from automata.datasets.prepared import Split
from automata.models.loss import CrossEntropy
from automata.models.nets import Mlp
from automata.selection import embeddings as module
from automata.training.evaluation import last_layer

ROWS, INPUTS, CLASSES = 23, 5, 4
LENGTHS = [[23], [8, 8, 7], [3, 5, 3, 1, 5, 6], [1] * 23, [10]]


@pytest.fixture
def model():
    torch.manual_seed(3)
    return Mlp(inputs=INPUTS, hidden1=6, hidden2=7, classes=CLASSES).double()


@pytest.fixture
def split():
    inputs = torch.randn(ROWS, INPUTS, generator=torch.Generator().manual_seed(4))
    return Split(inputs.double(), torch.arange(ROWS) % CLASSES)


def shuffled(lengths):
    """Return mini-batches of these lengths."""
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(5))
    return list(order[: sum(lengths)].split(lengths))


def differentiated(model, split, batches):
    """Return the gradients of the batches' mean losses for the head, by autograd."""
    rows = []
    for batch in batches:
        loss = cross_entropy(model(split.inputs[batch]), split.labels[batch])
        parts = torch.autograd.grad(loss, [model.head.weight, model.head.bias])
        rows.append(torch.cat([part.flatten() for part in parts]))
    return torch.stack(rows)


@pytest.mark.parametrize("chunk", [1, 700, 1000, 10**9])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_embeddings_and_their_products_are_those_of_autograd_whatever_a_chunk_holds(
    monkeypatch, model, split, lengths, chunk
):
    """1000 bytes hold three mini-batches of one row, 700 two classes of a Gram matrix."""
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
    batches = shuffled(lengths)
    expected = differentiated(model, split, batches)
    layer = last_layer(model, split)
    torch.testing.assert_close(layer.gradients(batches), expected)
    gram = layer.gram(batches)
    torch.testing.assert_close(gram, expected @ expected.T)
    assert torch.equal(gram, gram.T)


def test_gradients_with_class_weights_are_those_of_the_weighted_loss(model, split):
    model.criterion = CrossEntropy(torch.tensor([0.2, 1.0, 3.0, 0.5]).double())
    batches = list(torch.arange(ROWS).split(8))
    layer = last_layer(model, split)
    for gradient, batch in zip(layer.gradients(batches), batches, strict=True):
        model.backward(split.inputs[batch], split.labels[batch], 1.0)
        found = torch.cat([model.head.weight.grad.flatten(), model.head.bias.grad])
        torch.testing.assert_close(gradient, found)
