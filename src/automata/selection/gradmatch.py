"""AUTOMATA's selector: per-batch gradient matching (paper, equation 2)."""

from __future__ import annotations

import torch

from automata.selection.matching import matching_pursuit
from automata.selection.problem import Cadence, SelectionProblem, Subset, weighted_subset


class GradMatch:
    """Mini-batches whose weighted gradients add up to the full gradient."""

    cadence = Cadence.EVERY_INTERVAL

    def __init__(self, l2: float = 0.0, tolerance: float = 0.0) -> None:
        self.l2 = l2
        self.tolerance = tolerance

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the mini-batches of non-negative orthogonal matching pursuit."""
        candidates = problem.partition()
        gradients = problem.gradients(candidates)
        # Rows are gradients of mean losses: a short last mini-batch counts for its share.
        share = torch.tensor([len(batch) / problem.size for batch in candidates])
        target = share.to(gradients) @ gradients
        chosen, weights = matching_pursuit(
            gradients, target, problem.batch_budget, l2=self.l2, tolerance=self.tolerance
        )
        return weighted_subset(problem, candidates, chosen.cpu(), weights.cpu())
