"""AUTOMATA, reproduced: hyper-parameter tuning on subsets of the training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from automata.errors import UserError

if TYPE_CHECKING:
    from automata.api import tune

__all__ = ["UserError", "tune"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `tune` when it is first used, so that commands do not wait for torch and Ray."""
    if name == "tune":
        from automata.api import tune

        return tune
    raise AttributeError(f"module {__name__} has no attribute {name}")
