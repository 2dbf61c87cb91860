"""Gradient embeddings of the text and image models against automatic differentiation."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from automata.datasets.prepared import Split
from automata.models.classifier import Classifier
from automata.models.lstm import LstmClassifier
from automata.models.resnet import BasicBlock, Bottleneck, ResNet
from automata.training.evaluation import last_layer

ROWS, CLASSES = 11, 4


def sentences() -> Tensor:
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(1, 20, (ROWS, 7), generator=generator, dtype=torch.int32)
    lengths = torch.randint(0, 8, (ROWS, 1), generator=generator)
    return words.masked_fill(torch.arange(7) >= lengths, 0)


def pictures() -> Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.randn(ROWS, 3, 8, 8, generator=generator, dtype=torch.float64)


def lstm() -> LstmClassifier:
    return LstmClassifier(torch.randn(20, 5), 6, 2, CLASSES)


def resnet18() -> ResNet:
    return ResNet(BasicBlock, (2, 2, 2, 2), 3, CLASSES)


def resnet50() -> ResNet:
    return ResNet(Bottleneck, (3, 4, 6, 3), 3, CLASSES)


MODELS = [(lstm, sentences), (resnet18, pictures), (resnet50, pictures)]


@pytest.fixture(params=MODELS, ids=["LSTM", "ResNet18", "ResNet50"])
def case(request: pytest.FixtureRequest) -> tuple[Classifier, Split]:
    """A model, in training mode, and rows for it."""
    build, inputs = request.param
    torch.manual_seed(3)
    return build().double(), Split(inputs(), torch.arange(ROWS) % CLASSES)


def differentiated(model: Classifier, split: Split, batches: list[Tensor]) -> Tensor:
    """Return the gradients of the batches' mean losses for the head, by autograd."""
    rows = []
    for batch in batches:
        loss = cross_entropy(model(split.inputs[batch]), split.labels[batch])
        parts = torch.autograd.grad(loss, [model.head.weight, model.head.bias])
        rows.append(torch.cat([part.flatten() for part in parts]))
    return torch.stack(rows)


def test_embeddings_are_the_gradients_of_autograd(case: tuple[Classifier, Split]) -> None:
    model, split = case
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(4))
    batches = list(order.split([4, 1, 4, 2]))
    found = last_layer(model, split).gradients(batches)
    torch.testing.assert_close(found, differentiated(model.eval(), split, batches))


def test_the_pass_for_selection_leaves_the_model_as_it_was(
    case: tuple[Classifier, Split],
) -> None:
    """Statistics of batch normalisation are those of training alone."""
    model, split = case
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    last_layer(model, split)
    assert all(torch.equal(before[name], after) for name, after in model.state_dict().items())
    assert model.training
