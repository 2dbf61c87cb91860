"""Greedy facility location: exemplars that stand for all rows."""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

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
        (m,) float64, both on the CPU. A weight is the number of rows for which the chosen one
        is the most similar; the earlier choice wins a tie.

    Raises:
        ValueError: if the matrix is not square, finite and not negative, or the budget negative.
    """
    if similarity.ndim != 2 or similarity.shape[0] != similarity.shape[1]:
        raise ValueError(f"expected a square matrix, got {tuple(similarity.shape)}")
    if budget < 0:
        raise ValueError(f"budget must not be negative, got {budget}")
    if len(similarity):
        low, high = similarity.aminmax()  # both are NaN if one value is
        if not (low >= 0 and high < torch.inf):
            raise ValueError("similarity must be finite and not negative")
    # Row j is how well j stands for each row. The CPU is the fastest at reading row by row.
    n = len(similarity)
    values = similarity.double().cpu().T.contiguous()
    chosen = _greedy(values, min(budget, n))
    indices = torch.tensor(chosen, dtype=torch.int64)
    if not chosen:
        return indices, torch.zeros(0, dtype=torch.float64)
    nearest = values[indices].argmax(dim=0)
    weights = torch.bincount(nearest, minlength=len(chosen)).double()
    return indices, weights


def _greedy(values: Tensor, budget: int) -> list[int]:
    """Return the row with the largest gain, again and again; the first row wins a tie.

    A gain can only fall, so an old one is a bound: the row on top of the heap is the best if its
    gain is of this round (Minoux, 1978).
    """
    covered = torch.zeros(len(values), dtype=torch.float64)
    heap = [(-gain, row, -1) for row, gain in enumerate(values.sum(dim=1).tolist())]
    heapify(heap)
    chosen: list[int] = []
    while len(chosen) < budget:
        _, row, round_ = heap[0]
        if round_ == len(chosen):
            heappop(heap)
            chosen.append(row)
            covered = torch.maximum(covered, values[row])
        else:
            gain = float((values[row] - covered).clamp_min_(0).sum())
            heapreplace(heap, (-gain, row, len(chosen)))
    return chosen
