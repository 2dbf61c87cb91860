"""AUTOMATA's selectors: per-batch gradient matching (paper, equation 2)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from automata.selection.matching import matching_pursuit, matching_pursuit_of_gram
from automata.selection.problem import (
    Cadence,
    SelectionProblem,
    Subset,
    subset_size,
    weighted_subset,
)


class GradMatch:
    """Mini-batches whose weighted gradients add up to the full gradient."""

    cadence = Cadence.EVERY_INTERVAL

    def __init__(self, l2: float = 0.0, tolerance: float = 0.0) -> None:
        self.l2 = l2
        self.tolerance = tolerance

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the mini-batches of non-negative orthogonal matching pursuit."""
        candidates = problem.partition()
        chosen, weights = match_full_gradient(
            problem, candidates, l2=self.l2, tolerance=self.tolerance
        )
        return weighted_subset(problem, candidates, chosen, weights)


class AdaptiveGradMatch(GradMatch):
    """As few mini-batches as match the full gradient well enough.

    The paper asks in its last section how large a subset should be. Here a pursuit ends when the
    gradient error, relative to the full gradient, is at most `tolerance`. It takes at least
    `floor`, a share of the training set, and at most the budget.
    """

    def __init__(self, l2: float = 0.0, tolerance: float = 0.1, floor: float = 0.01) -> None:
        super().__init__(l2, tolerance)
        self.floor = floor

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the mini-batches that the tolerance needs."""
        candidates = problem.partition()
        floor = math.ceil(subset_size(problem.rows, self.floor) / problem.size)
        floor = min(floor, problem.batch_budget)
        chosen, weights = match_full_gradient(
            problem, candidates, l2=self.l2, tolerance=self.tolerance, floor=floor
        )
        rows = min(problem.budget, max(floor, len(chosen)) * problem.size)
        return weighted_subset(problem.with_budget(rows), candidates, chosen, weights)


def match_full_gradient(
    problem: SelectionProblem, candidates: list[Tensor], **options: Any
) -> tuple[Tensor, Tensor]:
    """Return indices and weights, on the CPU, of the candidates that match the full gradient.

    `options` are those of `matching_pursuit`.
    """
    layer = problem.training()
    # Gradients are those of mean losses: a short last mini-batch counts for its share.
    share = torch.tensor([len(batch) / problem.rows for batch in candidates])
    if layer.fits(len(candidates)):
        gradients = layer.gradients(candidates)
        target = share.to(gradients) @ gradients
        chosen, weights = matching_pursuit(gradients, target, problem.batch_budget, **options)
    else:
        gram = layer.gram(candidates)
        chosen, weights = matching_pursuit_of_gram(
            gram, share.to(gram), problem.batch_budget, **options
        )
    return chosen.cpu(), weights.cpu()
