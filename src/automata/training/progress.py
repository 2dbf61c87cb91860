"""The account of one training run: what was trained, for how long, with what outcome."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from automata.files import Recorded

WORST_SCORE = 0.0
"""Score of a training that diverged."""


class Evaluation(Recorded):
    """One evaluation on the validation set."""

    epoch: int
    accuracy: float
    loss: float
    finished_at: float
    """Unix time, seconds."""
    balanced_accuracy: float | None = None
    """Mean recall of the classes; None in records from before there was it."""
    macro_f1: float | None = None
    """Mean F1 of the classes."""

    def score(self, metric: str) -> float:
        """Return what a search maximises, at least 0, better first.

        Of the log loss that is exp(-loss), the geometric mean of the probability of the right
        class: it orders trials as the loss does, and a training that diverged has the worst, 0.
        """
        return math.exp(-self.loss) if metric == "log_loss" else float(getattr(self, metric))


class Seconds(Recorded):
    """Wall seconds inside a training run, by what they were spent on."""

    training: float = 0.0
    selection: float = 0.0
    evaluation: float = 0.0

    @property
    def total(self) -> float:
        """Wall seconds of useful work."""
        return self.training + self.selection + self.evaluation


class Progress(Recorded):
    """What one training run has done so far."""

    epochs: int = 0
    steps: int = 0
    samples: int = 0
    """Samples that gradients were computed of, warm start included."""
    subset_samples: int = 0
    """Samples of the latest subset: the budget, or less with a selector that adapts."""
    subset_epochs: int = 0
    """Epochs trained on subsets, hence not those of the warm start."""
    selected_samples: int = 0
    """Samples trained in these: what a selector that adapts really took."""
    draws: int = 0
    """Subsets drawn."""
    gradient_selections: int = 0
    """Selections that read gradients: each one forward pass over the training set."""
    random_fill: int = 0
    """Mini-batches that a solver had no use for and chance filled in."""
    training_loss: list[float] = []
    """Mean (weighted) loss of each epoch, to six digits: it is most of what a record holds."""
    evaluations: list[Evaluation] = []
    """At the rungs: what searches and schedulers see."""
    curve: list[Evaluation] = []
    """Between the rungs, for those who want to see the curve."""
    seconds: Seconds = Seconds()
    failure: str | None = None
    """Why the training diverged, if it did."""
    metric: Annotated[str, Field(exclude_if=lambda metric: metric == "accuracy")] = "accuracy"
    """What trials are compared by."""

    @property
    def score(self) -> float:
        """Latest validation score, the worst one after a divergence."""
        if self.failure is not None or not self.evaluations:
            return WORST_SCORE
        return self.evaluations[-1].score(self.metric)
