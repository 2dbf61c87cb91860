"""The progress of one training run: its work, time and scores."""

from __future__ import annotations

import math
from typing import Annotated

from automata.config.base import added
from automata.records.base import Recorded
from automata.records.scores import Scores

WORST_SCORE = 0.0
"""Score of a training that diverged."""

TIE = 1e-8
"""Scores that differ by less are equal: accuracies differ by more, on fewer than 10^8 rows, and
equal means over classes by about 1e-16, because they are sums of rounded numbers."""


class Evaluation(Scores):
    """One evaluation on the validation set."""

    epoch: int
    finished_at: float
    """Unix time, seconds."""

    def rank(self, metric: str) -> tuple[float, float]:
        """Return the key that orders the epochs of a training: the score, then the loss.

        The loss alone decides for two metrics: accuracy ties on few rows, where the loss still
        shows overfitting, and the score of the log loss is not a number if the loss is none.
        """
        loss = math.inf if math.isnan(self.loss) else self.loss
        return 0.0 if metric in ("accuracy", "log_loss") else self.score(metric), -loss


class Seconds(Recorded):
    """Wall seconds of a training run by activity."""

    training: float = 0.0
    selection: float = 0.0
    evaluation: float = 0.0

    @property
    def total(self) -> float:
        """Their sum."""
        return self.training + self.selection + self.evaluation


class Progress(Recorded):
    """The work of one training run so far."""

    epochs: int = 0
    steps: int = 0
    samples: int = 0
    """Samples trained, including the warm start."""
    subset_samples: int = 0
    """Samples of the latest subset: the budget, or fewer with an adaptive selector."""
    subset_epochs: int = 0
    """Epochs trained on subsets, without the warm start."""
    selected_samples: int = 0
    """Samples trained in these epochs."""
    draws: int = 0
    """Subsets drawn."""
    gradient_selections: int = 0
    """Selections by gradients: each takes a forward pass over the training set."""
    random_fill: int = 0
    """Mini-batches drawn at random, to fill a subset for which a solver chose too few."""
    training_loss: list[float] = []
    """Mean (weighted) loss of each epoch, with six digits, because it fills most of a record."""
    evaluations: list[Evaluation] = []
    """At the rungs: searches and schedulers see these."""
    curve: list[Evaluation] = []
    """A field of earlier records; nothing reads it."""
    best: Annotated[Evaluation | None, added(None)] = None
    """With `patience`: at the best epoch, whose weights are kept."""
    seconds: Seconds = Seconds()
    failure: str | None = None
    """Why the training diverged, if it did."""
    metric: Annotated[str, added("accuracy")] = "accuracy"
    """The score by which trials are compared."""
    break_ties: Annotated[bool, added(False)] = False
    """Whether the log loss decides between trials with equal scores."""

    @property
    def kept_epoch(self) -> int:
        """The epoch of the weights that are kept."""
        return self.best.epoch if self.best else self.epochs

    @property
    def score(self) -> float:
        """The latest validation score; the worst one after a divergence."""
        if self.failure is not None or not self.evaluations:
            return WORST_SCORE
        return self.evaluations[-1].score(self.metric)

    @property
    def standing(self) -> float:
        """The number by which trials are compared, at the latest evaluation."""
        diverged = self.failure is not None or not self.evaluations
        return WORST_SCORE if diverged else self.standing_at(self.evaluations[-1])

    def standing_at(self, evaluation: Evaluation) -> float:
        """Return the score at an evaluation; with `break_ties`, a lower log loss adds more to it.

        It adds at most `TIE`, so that it decides between equal scores alone.
        """
        score = evaluation.score(self.metric)
        return score + TIE / (1 + evaluation.loss) if self.break_ties else score
