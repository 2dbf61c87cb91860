"""Gradients of the last layer per mini-batch, in closed form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

import torch
from torch import Tensor

from automata.models.loss import CrossEntropy

CHUNK_BYTES = 16 * 1024**2
"""Maximum of the memory used at a time, without the result."""

GRADIENT_BYTES = 200 * 1024**2
"""Maximum of the memory for the gradients of all mini-batches."""


@dataclass(frozen=True)
class LastLayer:
    """Inputs and outputs of a linear last layer for some rows: all that selection reads of a model.

    With logits z = W h + b, the gradient of one row's loss is r h^T for W and r for b, where r is
    the gradient of its loss at z (`CrossEntropy.residuals`).
    """

    features: Tensor
    """(N, h) float32, inputs of the layer."""
    logits: Tensor
    """(N, c) float32."""
    labels: Tensor
    """(N,) int64."""
    criterion: CrossEntropy = field(default_factory=CrossEntropy)
    """The training loss."""

    @cached_property
    def residuals(self) -> Tensor:
        """Return r of each row: (N, c)."""
        return self.criterion.residuals(self.logits, self.labels)

    def fits(self, batches: int) -> bool:
        """Return whether the gradients of `batches` mini-batches fit into GRADIENT_BYTES."""
        dimension = self.logits.shape[1] * (self.features.shape[1] + 1)
        return batches * dimension * self.features.element_size() <= GRADIENT_BYTES

    def gradients(self, batches: Sequence[Tensor]) -> Tensor:
        """Return the gradient of each mini-batch (n, d), as `gradient_embeddings` does."""
        return gradient_embeddings(self.features, self.residuals, batches)

    def products(self, batches: Sequence[Tensor], vector: Tensor) -> Tensor:
        """Return the inner product (n,) of each mini-batch's gradient with `vector` (d,).

        No gradient is held: the product of r h^T with a matrix V is r . (V h).
        """
        of_rows = (self.residuals * self._logits_of(vector)).sum(dim=1)
        products = of_rows.new_empty(len(batches))
        for start, some in _of_equal_length(batches, of_rows.element_size(), 0):
            index = torch.stack(some).to(of_rows.device)
            products[start : start + len(some)] = of_rows[index].mean(dim=1)
        return products

    def after_step(self, gradient: Tensor, step: float) -> LastLayer:
        """Return this layer after its weights and bias took a `step` against `gradient` (d,)."""
        return replace(self, logits=self.logits - step * self._logits_of(gradient))

    def gram(self, batches: Sequence[Tensor]) -> Tensor:
        """Return the gradients' inner products (n, n) float64, as `gradient_gram` does."""
        return gradient_gram(self.features, self.residuals, batches)

    def _logits_of(self, vector: Tensor) -> Tensor:
        """Return the logits (N, c) of a layer whose weights and bias are `vector` (d,)."""
        c, h = self.logits.shape[1], self.features.shape[1]
        return self.features @ vector[: c * h].view(c, h).T + vector[c * h :]


def gradient_embeddings(features: Tensor, residuals: Tensor, batches: Sequence[Tensor]) -> Tensor:
    """Return the gradient of each mini-batch's mean loss with respect to the last layer.

    It needs at most `CHUNK_BYTES` besides the result, or as much as one mini-batch takes.

    Args:
        features: (N, h), inputs of the last layer.
        residuals: (N, c), gradients of the rows' losses at their logits, or some columns of them.
        batches: row numbers of each mini-batch; they may differ in length.

    Returns:
        (n, c * (h + 1)): per mini-batch the gradient of W, row by row, then that of b; NaN and
        infinity stay as they are.

    Raises:
        ValueError: if features and residuals have different rows, or a mini-batch is empty.
    """
    if features.ndim != 2 or residuals.ndim != 2 or len(features) != len(residuals):
        shapes = f"{tuple(features.shape)} and {tuple(residuals.shape)}"
        raise ValueError(f"expected features (N, h) and residuals (N, c), got {shapes}")
    h, c = features.shape[1], residuals.shape[1]
    rows = features.new_empty((len(batches), c * (h + 1)))
    size = features.element_size()
    for start, some in _of_equal_length(batches, (h + c) * size, c * h * size):
        index = torch.stack(some).to(features.device)
        r = residuals[index] / index.shape[1]
        part = rows[start : start + len(some)]
        part[:, : c * h].view(-1, c, h).copy_(torch.bmm(r.transpose(1, 2), features[index]))
        part[:, c * h :] = r.sum(dim=1)
    return rows


def gradient_gram(features: Tensor, residuals: Tensor, batches: Sequence[Tensor]) -> Tensor:
    """Return the inner products (n, n) float64 of the gradients of all mini-batches.

    The arguments are those of `gradient_embeddings`. Memory holds the gradients of a few classes
    at a time, so that their number is not limited.
    """
    n = len(batches)
    gram = torch.zeros((n, n), dtype=torch.float64, device=features.device)
    classes = max(1, CHUNK_BYTES // (8 * max(1, n) * (features.shape[1] + 1)))
    for some in residuals.split(classes, dim=1):
        part = gradient_embeddings(features, some, batches).double()
        gram += inner_products(part)
    return gram


def inner_products(rows: Tensor) -> Tensor:
    """Return rows @ rows.T; on a CPU by NumPy, which sees the symmetry and computes half."""
    if rows.device.type != "cpu":
        return rows @ rows.T
    array = rows.numpy()
    return torch.from_numpy(array @ array.T)


def _of_equal_length(
    batches: Sequence[Tensor], row_bytes: int, batch_bytes: int
) -> Iterator[tuple[int, list[Tensor]]]:
    """Yield the place of the first, and some successive mini-batches of one length: a chunk.

    A mini-batch takes `row_bytes` for each of its rows, and `batch_bytes`.
    """
    start = 0
    for length, run in groupby(batches, key=len):
        if length == 0:
            raise ValueError("a mini-batch without rows has no gradient")
        members = list(run)
        step = max(1, CHUNK_BYTES // (length * row_bytes + batch_bytes))
        for first in range(0, len(members), step):
            yield start + first, members[first : first + step]
        start += len(members)
