"""Scores of a model on a split."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from automata.datasets.prepared import Split
from automata.metrics import METRICS
from automata.models.classifier import Classifier
from automata.records.scores import Scores
from automata.selection.embeddings import LastLayer


def evaluate(model: Classifier, split: Split, metric: str = "accuracy") -> Scores:
    """Return the scores of `model` on all rows of `split`; see `scored`."""
    return scored(model, split, metric)[0]


@torch.inference_mode()
def scored(model: Classifier, split: Split, metric: str) -> tuple[Scores, NDArray[np.int64]]:
    """Score `model`, in evaluation mode, on all rows of `split`; count its answers by class.

    The counts are (classes, classes + 1); the last column has the rows without an answer.
    The loss is that of `CrossEntropy.unweighted`. A row whose logits are not finite counts as
    wrong. Scores that not all records have are computed if they are the `metric`.
    """
    classes = model.head.out_features
    pairs = torch.zeros(classes * (classes + 1), dtype=torch.int64, device=split.labels.device)
    loss = torch.zeros((), dtype=torch.float64, device=split.labels.device)
    probabilities = []
    with evaluation_mode(model):
        for inputs, labels in chunks(split, model):
            logits = model(inputs)
            finite = torch.isfinite(logits).all(dim=1)
            predicted = logits.argmax(dim=1).where(finite, classes)  # no class
            pairs += torch.bincount(labels * (classes + 1) + predicted, minlength=len(pairs))
            unweighted = model.criterion.unweighted(logits)
            loss += cross_entropy(unweighted, labels, reduction="sum").double()
            if metric == "roc_auc":
                probabilities.append(unweighted.softmax(dim=1).where(finite[:, None], 0.0))
    counts = pairs.view(classes, classes + 1).cpu().numpy()
    values = {"loss": float(loss) / len(split), **scores_of(counts, metric)}
    if probabilities:
        shares = torch.cat(probabilities).float().cpu().numpy()
        values["roc_auc"] = roc_auc(split.labels.cpu().numpy(), shares)
    return Scores(**values), counts


def scores_of(counts: NDArray[np.int64], metric: str) -> dict[str, float]:
    """Return the metrics that follow from the answers: those of all records, and `metric`."""
    return {
        name: entry.of_counts(counts)
        for name, entry in METRICS.items()
        if entry.of_counts and (entry.always or name == metric)
    }


def roc_auc(labels: NDArray[np.int64], probabilities: NDArray[np.floating]) -> float:
    """Return the mean area of the classes that some rows have and others have not, or 0.5.

    Two classes have equal areas.
    """
    from sklearn.metrics import roc_auc_score  # it imports most of SciPy

    mixed = [number for number in np.unique(labels) if (labels != number).any()]
    areas = [roc_auc_score(labels == number, probabilities[:, number]) for number in mixed]
    return float(np.mean(areas)) if areas else 0.5


@torch.inference_mode()
def last_layer(model: Classifier, split: Split) -> LastLayer:
    """Return inputs and outputs of the last layer for all rows, by a pass in evaluation mode."""
    features = model.head.weight.new_empty(len(split), model.head.in_features)
    with evaluation_mode(model):
        start = 0
        for inputs, labels in chunks(split, model):
            features[start : start + len(labels)] = model.features(inputs)
            start += len(labels)
        logits = model.head(features).to(features)
        return LastLayer(features, logits, split.labels, model.criterion)


def chunks(split: Split, model: Classifier) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield inputs, as `model` reads them, and labels, in chunks of the model's size."""
    count = model.evaluation_rows
    if split.labels.is_cuda:
        rows = model.evaluation_rows_on_gpu
        if split.inputs.ndim == 4:  # memory grows with pixels
            rows = rows * 32 * 32 // split.inputs[0, 0].numel()
        count = max(rows, count)
    for start in range(0, len(split), count):
        some = slice(start, start + count)
        inputs = split.ready(split.inputs[some])
        if not model.reads_padding:
            inputs = split.without_padding(inputs, some)
        yield inputs, split.labels[some]


@contextmanager
def evaluation_mode(model: Classifier) -> Iterator[None]:
    """Put `model` into evaluation mode during the body, then back into its mode."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
