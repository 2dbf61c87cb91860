"""Models. Each has `features(x)` and a last linear layer `head`: all that selection needs."""

from __future__ import annotations

from dataclasses import dataclass

from automata.datasets.catalog import Kind


@dataclass(frozen=True)
class ModelSpec:
    """A model that ships with the project."""

    factory: str
    """"module:function", imported when a model is built."""
    kind: Kind
    hyperparameters: tuple[str, ...] = ()
    """Those that the search space must have, besides what every training needs."""
    optional: tuple[str, ...] = ()
    """Those that it may have."""


_RATES = ("lr1", "lr2", "lr3", "lr4")

MODELS: dict[str, ModelSpec] = {
    "mlp": ModelSpec("automata.models.mlp:build", "tabular", ("hidden1", "hidden2")),
    "lstm": ModelSpec("automata.models.lstm:build", "text", ("hidden",), ("layers",)),
    "resnet18": ModelSpec("automata.models.resnet:build18", "image", optional=_RATES),
    "resnet50": ModelSpec("automata.models.resnet:build50", "image", optional=_RATES),
}
