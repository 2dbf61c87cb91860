"""Subset selection: the solvers (usable alone) and the selectors of the tuning loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from automata.registry import imported

if TYPE_CHECKING:
    from automata.selection.embeddings import gradient_embeddings
    from automata.selection.facility import facility_location
    from automata.selection.matching import matching_pursuit

__all__ = ["SELECTORS", "facility_location", "gradient_embeddings", "matching_pursuit"]

SELECTORS: dict[str, str] = {
    "full": "automata.selection.random:Full",
    "random": "automata.selection.random:FixedRandom",
    "adaptive-random": "automata.selection.random:AdaptiveRandom",
    "rs2": "automata.selection.random:RepeatedRandom",
    "craig": "automata.selection.craig:Craig",
    "gradmatch": "automata.selection.gradmatch:GradMatch",
    "gradmatch-adaptive": "automata.selection.adaptive:AdaptiveGradMatch",
    "glister": "automata.selection.glister:Glister",
    "full-again": "automata.selection.random:Full",
    "untuned": "automata.selection.random:Full",
}
"""Selector name -> "module:class", imported when a selector is built.

`full-again` is FULL with other initial weights and mini-batches: how far two runs of FULL differ.
`untuned` searches nothing: one configuration drawn at random, trained once on all data.
"""

FIXED_FRACTIONS = {"full": 1, "full-again": 1, "untuned": 0}
"""The fraction that stands for those that take none: the share of the data that trials see."""

ALL_DATA = tuple(name for name, fraction in FIXED_FRACTIONS.items() if fraction == 1)
"""Those whose trials train on all data: their best trial is tested as it is."""

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
