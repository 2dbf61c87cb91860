"""CRAIG, per batch: mini-batches that stand for the others (Mirzasoleiman et al., 2020)."""

from __future__ import annotations

import torch

from automata.selection.facility import facility_location
from automata.selection.problem import Cadence, SelectionProblem, Subset, weighted_subset


class Craig:
    """Facility location over the mini-batches' gradients; weights are cluster sizes."""

    cadence = Cadence.EVERY_INTERVAL

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the exemplar mini-batches and how many each stands for."""
        candidates = problem.partition()
        gradients = problem.gradients(candidates).double()
        distance = torch.cdist(gradients, gradients)
        chosen, weights = facility_location(distance.max() - distance, problem.batch_budget)
        return weighted_subset(problem, candidates, chosen.cpu(), weights.cpu())
