"""Accuracy and loss of a model on a split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from automata.datasets.prepared import Split
from automata.models.classifier import Classifier
from automata.selection.embeddings import LastLayer


@dataclass(frozen=True)
class Scores:
    """Share of rows classified right, and mean cross-entropy (nats)."""

    accuracy: float
    loss: float


@torch.inference_mode()
def evaluate(model: Classifier, split: Split) -> Scores:
    """Score `model`, in evaluation mode, on all rows of `split`.

    A row whose logits are not finite counts as wrong.
    """
    correct = torch.zeros((), dtype=torch.int64, device=split.labels.device)
    loss = torch.zeros((), dtype=torch.float64, device=split.labels.device)
    with evaluation_mode(model):
        for inputs, labels in chunks(split, model.evaluation_rows):
            logits = model(inputs)
            finite = torch.isfinite(logits).all(dim=1)
            correct += ((logits.argmax(dim=1) == labels) & finite).sum()
            loss += cross_entropy(logits, labels, reduction="sum").double()
    return Scores(int(correct) / len(split), float(loss) / len(split))


@torch.inference_mode()
def last_layer(model: Classifier, split: Split) -> LastLayer:
    """Return what the last layer of `model` sees of all rows: what gradients are made of.

    One forward pass in evaluation mode.
    """
    features = model.head.weight.new_empty(len(split), model.head.in_features)
    with evaluation_mode(model):
        start = 0
        for inputs, labels in chunks(split, model.evaluation_rows):
            features[start : start + len(labels)] = model.features(inputs)
            start += len(labels)
        return LastLayer(features, model.head(features).to(features), split.labels)


def chunks(split: Split, rows: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield inputs, as models take them, and labels in chunks of at most `rows` rows."""
    for inputs, labels in zip(split.inputs.split(rows), split.labels.split(rows), strict=True):
        yield split.ready(inputs), labels


class evaluation_mode:  # noqa: N801 - used like contextlib's managers
    """Put `model` into evaluation mode, and back into its mode on leaving."""

    def __init__(self, model: Classifier) -> None:
        self.model = model

    def __enter__(self) -> None:
        self.was_training = self.model.training
        self.model.eval()

    def __exit__(self, *_: object) -> None:
        self.model.train(self.was_training)
