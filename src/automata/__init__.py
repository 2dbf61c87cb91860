"""AUTOMATA, reproduced: hyper-parameter tuning on subsets of the training data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from automata.errors import UserError

if TYPE_CHECKING:
    from automata.api import tune
    from automata.prediction.predict import load

__all__ = ["UserError", "load", "tune"]

__version__ = "1.0.0"


def __getattr__(name: str) -> Any:
    """Import a function when it is first used, so that commands do not wait for torch."""
    homes = {"load": "automata.prediction.predict", "tune": "automata.api"}
    if name not in homes:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(homes[name]), name)
