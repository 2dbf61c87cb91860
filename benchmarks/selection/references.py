"""Other solvers of the same problems: plain ones, and those of other libraries."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Choice = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Chosen rows, and their weights."""


def per_step_least_squares(gradients: Tensor, target: Tensor, budget: int) -> Choice:
    """Orthogonal matching pursuit as in a textbook, without w >= 0.

    Each step takes the row with the largest correlation with the residual, builds the Gram
    matrix of the rows taken, and solves their least squares anew.
    """
    support: list[int] = []
    weights = gradients.new_zeros(0)
    residual = target
    for _ in range(budget):
        correlation = gradients @ residual
        correlation[support] = -torch.inf
        support.append(int(correlation.argmax()))
        rows = gradients[support]
        gram = rows @ rows.T
        weights = torch.linalg.lstsq(gram, (rows @ target)[:, None]).solution[:, 0]
        residual = target - weights @ rows
    return np.array(support), weights.double().numpy()


def sklearn_gram(gradients: Tensor, target: Tensor, budget: int, dtype: type) -> Choice:
    """scikit-learn's `orthogonal_mp_gram`, the Gram matrix included, without w >= 0.

    It takes the largest correlation by magnitude.
    """
    from sklearn.linear_model import orthogonal_mp_gram

    rows, aim = gradients.numpy().astype(dtype), target.numpy().astype(dtype)
    weights = orthogonal_mp_gram(rows @ rows.T, rows @ aim, n_nonzero_coefs=budget)
    (support,) = weights.nonzero()
    return support, weights[support].astype(np.float64)


def matching_objective(gradients: Tensor, target: Tensor, choice: Choice) -> float:
    """Return ||sum_l w_l g_l - target||^2 in float64."""
    support, weights = choice
    rows = gradients.double().numpy()[support]
    error = weights @ rows - target.double().numpy()
    return float(error @ error)


def plain_greedy(similarity: NDArray[np.float64], budget: int) -> NDArray[np.int64]:
    """Greedy facility location that computes every gain at every step."""
    covered = np.zeros(len(similarity))
    chosen: list[int] = []
    for _ in range(budget):
        gains = np.maximum(similarity - covered[:, None], 0).sum(axis=0)
        gains[chosen] = -np.inf
        best = int(gains.argmax())
        chosen.append(best)
        covered = np.maximum(covered, similarity[:, best])
    return np.array(chosen)


def apricot(
    similarity: NDArray[np.float64], budget: int, compiling: list[float]
) -> NDArray[np.int64]:
    """apricot-select's lazy greedy; appends the seconds of its compilation in each call."""
    from apricot import FacilityLocationSelection

    class Watched(FacilityLocationSelection):  # type: ignore[misc]
        def _initialize(self, *arguments: Any) -> None:
            start = time.perf_counter()
            super()._initialize(*arguments)
            compiling.append(time.perf_counter() - start)

    selector = Watched(budget, metric="precomputed", optimizer="lazy")
    chosen: NDArray[np.int64] = selector.fit(similarity).ranking
    return chosen


def covered(similarity: NDArray[np.float64], chosen: NDArray[np.int64]) -> float:
    """Return the sum over all rows of the similarity to the most similar chosen one."""
    return float(similarity[:, chosen].max(axis=1).sum())
