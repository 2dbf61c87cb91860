"""Subset selection: the solvers (usable alone) and the selectors of the tuning loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from automata.registry import imported
from automata.selection.controls import CONTROLS, Control

if TYPE_CHECKING:
    from automata.selection.embeddings import gradient_embeddings
    from automata.selection.facility import facility_location
    from automata.selection.matching import matching_pursuit

__all__ = [
    "CONTROLS",
    "SELECTORS",
    "Control",
    "facility_location",
    "gradient_embeddings",
    "matching_pursuit",
]

SELECTORS: dict[str, str] = {
    "random": "automata.selection.random:FixedRandom",
    "adaptive-random": "automata.selection.random:AdaptiveRandom",
    "rs2": "automata.selection.random:RepeatedRandom",
    "craig": "automata.selection.craig:Craig",
    "gradmatch": "automata.selection.gradmatch:GradMatch",
    "gradmatch-adaptive": "automata.selection.adaptive:AdaptiveGradMatch",
    "glister": "automata.selection.glister:Glister",
}
"""Selector name -> "module:class", imported when a selector is built."""

_SOLVERS = {
    "facility_location": "automata.selection.facility:facility_location",
    "gradient_embeddings": "automata.selection.embeddings:gradient_embeddings",
    "matching_pursuit": "automata.selection.matching:matching_pursuit",
}


def __getattr__(name: str) -> Any:
    """Import a solver where it is asked for: whoever reads the names alone needs no torch."""
    if name not in _SOLVERS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return imported(_SOLVERS[name])
