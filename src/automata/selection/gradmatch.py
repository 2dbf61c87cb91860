"""AUTOMATA's selector: per-batch gradient matching (paper, equation 2)."""

from __future__ import annotations

import torch
from torch import Tensor

from automata.selection.matching import matching_pursuit, matching_pursuit_of_gram
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
        chosen, weights = match_full_gradient(
            problem, candidates, l2=self.l2, tolerance=self.tolerance
        )
        return weighted_subset(problem, candidates, chosen, weights)


def match_full_gradient(
    problem: SelectionProblem,
    candidates: list[Tensor],
    *,
    l2: float,
    tolerance: float,
    floor: int = 0,
) -> tuple[Tensor, Tensor]:
    """Return numbers and weights of the candidates that match the gradient of all rows.

    As `matching_pursuit` returns them, on the CPU.
    """
    layer = problem.training()
    # Gradients are those of mean losses: a short last mini-batch counts for its share.
    share = torch.tensor([len(batch) / problem.rows for batch in candidates])
    budget = problem.batch_budget
    if layer.fits(len(candidates)):
        gradients = layer.gradients(candidates)
        target = share.to(gradients) @ gradients
        chosen, weights = matching_pursuit(
            gradients, target, budget, l2=l2, tolerance=tolerance, floor=floor
        )
    else:
        gram = layer.gram(candidates)
        chosen, weights = matching_pursuit_of_gram(
            gram, share.to(gram), budget, l2=l2, tolerance=tolerance, floor=floor
        )
    return chosen.cpu(), weights.cpu()
