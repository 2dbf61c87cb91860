"""Greedy facility location: exemplars that stand for all rows."""

from __future__ import annotations

import torch
from torch import Tensor


def facility_location(similarity: Tensor, budget: int) -> tuple[Tensor, Tensor]:
    """Choose rows so that every row is similar to a chosen one.

    Greedy maximisation, with exact gains, of sum_i max_{j in S} similarity[i, j]
    (Mirzasoleiman et al., CRAIG, 2020, equation 11).

    Args:
        similarity: (n, n), not negative; similarity[i, j] is how well j stands for i.
        budget: rows to choose.

    Returns:
        indices (m,) int64, distinct, in the order of choice, m = min(budget, n), and weights
        (m,) float64: the number of rows for which each is the most similar chosen one (the
        earlier choice wins a tie), so that they sum to n.

    Raises:
        ValueError: on a matrix that is not square, or has NaN, infinity or negative values,
            and on a negative budget.
    """
    n = len(similarity)
    if similarity.shape != (n, n):
        raise ValueError(f"expected a square matrix, got {tuple(similarity.shape)}")
    if budget < 0:
        raise ValueError(f"budget must not be negative, got {budget}")
    if not torch.isfinite(similarity).all() or (similarity < 0).any():
        raise ValueError("similarity must be finite and not negative")
    values = similarity.double()
    covered = torch.zeros(n, dtype=torch.float64, device=values.device)
    open_columns = torch.ones(n, dtype=torch.bool, device=values.device)
    chosen: list[int] = []
    for _ in range(min(budget, n)):
        gains = (values - covered[:, None]).clamp_min(0).sum(dim=0)
        best = int(torch.where(open_columns, gains, -1.0).argmax())
        open_columns[best] = False
        chosen.append(best)
        covered = torch.maximum(covered, values[:, best])
    indices = torch.tensor(chosen, dtype=torch.int64, device=values.device)
    if not chosen:
        return indices, torch.zeros(0, dtype=torch.float64, device=values.device)
    nearest = values[:, indices].argmax(dim=1)
    weights = torch.bincount(nearest, minlength=len(chosen)).double()
    return indices, weights
