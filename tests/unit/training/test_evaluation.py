"""Scores of a split against scikit-learn, and the last layer's residuals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    roc_auc_score,
)
from torch import Tensor, nn

from automata.datasets.prepared import Dataset, Split
from automata.models.classifier import Classifier
from automata.models.nets import Mlp
from automata.training.evaluation import evaluate, evaluation_mode, last_layer, roc_auc
from automata.training.progress import Evaluation, Progress


class Echo(Classifier):
    """A model whose logits are its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(1, 3)

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs


class Dropping(Classifier):
    """A model that differs between training and evaluation mode."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.5)
        self.head = nn.Linear(6, 3)

    def features(self, inputs: Tensor) -> Tensor:
        dropped: Tensor = self.dropout(inputs)
        return dropped


@pytest.fixture
def model() -> Mlp:
    torch.manual_seed(0)
    return Mlp(inputs=6, hidden1=8, hidden2=7, classes=3)


@pytest.fixture
def split(dataset: Dataset) -> Split:
    return dataset.train


def probabilities(model: Classifier, split: Split) -> np.ndarray:
    with torch.no_grad():
        return torch.softmax(model(split.inputs).double(), dim=1).numpy()


def test_accuracy_is_scikit_learns(model: Mlp, split: Split) -> None:
    predicted = probabilities(model, split).argmax(axis=1)
    assert evaluate(model, split).accuracy == accuracy_score(split.labels.numpy(), predicted)


def test_loss_is_scikit_learns_log_loss(model: Mlp, split: Split) -> None:
    expected = log_loss(split.labels.numpy(), probabilities(model, split), labels=[0, 1, 2])
    assert evaluate(model, split).loss == pytest.approx(expected, rel=1e-5)


@pytest.mark.filterwarnings("ignore:y_pred contains classes")
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20),
)
def test_scores_of_classes_are_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    labels, predicted = (list(column) for column in zip(*pairs, strict=True))
    split = Split(torch.eye(3)[predicted], torch.tensor(labels))
    scores = evaluate(Echo(), split)
    assert scores.balanced_accuracy == pytest.approx(balanced_accuracy_score(labels, predicted))
    assert scores.macro_f1 == pytest.approx(f1_score(labels, predicted, average="macro"))


@given(st.data(), st.integers(2, 4))
def test_roc_auc_is_the_share_of_pairs_that_are_in_order(data: st.DataObject, classes: int) -> None:
    labels = np.array(data.draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=12)))
    numbers = st.lists(st.integers(0, 3), min_size=classes, max_size=classes)
    rows = data.draw(st.lists(numbers, min_size=len(labels), max_size=len(labels)))
    chances = np.array(rows, dtype=np.float32)
    areas = []
    for number in range(classes):
        scores = chances[:, number]
        pairs = scores[labels == number][:, None] - scores[labels != number]
        areas += [((pairs > 0) + 0.5 * (pairs == 0)).mean()] if pairs.size else []
    assert roc_auc(labels, chances) == pytest.approx(np.mean(areas) if areas else 0.5)


def test_roc_auc_is_computed_only_if_it_is_the_metric(model: Mlp, split: Split) -> None:
    labels, chances = split.labels.numpy(), probabilities(model, split)
    expected = roc_auc_score(labels, chances, multi_class="ovr", average="macro")
    assert evaluate(model, split).roc_auc is None
    assert evaluate(model, split, "roc_auc").roc_auc == pytest.approx(expected, abs=1e-6)


def test_log_loss_orders_trials_as_the_loss_does_and_divergence_is_worst() -> None:
    losses = [0.1, 0.7, 3.0, 40.0]
    scores = [
        Progress(
            metric="log_loss",
            evaluations=[Evaluation(epoch=1, accuracy=0.5, loss=loss, finished_at=0.0)],
        ).score
        for loss in losses
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(math.exp(-0.1))
    assert min(scores) > Progress(metric="log_loss", failure="diverged").score


@pytest.mark.parametrize("chunk", [1, 7, 119, 120, 121])
def test_accuracy_does_not_depend_on_the_chunks(
    model: Mlp, split: Split, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    whole = evaluate(model, split).accuracy
    monkeypatch.setattr(model, "evaluation_rows", chunk)
    assert evaluate(model, split).accuracy == whole


@pytest.mark.parametrize("chunk", [1, 7, 119, 120, 121])
def test_loss_does_not_depend_on_the_chunks(
    model: Mlp, split: Split, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    whole = evaluate(model, split).loss
    monkeypatch.setattr(model, "evaluation_rows", chunk)
    assert evaluate(model, split).loss == pytest.approx(whole, rel=1e-5)


@pytest.mark.parametrize("part", ["features", "residuals"])
def test_the_last_layer_does_not_depend_on_the_chunks(
    model: Mlp, split: Split, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    whole = getattr(last_layer(model, split), part)
    monkeypatch.setattr(model, "evaluation_rows", 7)
    torch.testing.assert_close(getattr(last_layer(model, split), part), whole)


@pytest.mark.parametrize(
    "logits",
    [
        [math.inf, 0.0, 0.0],
        [math.nan, 0.0, 0.0],
        [math.nan] * 3,
        [5.0, -math.inf, 0.0],
        [5.0, math.nan, 0.0],
    ],
    ids=str,
)
def test_a_row_with_logits_that_are_not_finite_is_wrong(logits: list[float]) -> None:
    """Both rows are of class 0; the first is right."""
    split = Split(torch.tensor([[2.0, 1.0, 0.0], logits]), torch.tensor([0, 0]))
    assert evaluate(Echo(), split).accuracy == 0.5


def test_the_loss_of_logits_that_are_not_numbers_is_not_finite() -> None:
    split = Split(torch.tensor([[math.nan, 0.0, 0.0]]), torch.tensor([0]))
    assert not math.isfinite(evaluate(Echo(), split).loss)


def test_scores_are_those_of_a_hand_computation() -> None:
    """Even odds for two classes: log 2 each; ties go to the first class."""
    split = Split(torch.zeros(4, 2), torch.tensor([0, 0, 0, 1]))
    scores = evaluate(Echo(), split)
    assert (scores.accuracy, scores.loss) == pytest.approx((0.75, math.log(2)))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("function", [evaluate, last_layer])
def test_the_mode_of_the_model_is_restored(
    model: Mlp, split: Split, function: object, training: bool
) -> None:
    model.train(training)
    function(model, split)  # type: ignore[operator]
    assert model.training is training


def test_the_mode_is_restored_after_an_exception(model: Mlp) -> None:
    model.train()
    with pytest.raises(ZeroDivisionError), evaluation_mode(model):
        raise ZeroDivisionError
    assert model.training


def test_scores_are_those_of_evaluation_mode(split: Split) -> None:
    model = Dropping()
    with torch.no_grad():
        expected = accuracy_score(split.labels, model.head(split.inputs).argmax(dim=1))
    model.train()
    assert evaluate(model, split).accuracy == expected


def test_features_are_those_of_evaluation_mode(split: Split) -> None:
    model = Dropping()
    model.train()
    assert torch.equal(last_layer(model, split).features, split.inputs)


def test_features_are_the_inputs_of_the_head(model: Mlp, split: Split) -> None:
    torch.testing.assert_close(
        last_layer(model, split).features, model.features(split.inputs).detach()
    )


def test_residuals_are_softmax_minus_one_hot(model: Mlp, split: Split) -> None:
    expected = probabilities(model, split) - np.eye(3)[split.labels.numpy()]
    np.testing.assert_allclose(last_layer(model, split).residuals.numpy(), expected, atol=1e-6)


def test_residuals_are_the_gradient_of_the_loss_by_the_logits(model: Mlp, split: Split) -> None:
    logits = model(split.inputs).detach().requires_grad_()
    loss = nn.functional.cross_entropy(logits, split.labels, reduction="sum")
    (expected,) = torch.autograd.grad(loss, logits)
    torch.testing.assert_close(last_layer(model, split).residuals, expected)
