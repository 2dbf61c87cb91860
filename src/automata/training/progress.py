"""The account of one training run: what was trained, for how long, with what outcome."""

from __future__ import annotations

from automata.recorded import Recorded

WORST_SCORE = 0.0
"""Score (validation accuracy) of a training that diverged."""


class Evaluation(Recorded):
    """One evaluation on the validation set."""

    epoch: int
    accuracy: float
    loss: float
    finished_at: float
    """Unix time, seconds."""


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

    @property
    def score(self) -> float:
        """Latest validation accuracy, the worst score after a divergence."""
        if self.failure is not None or not self.evaluations:
            return WORST_SCORE
        return self.evaluations[-1].accuracy
