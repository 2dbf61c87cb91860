"""Scores of a split against scikit-learn and by hand, and the last layer's residuals."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    f1_score,
    log_loss,
    matthews_corrcoef,
    roc_auc_score,
)
from torch import nn

from automata.datasets.prepared import Split
from automata.models.classifier import Classifier
from automata.models.loss import CrossEntropy
from automata.models.nets import Mlp
from automata.training.evaluation import evaluate, evaluation_mode, roc_auc, scored


class Echo(Classifier):
    """A model whose logits are its inputs."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(1, 3)

    def forward(self, inputs):
        return inputs


@pytest.mark.parametrize("chunk", [7, 119, 120, 4096])
def test_scores_are_scikit_learns_whatever_the_chunk(dataset, chunk, monkeypatch):
    torch.manual_seed(0)
    split, model = dataset.train, Mlp(inputs=6, hidden1=8, hidden2=7, classes=3, dropout=0.5)
    monkeypatch.setattr(model, "evaluation_rows", chunk)
    with torch.no_grad(), evaluation_mode(model):
        chances = torch.softmax(model(split.inputs).double(), dim=1).numpy()
    labels = split.labels.numpy()
    scores = evaluate(model, split, "roc_auc")
    assert scores.accuracy == accuracy_score(labels, chances.argmax(axis=1))
    assert scores.loss == pytest.approx(log_loss(labels, chances, labels=[0, 1, 2]), rel=1e-5)
    area = roc_auc_score(labels, chances, multi_class="ovr", average="macro")
    assert scores.roc_auc == pytest.approx(area, abs=1e-6)
    assert evaluate(model, split).roc_auc is None


def test_roc_auc_is_that_of_the_probabilities_of_predictions(dataset):
    split, model = dataset.train, Mlp(inputs=6, hidden1=8, hidden2=7, classes=3, dropout=0.5)
    model.criterion = CrossEntropy(torch.tensor([9.0, 1.0, 0.1]))
    with torch.no_grad(), evaluation_mode(model):
        chances = torch.softmax(model.criterion.unweighted(model(split.inputs)).double(), dim=1)
    area = roc_auc_score(split.labels, chances, multi_class="ovr", average="macro")
    assert evaluate(model, split, "roc_auc").roc_auc == pytest.approx(area, abs=1e-6)


@pytest.mark.filterwarnings("ignore:y_pred contains classes", "ignore:A single label was found")
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20))
def test_scores_of_classes_are_scikit_learns(pairs):
    labels, predicted = (list(column) for column in zip(*pairs, strict=True))
    scores = evaluate(Echo(), Split(torch.eye(3)[predicted], torch.tensor(labels)), "mcc")
    assert scores.mcc == pytest.approx(matthews_corrcoef(labels, predicted), abs=1e-12)
    assert scores.balanced_accuracy == pytest.approx(balanced_accuracy_score(labels, predicted))
    assert scores.macro_f1 == pytest.approx(f1_score(labels, predicted, average="macro"))


@given(st.data(), st.integers(2, 4))
def test_roc_auc_is_the_share_of_pairs_that_are_in_order(data, classes):
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


@pytest.mark.parametrize(
    "logits",
    [[math.inf, 0.0, 0.0], [math.nan] * 3, [5.0, -math.inf, 0.0], [5.0, math.nan, 0.0]],
    ids=str,
)
def test_row_with_logits_that_are_not_finite_is_wrong(logits):
    """Both rows are of class 0; the first is right, and certain of it: odds of e^100."""
    split = Split(torch.tensor([[100.0, 0.0, 0.0], logits]), torch.tensor([0, 0]))
    scores = evaluate(Echo(), split, "roc_auc")
    assert scores.accuracy == 0.5
    assert math.isfinite(scores.loss) is (logits == [5.0, -math.inf, 0.0])


def test_answers_are_counted_as_scikit_learn_counts_them():
    labels, predicted = [0, 0, 1, 2, 2, 2], [0, 1, 1, 0, 2, 2]
    split = Split(torch.eye(3)[predicted], torch.tensor(labels))
    _, counts = scored(Echo(), split, "accuracy")
    assert counts[:, :3].tolist() == confusion_matrix(labels, predicted).tolist()
    assert counts[:, 3].tolist() == [0, 0, 0]


def test_loss_without_class_weights_is_that_of_bayes_rule():
    """Weights w train p(y | x) w(y), up to a factor; the loss of p is wanted."""
    torch.manual_seed(0)
    logits, weights, model = torch.randn(50, 3), torch.tensor([0.5, 1.0, 4.0]), Echo()
    labels = torch.randint(3, (50,))
    model.criterion = CrossEntropy(weights)
    chances = logits.double().softmax(dim=1) / weights
    chances /= chances.sum(dim=1, keepdim=True)
    scores, _ = scored(model, Split(logits, labels), "accuracy")
    assert scores.loss == pytest.approx(log_loss(labels, chances, labels=[0, 1, 2]), rel=1e-5)
    assert scores.accuracy == accuracy_score(labels, logits.argmax(dim=1))
