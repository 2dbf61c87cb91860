"""The scores of a model on a split."""

from __future__ import annotations

from typing import Annotated

from automata.config.base import added
from automata.metrics import METRICS
from automata.records.base import Recorded


class Scores(Recorded):
    """A field for each of `METRICS`; None if the record is older, or has it only where tuned."""

    accuracy: float
    loss: float
    balanced_accuracy: float | None = None
    macro_f1: float | None = None
    roc_auc: Annotated[float | None, added(None)] = None
    mcc: Annotated[float | None, added(None)] = None

    def value(self, metric: str) -> float:
        """Return the value of a metric."""
        return float(getattr(self, METRICS[metric].field or metric))

    def score(self, metric: str) -> float:
        """Return the number that a search maximises, at least 0."""
        return METRICS[metric].to_score(self.value(metric))
