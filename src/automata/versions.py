"""Measurement versions: which records may be compared.

Raise the version of a part if a change alters its numbers, its decisions or its time. The golden
runs (tests/golden) show the first two, benchmarks/overhead shows the third.
"""

from __future__ import annotations

from automata.registry import SELECTORS

MEASUREMENT = dict.fromkeys(SELECTORS, 1) | {"training": 2, "metering": 1}
"""`training` covers models, training and search: all of a run except its selector.

Its version 2 computes the same as version 1, which the published runs have, but takes 6 % more wall
time. A selector starts at 1; write later versions here.
"""

READER = 2
"""Version of the reader of a user's own files. A new version prepares them again."""


def measurement(selector: str) -> dict[str, int]:
    """Return the entries of MEASUREMENT that a run with `selector` records."""
    used = ("training", "metering", selector)
    return {part: MEASUREMENT[part] for part in used if part in MEASUREMENT}
