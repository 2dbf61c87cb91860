"""Gradients in closed form against automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from automata.models.mlp import Mlp
from automata.selection import embeddings as module
from automata.selection.embeddings import LastLayer, gradient_embeddings, gradient_gram
from automata.training.evaluation import WeightedLastLayer

ROWS, INPUTS, CLASSES = 23, 5, 4


@pytest.fixture
def model() -> Mlp:
    torch.manual_seed(3)
    return Mlp(inputs=INPUTS, hidden1=6, hidden2=7, classes=CLASSES).double()


@pytest.fixture
def inputs() -> Tensor:
    return torch.randn(ROWS, INPUTS, generator=torch.Generator().manual_seed(4)).double()


@pytest.fixture
def labels() -> Tensor:
    return torch.arange(ROWS) % CLASSES


def embeddings(model: Mlp, inputs: Tensor, labels: Tensor, batches: list[Tensor]) -> Tensor:
    with torch.no_grad():
        features = model.features(inputs)
        residuals = model.head(features).softmax(dim=1) - torch.eye(CLASSES)[labels]
    return gradient_embeddings(features, residuals, batches)


def differentiated(model: Mlp, inputs: Tensor, labels: Tensor, batches: list[Tensor]) -> Tensor:
    """Return the gradients of the batches' mean losses for the head, by autograd."""
    rows = []
    for batch in batches:
        loss = cross_entropy(model(inputs[batch]), labels[batch])
        parts = torch.autograd.grad(loss, [model.head.weight, model.head.bias])
        rows.append(torch.cat([part.flatten() for part in parts]))
    return torch.stack(rows)


LENGTHS = [[23], [8, 8, 7], [3, 5, 3, 1, 5, 6], [1] * 23, [10]]


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_embeddings_are_the_gradients_of_autograd(
    model: Mlp, inputs: Tensor, labels: Tensor, lengths: list[int]
) -> None:
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(5))
    batches = list(order[: sum(lengths)].split(lengths))
    torch.testing.assert_close(
        embeddings(model, inputs, labels, batches), differentiated(model, inputs, labels, batches)
    )


def test_gradients_with_class_weights_are_those_of_the_weighted_loss(
    model: Mlp, inputs: Tensor, labels: Tensor
) -> None:
    model.class_weights = torch.tensor([0.2, 1.0, 3.0, 0.5]).double()
    batches = list(torch.arange(ROWS).split(8))
    with torch.no_grad():
        features = model.features(inputs)
        layer = WeightedLastLayer(features, model.head(features), labels, model.class_weights)
    for gradient, batch in zip(layer.gradients(batches), batches, strict=True):
        model.backward(inputs[batch], labels[batch], 1.0)
        found = torch.cat([model.head.weight.grad.flatten(), model.head.bias.grad])
        torch.testing.assert_close(gradient, found)
        rows = cross_entropy(model(inputs[batch]), labels[batch], reduction="none")
        loss = (rows * model.class_weights[labels[batch]]).sum() / len(batch)
        parts = torch.autograd.grad(loss, [model.head.weight, model.head.bias])
        torch.testing.assert_close(gradient, torch.cat([part.flatten() for part in parts]))


def test_rows_are_in_the_order_of_the_batches(model: Mlp, inputs: Tensor, labels: Tensor) -> None:
    batches = list(torch.arange(ROWS).split([4, 9, 4, 6]))
    forward = embeddings(model, inputs, labels, batches)
    backward = embeddings(model, inputs, labels, batches[::-1])
    torch.testing.assert_close(backward, forward.flip(0))


def test_the_order_within_a_batch_does_not_matter(
    model: Mlp, inputs: Tensor, labels: Tensor
) -> None:
    batch = torch.tensor([2, 17, 9])
    torch.testing.assert_close(
        embeddings(model, inputs, labels, [batch]),
        embeddings(model, inputs, labels, [batch.flip(0)]),
    )


def test_the_gradient_of_all_rows_is_the_mean_over_equal_batches(
    model: Mlp, inputs: Tensor, labels: Tensor
) -> None:
    rows = torch.arange(20)
    parts = embeddings(model, inputs, labels, list(rows.split(5)))
    whole = embeddings(model, inputs, labels, [rows])
    torch.testing.assert_close(parts.mean(dim=0), whole[0])


