"""GLISTER-ONLINE, per batch: mini-batches that lower the validation loss (Killamsetty, 2021)."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from automata.selection.embeddings import LastLayer
from automata.selection.problem import Cadence, SelectionProblem, Subset, weighted_subset


class Glister:
    """Mini-batches whose gradient steps lower the validation loss most, to first order.

    Greedy (Killamsetty et al., GLISTER, 2021, algorithm 2): with theta_S = theta - eta sum_S g,
    eta the learning rate, the next mini-batch e has the largest gain g_e . grad L_V(theta_S).
    theta is the last layer alone, and theta_S is updated `updates` times a selection, not
    after every choice, as its authors do for speed.

    It looks at the validation set's labels: a search that then compares configurations on that
    set compares them on data that chose what they were trained on.
    """

    cadence = Cadence.EVERY_INTERVAL

    def __init__(self, updates: int = 15) -> None:
        self.updates = updates

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the chosen mini-batches, with equal weights."""
        candidates = problem.partition()
        chosen = taylor_greedy(
            problem.training().gradients(candidates),
            problem.validation(),
            problem.batch_budget,
            problem.learning_rate,
            self.updates,
        )
        return weighted_subset(problem, candidates, chosen.cpu(), torch.ones(len(chosen)))


def taylor_greedy(
    gradients: Tensor, validation: LastLayer, budget: int, step: float, updates: int
) -> Tensor:
    """Return the mini-batches that greedily lower the validation loss by a gradient step.

    Args:
        gradients: (n, c (h + 1)), as `gradient_embeddings` lays them out.
        validation: the last layer on the validation set.
        budget: mini-batches to choose.
        step: eta, the learning rate.
        updates: how often the validation gradient is computed anew; at most once a choice.

    Returns:
        (m,) int64, m = min(budget, n) distinct rows in the order of choice. The first row wins
        a tie.
    """
    budget = min(budget, len(gradients))
    at_once = math.ceil(budget / updates)
    left = torch.ones(len(gradients), dtype=torch.bool, device=gradients.device)
    chosen: list[Tensor] = []
    moved = torch.zeros_like(gradients[0])
    everything = [torch.arange(len(validation.labels), device=gradients.device)]
    for start in range(0, budget, at_once):
        slope = _after_step(validation, moved, step).gradients(everything)[0]
        gains = torch.where(left, gradients @ slope, -math.inf)
        best = gains.argsort(descending=True, stable=True)[: min(at_once, budget - start)]
        left[best] = False
        chosen.append(best)
        moved = moved + gradients[best].sum(dim=0)
    return torch.cat(chosen)


def _after_step(layer: LastLayer, gradient: Tensor, step: float) -> LastLayer:
    """Return `layer` after its weights and bias went against `gradient`."""
    c, h = layer.logits.shape[1], layer.features.shape[1]
    weight, bias = gradient[: c * h].view(c, h), gradient[c * h :]
    change = layer.features @ weight.T + bias
    return LastLayer(layer.features, layer.logits - step * change, layer.labels)
