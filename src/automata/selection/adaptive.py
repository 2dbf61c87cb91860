"""Gradient matching with a subset as large as the match asks for."""

from __future__ import annotations

import math

from automata.selection.gradmatch import match_full_gradient
from automata.selection.problem import (
    Cadence,
    SelectionProblem,
    Subset,
    subset_size,
    weighted_subset,
)


class AdaptiveGradMatch:
    """As few mini-batches as match the full gradient well enough, within bounds.

    An answer to the paper's closing question of how large a subset should be: at each
    re-selection of each configuration the pursuit ends as soon as the gradient error, relative
    to the full gradient, is at most `tolerance`. It takes at least `floor`, a share of the
    training set, and at most the budget. The random first subset has the whole budget.
    """

    cadence = Cadence.EVERY_INTERVAL

    def __init__(self, l2: float = 0.0, tolerance: float = 0.1, floor: float = 0.01) -> None:
        self.l2 = l2
        self.tolerance = tolerance
        self.floor = floor

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the mini-batches that the tolerance asks for."""
        candidates = problem.partition()
        floor = math.ceil(subset_size(problem.rows, self.floor) / problem.size)
        floor = min(floor, problem.batch_budget)
        chosen, weights = match_full_gradient(
            problem, candidates, l2=self.l2, tolerance=self.tolerance, floor=floor
        )
        rows = min(problem.budget, max(floor, len(chosen)) * problem.size)
        return weighted_subset(problem.with_budget(rows), candidates, chosen, weights)
