"""Measurement versions: which records may be compared.

An entry is raised when its part begins to compute other numbers, decisions or times. The golden
runs (tests/golden) show changes of numbers and decisions, benchmarks/overhead those of times.
"""

from __future__ import annotations

from automata.registry import SELECTORS

MEASUREMENT = dict.fromkeys(SELECTORS, 1) | {"training": 2, "metering": 1}
"""`training` is all that decides a run beside its selector: models, training, and search.

Version 2 of it computes what 1 did, that of the published runs, but takes 6 % more wall time. A
selector starts at 1; later versions are written here.
"""

READER = 2
"""Version of what reads a user's own files; other versions have other prepared files."""


def measurement(selector: str) -> dict[str, int]:
    """Return the entries of MEASUREMENT that a run with `selector` uses, as its record has them."""
    used = ("training", "metering", selector)
    return {part: MEASUREMENT[part] for part in used if part in MEASUREMENT}
