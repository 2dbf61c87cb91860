"""Selectors by what they read, which is found by calling them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from automata.registry import SELECTORS
from automata.selection.embeddings import LastLayer
from automata.selection.problem import SelectionProblem
from automata.training.subsets import build_selector

Read = Literal["model", "candidates"]


@dataclass(frozen=True)
class _Watched(SelectionProblem):
    """A problem that notes what is read of it."""

    read: set[Read] = field(default_factory=set)

    def partition(self) -> list[Tensor]:
        self.read.add("candidates")
        return super().partition()


def layer_of(rows: int, features: int, classes: int, seed: int = 9) -> LastLayer:
    """Return what a random last layer sees of random rows: gradients of c (h + 1) numbers."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(rows, features, generator=generator).relu()
    weight = torch.randn(classes, features, generator=generator)
    labels = torch.randint(classes, (rows,), generator=generator)
    return LastLayer(inputs, inputs @ weight.T, labels)


def read_by(name: str) -> set[Read]:
    """Return whether a selector reads the model on the training set, and the candidates."""
    read: set[Read] = set()

    def training() -> LastLayer:
        read.add("model")
        return layer_of(20, 3, 2)

    problem = _Watched(20, 8, 4, 0, 0, training, lambda: layer_of(6, 3, 2), 0.1, read)
    build_selector(name).select(problem)
    return read


READ = {name: read_by(name) for name in ("full", *SELECTORS)}
GUIDED = [name for name, read in READ.items() if "model" in read]
"""Selectors that read the model."""
BLIND = [name for name in READ if name not in GUIDED]
"""Selectors that do not."""
OF_CANDIDATES = [name for name, read in READ.items() if "candidates" in read]
"""Selectors that choose among the mini-batches of `SelectionProblem.partition`."""
