"""Non-negative orthogonal matching pursuit, in the space of the Gram matrix."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import lapack
from torch import Tensor

from automata.selection.embeddings import CHUNK_BYTES, inner_products

ROUNDING = {torch.float32: 1e-6, torch.float64: 1e-10}
"""A correlation or a pivot this small, relative to its scale, is rounding error."""

BLOCK = 16
"""Columns of the Gram matrix that one matrix product computes; twice as many for gradients that
exceed CACHE_BYTES, because each product reads them all."""

CACHE_BYTES = 32 * 1024**2

WHOLE = 0.2
"""Share of the rows; a larger budget computes the whole Gram matrix, which is symmetric and hence
costs as much as the columns of half of the rows."""

Array = NDArray[np.float64]


def matching_pursuit(
    gradients: Tensor,
    target: Tensor,
    budget: int,
    *,
    l2: float = 0.0,
    tolerance: float = 0.0,
    floor: int = 0,
) -> tuple[Tensor, Tensor]:
    """Choose rows of `gradients` whose non-negative combination is closest to `target`.

    Greedy solution of the paper's equation 2 (its Algorithm 3, with the loop condition that
    is meant): minimise ||sum_l w_l g_l - target||^2 + l2 ||w||^2 over at most `budget` rows
    with w >= 0. Each step takes the row with the largest positive correlation with the
    residual and solves for the weights of all rows taken; a row whose weight becomes zero is
    dropped for good and its place is free again.

    Memory holds at most 2 n^2 numbers of the precision of `gradients` besides them.

    Args:
        gradients: (n, d), one row a mini-batch, on any device; float32 or float64, other types
            become float32.
        target: (d,), the gradient to match.
        budget: maximum of rows to choose.
        l2: the penalty lambda.
        tolerance: stop when the residual's norm is at most this share of the target's; rounding
            hides shares below 0.001 in float32.
        floor: rows to choose before the tolerance counts.

    Returns:
        indices (m,) int64, distinct, in the order of choice, and weights (m,) float64 > 0,
        m <= budget: fewer when the residual is spent or nothing correlates with it. On the
        device of `gradients`; the weights are the exact minimiser over the chosen rows.

    Raises:
        ValueError: on a shape that does not fit, a negative option, or NaN or infinity, also in
            the products of rows (numbers above 1e19 in float32).
    """
    if gradients.ndim != 2 or target.shape != gradients.shape[1:]:
        raise ValueError(
            f"expected gradients (n, d) and target (d,), got {tuple(gradients.shape)} "
            f"and {tuple(target.shape)}"
        )
    _check_not_negative(budget=budget, l2=l2, tolerance=tolerance)
    rows = gradients.detach() if gradients.dtype in ROUNDING else gradients.detach().float()
    aim = target.detach().to(rows)
    squares = torch.linalg.vector_norm(rows, dim=1) ** 2
    match = rows @ aim
    if not all(torch.isfinite(values).all() for values in (aim, squares, match)):
        raise ValueError("gradients, target and their products must be finite")
    budget = min(budget, len(rows))
    columns: _Columns
    if budget > WHOLE * len(rows):
        columns = _KnownColumns(inner_products(rows).cpu().numpy())
    else:
        columns = _LazyColumns(rows)
    pursuit = _Pursuit(columns, _array(squares), _array(match), l2, ROUNDING[rows.dtype])
    target_square = float(aim.double() @ aim.double())
    pursuit.run(target_square, budget, tolerance, floor)
    return pursuit.result(*_exact_products(rows, aim, pursuit.support), rows.device)


def matching_pursuit_of_gram(
    gram: Tensor,
    mixture: Tensor,
    budget: int,
    *,
    l2: float = 0.0,
    tolerance: float = 0.0,
    floor: int = 0,
) -> tuple[Tensor, Tensor]:
    """As `matching_pursuit`, but from the inner products of gradients that exceed the memory.

    A residual is spent at the rounding of float64, so that this may choose more rows at the end.

    Args:
        gram: (n, n) float64, the inner products of all pairs of rows (`gradient_gram`).
        mixture: (n,), the target as a combination of the rows.
        budget: maximum of rows to choose.
        l2: the penalty lambda.
        tolerance: stop when the residual's norm is at most this share of the target's.
        floor: rows to choose before the tolerance counts.

    Returns:
        indices and weights, as `matching_pursuit` returns them.

    Raises:
        ValueError: on a shape that does not fit, a negative option, or NaN or infinity.
    """
    if gram.ndim != 2 or gram.shape != (len(mixture), len(mixture)):
        raise ValueError(f"expected gram (n, n), got {tuple(gram.shape)} for n = {len(mixture)}")
    _check_not_negative(budget=budget, l2=l2, tolerance=tolerance)
    products, shares = _array(gram), _array(mixture)
    if not (np.isfinite(products).all() and np.isfinite(shares).all()):
        raise ValueError("gram and mixture must be finite")
    match = products @ shares
    pursuit = _Pursuit(
        _KnownColumns(products), products.diagonal(), match, l2, ROUNDING[torch.float64]
    )
    target_square = max(0.0, float(shares @ match))  # rounding can make that of a zero negative
    pursuit.run(target_square, min(budget, len(products)), tolerance, floor)
    support = pursuit.support
    return pursuit.result(products[np.ix_(support, support)], match[support], gram.device)


def _check_not_negative(**options: float) -> None:
    for name, value in options.items():
        if not value >= 0:
            raise ValueError(f"{name} must not be negative, got {value}")


def _array(tensor: Tensor) -> Array:
    """Return `tensor` as float64 on the CPU."""
    array: Array = tensor.detach().double().cpu().numpy()
    return array


def _exact_products(rows: Tensor, target: Tensor, support: list[int]) -> tuple[Array, Array]:
    """Return the products in float64 of the rows of `support`: (k, k), and with `target`: (k,)."""
    chosen = rows[torch.tensor(support, dtype=torch.int64, device=rows.device)]
    k = len(chosen)
    gram = torch.zeros((k, k), dtype=torch.float64, device=rows.device)
    match = torch.zeros(k, dtype=torch.float64, device=rows.device)
    columns = max(1, CHUNK_BYTES // (8 * max(1, k)))
    for some, aim in zip(chosen.split(columns, dim=1), target.split(columns), strict=True):
        part = some.double()
        gram += inner_products(part)
        match += part @ aim.double()
    return _array(gram), _array(match)


class _Columns(Protocol):
    """The Gram matrix, column by column."""

    dtype: np.dtype[Any]

    def column(self, row: int, promise: Array) -> NDArray[np.floating]:
        """Return the products of `row` with all rows; `promise` ranks the next rows."""
        ...


class _KnownColumns:
    def __init__(self, gram: NDArray[np.floating]) -> None:
        self.dtype = gram.dtype
        self._gram = gram

    def column(self, row: int, promise: Array) -> NDArray[np.floating]:
        column: NDArray[np.floating] = self._gram[row]
        return column


class _LazyColumns:
    """Computes columns at their first use, in blocks with those of the most promising rows.

    A pursuit needs a fraction of all columns. One at a time they would cost as much as the whole
    matrix, because each reads all gradients. A row whose `promise` is -inf is excluded.
    """

    def __init__(self, rows: Tensor) -> None:
        self.dtype = np.dtype("f4" if rows.dtype == torch.float32 else "f8")
        self._rows = rows
        self._known: dict[int, NDArray[np.floating]] = {}

    def column(self, row: int, promise: Array) -> NDArray[np.floating]:
        if row not in self._known:
            open_rows = promise.copy()
            open_rows[list(self._known)] = -np.inf
            open_rows[row] = np.inf
            most = BLOCK if self._rows.nbytes <= CACHE_BYTES else 2 * BLOCK
            count = min(most, int(np.count_nonzero(open_rows > -np.inf)))
            block = np.argpartition(-open_rows, count - 1)[:count]
            self._known.update(zip(block.tolist(), self._products(block), strict=True))
        return self._known[row]

    def _products(self, block: NDArray[np.intp]) -> NDArray[np.floating]:
        """Return the products of the rows `block` with all rows: (len(block), n)."""
        rows = self._rows
        if rows.device.type == "cpu":  # NumPy's product of so few rows is the faster one
            array = rows.numpy()
            products: NDArray[np.floating] = array[block] @ array.T
            return products
        index = torch.from_numpy(block).to(rows.device)
        return (rows[index] @ rows.T).cpu().numpy()


class _Pursuit:
    """The greedy choice: the support so far, its weights, and its inverse factor.

    With G the support's Gram matrix plus l2, `_inverse` is a matrix M with M G M^T = 1, so that
    G^-1 = M^T M. A new row of the support adds one row to it; a dropped one costs one reflection.
    """

    def __init__(
        self, columns: _Columns, squares: Array, match: Array, l2: float, rounding: float
    ) -> None:
        """Start from `squares` (n,), the rows' squared norms, and `match` (n,) = A target."""
        self.support: list[int] = []
        self.weights: Array = np.zeros(0)
        self._columns = columns
        self._squares = squares
        self._match = match
        self._l2 = l2
        self._rounding = rounding

    def run(self, target_square: float, budget: int, tolerance: float, floor: int) -> None:
        """Choose at most `budget` rows; stop early at the `tolerance`, or when none helps."""
        n = len(self._match)
        self._products = np.empty((budget, n), self._columns.dtype)
        self._inverse = np.zeros((budget, budget))
        open_rows = self._squares > 0
        threshold = self._rounding * np.sqrt(target_square * self._squares)
        correlation = self._match
        while len(self.support) < budget:
            on_support = correlation[self.support] + self._match[self.support]
            residual_square = target_square - self.weights @ on_support
            close = tolerance > 0 and residual_square <= tolerance**2 * target_square
            if close and len(self.support) >= floor:
                break
            promise = np.where(open_rows & (correlation > threshold), correlation, -np.inf)
            best = int(np.argmax(promise))
            if promise[best] == -np.inf:
                break
            open_rows[best] = False
            if self._add(best, correlation[best], promise):
                k = len(self.support)
                weights = self.weights.astype(self._products.dtype)
                correlation = self._match - weights @ self._products[:k]

    def _add(self, row: int, correlation: float, promise: Array) -> bool:
        """Add `row` and solve for all weights; return False if it is in the support's span."""
        k = len(self.support)
        column = self._columns.column(row, promise)
        inverse = self._inverse[:k, :k]
        side = inverse @ column[self.support]
        diagonal = self._squares[row] + self._l2
        pivot = diagonal - side @ side
        if pivot <= self._rounding * diagonal:
            return False
        solution = side @ inverse
        self._inverse[:k, k] = 0
        self._inverse[k, :k] = -solution / np.sqrt(pivot)
        self._inverse[k, k] = 1 / np.sqrt(pivot)
        self._products[k] = column
        gain = correlation / pivot
        optimum = np.append(self.weights - gain * solution, gain)
        self.support.append(row)
        if (optimum > 0).all():
            self.weights = optimum
        else:
            self._drop(np.append(self.weights, 0.0), k + 1)
        return True

    def _drop(self, start: Array, k: int) -> None:
        """Drop the rows whose weights become zero on the way from `start` to the optimum."""
        match = self._match[self.support]
        kept, self.weights, inverse = _minimiser(self._inverse[:k, :k], match, start)
        self.support = [self.support[place] for place in kept]
        m = len(kept)
        self._products[:m] = self._products[kept]
        self._inverse[:m, :m] = inverse

    def result(self, gram: Array, match: Array, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return indices and weights on `device`; exact products give the weights.

        `gram` (k, k) are the products of the support's rows, `match` (k,) those with the target.
        """
        places, inverse = _independent(gram + self._l2 * np.eye(len(gram)))
        kept, weights, _ = _minimiser(inverse, match[places], self.weights[places])
        indices = [self.support[place] for place in places[kept]]
        return (
            torch.tensor(indices, dtype=torch.int64, device=device),
            torch.as_tensor(weights, dtype=torch.float64, device=device),
        )


def _minimiser(inverse: Array, match: Array, start: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Return which of some rows have a positive weight at the optimum, and these weights.

    An active-set step (Lawson and Hanson, 1974, chapter 23): while the free optimum has a
    weight that is not positive, go towards it until the first weight is zero and drop that row.

    Args:
        inverse: (k, k), the inverse factor of all rows, as in `_Pursuit`.
        match: (k,), their products with the target.
        start: (k,), the first weights, >= 0.

    Returns:
        places (m,) of the remaining rows, their weights (m,) and inverse factor (m, m).
    """
    kept, weights = np.arange(len(match)), start
    while len(kept):
        optimum: Array = (inverse @ match[kept]) @ inverse
        negative = optimum <= 0
        if not negative.any():
            return kept, optimum, inverse
        way = weights - optimum
        # A row of weight zero whose optimum is not positive allows no step.
        steps = np.where(negative, 0.0, np.inf)
        np.divide(weights, way, out=steps, where=negative & (way > 0))
        stop = int(np.argmin(steps))
        weights = np.maximum(weights - steps[stop] * way, 0.0)
        kept, weights = np.delete(kept, stop), np.delete(weights, stop)
        inverse = _without(inverse, stop)
    return kept, weights, inverse


def _without(inverse: Array, place: int) -> Array:
    """Return the inverse factor of all rows but one.

    A reflection H turns the row's column of M into a multiple of the last unit vector. It keeps
    (H M) G (H M)^T = 1, so the last row and this column can go.
    """
    column = inverse[:, place]
    normal = column.copy()
    normal[-1] += math.copysign(float(np.linalg.norm(column)), float(column[-1]))
    reflected = inverse - np.outer(normal, 2 / (normal @ normal) * (normal @ inverse))
    smaller: Array = np.delete(reflected[:-1], place, axis=1)
    return smaller


def _independent(gram: Array) -> tuple[NDArray[np.intp], Array]:
    """Return places of rows that span all, usually all of them, and their inverse factor.

    Rows that are independent in single precision can be dependent in double precision.
    """
    places = np.arange(len(gram))
    while len(places):
        block = gram[np.ix_(places, places)]
        factor, failed = lapack.dpotrf(block, lower=1)
        pivots = factor.diagonal() ** 2
        dependent = np.flatnonzero(pivots <= ROUNDING[torch.float64] * block.diagonal())
        if not failed and not len(dependent):
            return places, lapack.dtrtri(factor, lower=1)[0]
        places = np.delete(places, failed - 1 if failed else dependent[0])
    return places, np.zeros((0, 0))
