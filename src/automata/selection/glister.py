"""GLISTER-ONLINE, per batch: mini-batches that lower the validation loss (Killamsetty, 2021)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from automata.selection.embeddings import LastLayer
from automata.selection.problem import Cadence, SelectionProblem, Subset, weighted_subset


class Glister:
    """Mini-batches whose gradient steps lower the validation loss most, to first order.

    Greedy (Killamsetty et al., GLISTER, 2021, algorithm 2): with theta_S = theta - eta sum_S g,
    the next mini-batch e has the largest gain g_e . grad L_V(theta_S). theta is the last layer
    alone, and eta its learning rate, also under Adam, whose steps differ. As in the authors' code,
    theta_S is updated `updates` times a selection, not after every choice.

    It reads the validation labels, so that validation scores of its trials are too high.
    """

    cadence = Cadence.EVERY_INTERVAL

    def __init__(self, updates: int = 15) -> None:
        self.updates = updates

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the chosen mini-batches, with equal weights."""
        candidates = problem.partition()
        chosen = taylor_greedy(
            problem.training(),
            candidates,
            problem.validation(),
            problem.batch_budget,
            step=problem.learning_rate,
            updates=self.updates,
        )
        return weighted_subset(problem, candidates, chosen.cpu(), torch.ones(len(chosen)))


def taylor_greedy(
    training: LastLayer,
    batches: Sequence[Tensor],
    validation: LastLayer,
    budget: int,
    *,
    step: float,
    updates: int,
) -> Tensor:
    """Return the mini-batches that greedily lower the validation loss by a gradient step.

    Memory holds the gradients of the mini-batches that are chosen between two updates.

    Args:
        training: the last layer on the training set.
        batches: row numbers of the training set, of n mini-batches.
        validation: the last layer on the validation set.
        budget: mini-batches to choose.
        step: eta, the learning rate.
        updates: how often the validation gradient is computed; at most once a choice.

    Returns:
        (m,) int64, m = min(budget, n), distinct, in the order of choice. The first wins a tie.
    """
    budget = min(budget, len(batches))
    device = training.features.device
    at_once = max(1, math.ceil(budget / updates))
    left = torch.ones(len(batches), dtype=torch.bool, device=device)
    order = torch.zeros(0, dtype=torch.int64, device=device)
    everything = [torch.arange(len(validation.labels), device=device)]
    for start in range(0, budget, at_once):
        (slope,) = validation.gradients(everything)
        gains = torch.where(left, training.products(batches, slope), -math.inf)
        best = gains.argsort(descending=True, stable=True)[: min(at_once, budget - start)]
        left[best] = False
        order = torch.cat([order, best])
        gradients = training.gradients([batches[i] for i in best.tolist()])
        validation = validation.after_step(gradients.sum(dim=0), step)
    return order
