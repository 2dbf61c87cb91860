"""Selectors by what they read, and what they read it of."""

import torch

from automata.registry import SELECTORS
from automata.selection.embeddings import LastLayer

BLIND = ("full", "random", "adaptive-random", "rs2")
"""Selectors that do not read the model."""
GUIDED = [name for name in SELECTORS if name not in BLIND]
"""Selectors that do, and choose among the mini-batches of `SelectionProblem.partition`."""


def layer_of(rows: int, features: int, classes: int, seed: int = 9) -> LastLayer:
    """Return what a random last layer sees of random rows: gradients of c (h + 1) numbers."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(rows, features, generator=generator).relu()
    weight = torch.randn(classes, features, generator=generator)
    labels = torch.randint(classes, (rows,), generator=generator)
    return LastLayer(inputs, inputs @ weight.T, labels)
