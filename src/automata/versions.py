"""Measurement versions: which records may be compared.

Raise the version of a part when it computes other numbers, makes other decisions or takes another
time. The golden runs (tests/golden) show the first two, benchmarks/overhead the third.
"""

from __future__ import annotations

from automata.registry import SELECTORS

MEASUREMENT = dict.fromkeys(SELECTORS, 1) | {"training": 2, "metering": 1}
"""`training` covers models, training and search: all that decides a run except its selector.

Its version 2 computes the same as version 1 of the published runs, in 6 % more wall time. A
selector starts at 1; write later versions here.
"""

READER = 2
"""Version of the reader of a user's own files; each version has its own prepared files."""


def measurement(selector: str) -> dict[str, int]:
    """Return the entries of MEASUREMENT that a run with `selector` records."""
    used = ("training", "metering", selector)
    return {part: MEASUREMENT[part] for part in used if part in MEASUREMENT}