def test_the_embedding_of_one_row_is_that_of_a_hand_computation() -> None:
    """r = (0.25, -0.25), h = (2, 4): r h^T = (0.5, 1), (-0.5, -1), then r."""
    found = gradient_embeddings(
        torch.tensor([[2.0, 4.0]]), torch.tensor([[0.25, -0.25]]), [torch.tensor([0])]
    )
    assert found.tolist() == [[0.5, 1.0, -0.5, -1.0, 0.25, -0.25]]


def test_there_is_one_column_per_parameter_of_the_head(
    model: Mlp, inputs: Tensor, labels: Tensor
) -> None:
    found = embeddings(model, inputs, labels, list(torch.arange(ROWS).split(5)))
    assert found.shape == (5, sum(p.numel() for p in model.head.parameters()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_embeddings_have_the_precision_of_the_features(dtype: torch.dtype) -> None:
    batches = [torch.tensor([0, 1]), torch.tensor([2])]
    found = gradient_embeddings(torch.ones(3, 2).to(dtype), torch.ones(3, 2).to(dtype), batches)
    assert found.dtype == dtype


# In parts


@pytest.mark.parametrize("chunk", [1, 1000, 10**9])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_chunks_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
    model: Mlp,
    inputs: Tensor,
    labels: Tensor,
    lengths: list[int],
    chunk: int,
) -> None:
    """A row takes 88 bytes, the weights' gradient 224: 1000 hold three mini-batches of one row."""
    batches = list(torch.arange(sum(lengths)).split(lengths))
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
    torch.testing.assert_close(
        embeddings(model, inputs, labels, batches), differentiated(model, inputs, labels, batches)
    )


@pytest.mark.parametrize("chunk", [1, 700, 10**9], ids=["a class", "two classes", "all classes"])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_the_gram_matrix_is_that_of_the_gradients(
    monkeypatch: pytest.MonkeyPatch,
    model: Mlp,
    inputs: Tensor,
    labels: Tensor,
    lengths: list[int],
    chunk: int,
) -> None:
    batches = list(torch.arange(sum(lengths)).split(lengths))
    rows = differentiated(model, inputs, labels, batches)
    with torch.no_grad():
        features = model.features(inputs)
        residuals = model.head(features).softmax(dim=1) - torch.eye(CLASSES)[labels]
    monkeypatch.setattr(module, "CHUNK_BYTES", chunk)
    found = gradient_gram(features, residuals, batches)
    torch.testing.assert_close(found, rows @ rows.T)
    assert torch.equal(found, found.T)


def test_the_gram_matrix_is_in_double_precision() -> None:
    ones = torch.ones(3, 2)
    found = gradient_gram(ones, ones, list(torch.arange(3).split(1)))
    assert (found.dtype, found.unique().tolist()) == (torch.float64, [6.0])


def test_no_batches_have_no_gradients() -> None:
    ones = torch.ones(3, 2)
    assert gradient_embeddings(ones, ones, []).shape == (0, 6)
    assert gradient_gram(ones, ones, []).shape == (0, 0)


@pytest.mark.parametrize(
    ("batches", "fits"), [(4000, True), (10_220, True), (10_221, False), (45_000, False)]
)
def test_gradients_fit_into_200_mebibytes(batches: int, fits: bool) -> None:
    """512 features and 10 classes: 5,130 numbers, hence 20,520 bytes each."""
    layer = LastLayer(torch.zeros(1, 512), torch.zeros(1, 10), torch.zeros(1, dtype=torch.int64))
    assert layer.fits(batches) is fits


@pytest.mark.parametrize(
    ("features", "residuals"), [((3, 2), (2, 2)), ((3,), (3, 2)), ((3, 2), (3,))]
)
def test_shapes_that_do_not_fit_are_refused(
    features: tuple[int, ...], residuals: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match="expected features"):
        gradient_embeddings(torch.ones(features), torch.ones(residuals), [torch.arange(2)])


@pytest.mark.parametrize("function", [gradient_embeddings, gradient_gram])
def test_an_empty_mini_batch_is_refused(function: Callable[..., Tensor]) -> None:
    ones = torch.ones(3, 2)
    with pytest.raises(ValueError, match="without rows"):
        function(ones, ones, [torch.arange(2), torch.arange(0)])
