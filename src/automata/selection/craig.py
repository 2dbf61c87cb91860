"""CRAIG, per batch: mini-batches that stand for the others (Mirzasoleiman et al., 2020)."""

from __future__ import annotations

from torch import Tensor

from automata.selection.facility import facility_location
from automata.selection.problem import Cadence, SelectionProblem, Subset, weighted_subset

STEPS = 2**36
"""Float64 adds 2^17 numbers of this size without rounding."""


class Craig:
    """Facility location over the mini-batches' gradients; weights are cluster sizes."""

    cadence = Cadence.EVERY_INTERVAL

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the exemplar mini-batches and how many each stands for."""
        candidates = problem.partition()
        closeness = similarities(problem.training().gram(candidates))
        chosen, weights = facility_location(closeness, problem.batch_budget)
        return weighted_subset(problem, candidates, chosen, weights)


def similarities(gram: Tensor) -> Tensor:
    """Return the similarities (n, n) float64 of rows with the inner products `gram` (n, n).

    A similarity is the largest distance minus the distance, as a whole number of steps; the largest
    distance has STEPS. Sums of them are exact, so that ties are the same on every device.
    """
    distance = distances(gram)
    if distance.any():
        distance.mul_(STEPS / distance.max()).round_()
    return distance.max() - distance


def distances(gram: Tensor) -> Tensor:
    """Return the Euclidean distances (n, n) of rows with the inner products `gram` (n, n)."""
    squares = gram.diagonal()
    # In place: these are large. Rounding can make the square of a small distance negative.
    return (squares[:, None] + squares).sub_(gram, alpha=2).clamp_min_(0).sqrt_()
