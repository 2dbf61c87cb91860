"""Gradients to select from: those of a softmax layer that is trained in part."""

from __future__ import annotations

import torch
from torch import Tensor

from automata.selection.craig import distances
from automata.selection.embeddings import gradient_embeddings, inner_products

FEATURES, CLASSES, BATCH = 512, 10, 20
"""A ResNet18's last layer on CIFAR-10, mini-batches as in the paper: d = 10 (512 + 1) = 5130."""
LATENT = 64


def head_gradients(n: int, seed: int = 0) -> Tensor:
    """Return the gradients (n, 5130) float32 of n mini-batches, of full rank.

    Features are independent; a matching pursuit that allows negative weights meets none.
    """
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (n * BATCH,), generator=generator)
    centres = 0.2 * torch.randn(CLASSES, FEATURES, generator=generator)
    noise = torch.randn(n * BATCH, FEATURES, generator=generator)
    features = torch.relu(centres[labels] + noise)
    return _gradients(features, labels, generator, steps=500, rate=0.05)


def low_rank_gradients(n: int, seed: int = 0) -> Tensor:
    """Return gradients as above from features that are combinations of `LATENT` numbers.

    Rows are nearly dependent: without w >= 0 a third of the best weights are negative.
    """
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (n * BATCH,), generator=generator)
    centres = 0.5 * torch.randn(CLASSES, LATENT, generator=generator)
    noise = torch.randn(n * BATCH, LATENT, generator=generator)
    mixing = torch.randn(LATENT, FEATURES, generator=generator) / LATENT**0.5
    features = torch.relu(centres[labels] + noise) @ mixing
    return _gradients(features, labels, generator, steps=1000, rate=0.1)


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
