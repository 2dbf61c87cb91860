"""Subset selection: the solvers (usable alone) and the selectors of the tuning loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from automata.loading import imported

if TYPE_CHECKING:
    from automata.selection.embeddings import gradient_embeddings
    from automata.selection.facility import facility_location
    from automata.selection.matching import matching_pursuit

__all__ = ["facility_location", "gradient_embeddings", "matching_pursuit"]

_SOLVERS = {
    "facility_location": "automata.selection.facility:facility_location",
    "gradient_embeddings": "automata.selection.embeddings:gradient_embeddings",
    "matching_pursuit": "automata.selection.matching:matching_pursuit",
}


def __getattr__(name: str) -> Any:
    """Import a solver at its first use, because the solvers import torch."""
    if name not in _SOLVERS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return imported(_SOLVERS[name])
