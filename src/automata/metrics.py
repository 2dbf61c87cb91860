"""The metrics: what a search may maximise, and what is recorded of every model."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    """Rows by class and answer (classes, classes + 1); the last column: no answer."""


@dataclass(frozen=True)
class Entry:
    """A metric, and how it is computed, compared and written."""

    words: str
    meaning: str
    of_counts: Callable[[Counts], float] | None = None
    """Computes it from the answers; None: it takes probabilities."""
    field: str = ""
    """Its field in `Scores`, if that has another name."""
    always: bool = True
    """Whether all records have it, or only those of runs that tune it."""
    is_share: bool = True
    """Whether it is written in percent."""
    equal_classes: bool = False
    """Whether all classes have equal weight in it."""
    lower_is_better: bool = False
    to_score: Callable[[float], float] = float
    """From the value to the number that a search maximises, at least 0."""
    from_score: Callable[[float], float] = float


def _accuracy(counts: Counts) -> float:
    return int(counts.diagonal().sum()) / int(counts.sum())


def _balanced_accuracy(counts: Counts) -> float:
    rows = counts.sum(axis=1)
    present = rows > 0
    return float((counts.diagonal()[present] / rows[present]).mean())


def _macro_f1(counts: Counts) -> float:
    rows, answers = counts.sum(axis=1), counts[:, :-1].sum(axis=0)
    occurring = (rows > 0) | (answers > 0)
    right = counts.diagonal()[occurring]
    return float((2 * right / (rows + answers)[occurring]).mean())


def _mcc(counts: Counts) -> float:
    """Return 0 if all rows have one class or one answer (Gorodkin 2004, equation 8)."""
    total, right = float(counts.sum()), float(counts.diagonal().sum())
    rows, answers = counts.sum(axis=1).astype(float), counts.sum(axis=0).astype(float)
    spread = (total**2 - (rows**2).sum()) * (total**2 - (answers**2).sum())
    both = float((rows * answers[:-1]).sum())
    return (right * total - both) / math.sqrt(spread) if spread else 0.0


METRICS: dict[str, Entry] = {
    "accuracy": Entry("accuracy", "share of the rows that are right", _accuracy),
    "balanced_accuracy": Entry(
        "balanced accuracy", "mean recall of the classes", _balanced_accuracy, equal_classes=True
    ),
    "macro_f1": Entry("macro F1", "mean F1 of the classes", _macro_f1),
    "log_loss": Entry(
        "log loss",
        "mean cross-entropy in nats, which is minimised",
        field="loss",
        is_share=False,
        lower_is_better=True,
        to_score=lambda loss: math.exp(-loss),  # the geometric mean of the true class's probability
        from_score=lambda score: -math.log(max(score, sys.float_info.min)),
    ),
    "roc_auc": Entry(
        "ROC AUC",
        "area under the ROC curve; of several classes the mean of each against the rest",
        always=False,
    ),
    "mcc": Entry(
        "MCC",
        "Matthews correlation coefficient",
        _mcc,
        always=False,
        is_share=False,
        to_score=lambda value: (1 + value) / 2,
        from_score=lambda score: 2 * score - 1,
    ),
}
