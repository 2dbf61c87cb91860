"""Selectors that read the model, and a last layer to read."""

from typing import NoReturn

import torch

from automata.registry import SELECTORS
from automata.selection.embeddings import LastLayer
from automata.selection.problem import SelectionProblem
from automata.training.subsets import build_selector


class Looked(Exception):  # noqa: N818
    """A selector reads the model."""


def reads_model(name: str) -> bool:
    """Return whether a selector asks for the last layer."""

    def look() -> NoReturn:
        raise Looked

    try:
        build_selector(name).select(SelectionProblem(20, 6, 3, 0, 0, look, look, 0.1))
    except Looked:
        return True
    return False


GUIDED = [name for name in SELECTORS if reads_model(name)]
"""Selectors that choose among the mini-batches of `SelectionProblem.partition` by the model."""


def layer_of(rows: int, features: int, classes: int, seed: int = 9) -> LastLayer:
    """Return what a random last layer sees of random rows: gradients of c (h + 1) numbers."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(rows, features, generator=generator).relu()
    weight = torch.randn(classes, features, generator=generator)
    labels = torch.randint(classes, (rows,), generator=generator)
    return LastLayer(inputs, inputs @ weight.T, labels)
