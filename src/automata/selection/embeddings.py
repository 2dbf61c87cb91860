"""Gradients of the last layer per mini-batch, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def gradient_embeddings(features: Tensor, residuals: Tensor, batches: Sequence[Tensor]) -> Tensor:
    """Return the gradient of each mini-batch's mean loss with respect to the last layer.

    For cross-entropy on logits z = W h + b the gradient of one sample is r h^T for W and r
    for b, with r = softmax(z) - onehot(y): no automatic differentiation is needed.

    Args:
        features: (N, h), inputs of the last layer.
        residuals: (N, c), r of each sample.
        batches: row numbers of each mini-batch; they may differ in length.

    Returns:
        (n, c * (h + 1)): per mini-batch the gradient of W, row by row, then that of b.
    """
    lengths = {len(batch) for batch in batches}
    rows = features.new_empty((len(batches), residuals.shape[1] * (features.shape[1] + 1)))
    for length in lengths:
        members = [i for i, batch in enumerate(batches) if len(batch) == length]
        index = torch.stack([batches[i] for i in members])
        r = residuals[index]
        weight = torch.einsum("blc,blh->bch", r, features[index]) / length
        rows[members] = torch.cat([weight.flatten(1), r.mean(dim=1)], dim=1)
    return rows
