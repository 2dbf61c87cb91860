"""Non-negative orthogonal matching pursuit, in the space of the Gram matrix."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from torch import Tensor

# A correlation or a pivot this small, relative to its scale, is rounding error of float64.
EPSILON = 1e-10

Array = NDArray[np.float64]


def matching_pursuit(
    gradients: Tensor, target: Tensor, budget: int, *, l2: float = 0.0, tolerance: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Choose rows of `gradients` whose non-negative combination is closest to `target`.

    Greedy solution of the paper's equation 2 (its Algorithm 3, with the loop condition that
    is meant): minimise ||sum_l w_l g_l - target||^2 + l2 ||w||^2 over at most `budget` rows
    with w >= 0. Each step takes the row with the largest positive correlation with the
    residual and solves for the weights of all rows taken; a row whose weight becomes zero is
    dropped for good and its place is free again.

    Args:
        gradients: (n, d), one row a mini-batch.
        target: (d,), the gradient to match.
        budget: most rows to choose.
        l2: the penalty lambda.
        tolerance: stop when the residual's norm is at most this share of the target's.

    Returns:
        indices (m,) int64, distinct, in the order of choice, and weights (m,) float64 > 0,
        m <= budget: fewer when the residual is spent or nothing correlates with it. On the
        device of `gradients`; the weights are the exact minimiser over the chosen rows.

    Raises:
        ValueError: on a shape that does not fit, a negative budget, or NaN or infinity.
    """
    if gradients.ndim != 2 or target.shape != gradients.shape[1:]:
        raise ValueError(
            f"expected gradients (n, d) and target (d,), got {tuple(gradients.shape)} "
            f"and {tuple(target.shape)}"
        )
    if budget < 0:
        raise ValueError(f"budget must not be negative, got {budget}")
    rows = gradients.double()
    aim = target.double()
    if not (torch.isfinite(rows).all() and torch.isfinite(aim).all()):
        raise ValueError("gradients and target must be finite")
    gram = (rows @ rows.T).cpu().numpy()
    match = (rows @ aim).cpu().numpy()
    support, weights = _pursue(gram, match, float(aim @ aim), budget, l2, tolerance)
    device = gradients.device
    return (
        torch.tensor(support, dtype=torch.int64, device=device),
        torch.as_tensor(weights, dtype=torch.float64, device=device),
    )


def _pursue(
    gram: Array, match: Array, target_square: float, budget: int, l2: float, tolerance: float
) -> tuple[list[int], Array]:
    """Run the pursuit on `gram` (n, n) = A A^T and `match` (n,) = A target."""
    support: list[int] = []
    weights: Array = np.zeros(0)
    factor: Array = np.zeros((0, 0))
    norms = np.sqrt(np.diag(gram))
    open_rows = norms > 0
    threshold = EPSILON * np.sqrt(target_square) * norms
    while len(support) < min(budget, len(gram)):
        residual_match = match - gram[:, support] @ weights
        residual_square = target_square - weights @ (match[support] + residual_match[support])
        if residual_square <= max(tolerance**2, EPSILON**2) * target_square:
            break
        candidates = np.where(open_rows & (residual_match > threshold), residual_match, -np.inf)
        best = int(np.argmax(candidates))
        if candidates[best] == -np.inf:
            break
        open_rows[best] = False
        grown = _grow(factor, gram, support, best, l2)
        if grown is None:  # numerically in the span of the support: it cannot help
            continue
        support, factor = [*support, best], grown
        weights = np.append(weights, 0.0)
        support, weights, factor = _solve(gram, match, support, weights, factor, l2)
    return support, weights


def _grow(factor: Array, gram: Array, support: list[int], row: int, l2: float) -> Array | None:
    """Append `row` to the lower Cholesky factor of the support's Gram matrix, if it has rank."""
    k = len(support)
    side = (
        solve_triangular(factor, gram[support, row], lower=True, check_finite=False)
        if k
        else np.zeros(0)
    )
    diagonal = gram[row, row] + l2
    pivot = diagonal - side @ side
    if pivot <= EPSILON * diagonal:
        return None
    grown = np.zeros((k + 1, k + 1))
    grown[:k, :k] = factor
    grown[k, :k] = side
    grown[k, k] = np.sqrt(pivot)
    return grown


def _solve(
    gram: Array, match: Array, support: list[int], weights: Array, factor: Array, l2: float
) -> tuple[list[int], Array, Array]:
    """Solve for weights >= 0 by an active-set step (Lawson and Hanson, 1974, chapter 23).

    While the free optimum has a negative weight, go towards it until the first weight is
    zero, drop that row, and solve again.
    """
    while True:
        optimum: Array = cho_solve((factor, True), match[support], check_finite=False)
        negative = optimum <= 0
        if not negative.any():
            return support, optimum, factor
        steps = np.full(len(weights), np.inf)
        steps[negative] = weights[negative] / (weights[negative] - optimum[negative])
        stop = int(np.argmin(steps))
        weights = np.delete(weights + min(1.0, steps[stop]) * (optimum - weights), stop)
        weights = np.maximum(weights, 0.0)
        support = [row for position, row in enumerate(support) if position != stop]
        if not support:
            return [], np.zeros(0), np.zeros((0, 0))
        block = gram[np.ix_(support, support)] + l2 * np.eye(len(support))
        factor = cholesky(block, lower=True, check_finite=False)
