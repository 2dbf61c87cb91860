"""Gradients to select from: those of a softmax layer that is trained in part."""

from __future__ import annotations

import torch
from torch import Tensor

from automata.selection.craig import distances
from automata.selection.embeddings import gradient_embeddings, inner_products

FEATURES, CLASSES, BATCH = 512, 10, 20
"""A ResNet18's last layer on CIFAR-10, mini-batches as in the paper: d = 10 (512 + 1) = 5130."""
LATENT = 64
"""Numbers that features of low rank are combinations of."""


def head_gradients(n: int, latent: int | None = None) -> Tensor:
    """Return the gradients (n, 5130) float32 of n mini-batches.

    Features are independent: a matching pursuit that allows negative weights meets none. If they
    are combinations of `latent` numbers, a third of the best weights are negative without w >= 0.
    """
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(CLASSES, (n * BATCH,), generator=generator)
    width, apart = (latent, 0.5) if latent else (FEATURES, 0.2)
    centres = apart * torch.randn(CLASSES, width, generator=generator)
    features = centres[labels] + torch.randn(n * BATCH, width, generator=generator)
    if latent is None:
        return _gradients(torch.relu(features), labels, generator, steps=500, rate=0.05)
    mixing = torch.randn(latent, FEATURES, generator=generator) / latent**0.5
    return _gradients(torch.relu(features) @ mixing, labels, generator, steps=1000, rate=0.1)


def similarities(gradients: Tensor) -> Tensor:
    """Return CRAIG's similarities (n, n) float64: the largest distance minus each distance."""
    apart = distances(inner_products(gradients.double()))
    return apart.max() - apart


def _gradients(
    features: Tensor, labels: Tensor, generator: torch.Generator, steps: int, rate: float
) -> Tensor:
    """Train a softmax layer for some steps of SGD and return its gradient per mini-batch."""
    rows, width = features.shape
    targets = torch.eye(CLASSES)[labels]
    weight, bias = torch.zeros(width, CLASSES), torch.zeros(CLASSES)
    for _ in range(steps):
        some = torch.randint(rows, (256,), generator=generator)
        error = torch.softmax(features[some] @ weight + bias, dim=1) - targets[some]
        weight -= rate / 256 * features[some].T @ error
        bias -= rate / 256 * error.sum(dim=0)
    residuals = torch.softmax(features @ weight + bias, dim=1) - targets
    batches = list(torch.randperm(rows, generator=generator).split(BATCH))
    return gradient_embeddings(features, residuals, batches)
