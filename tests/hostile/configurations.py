"""Wrong configurations, found by a dry run; tests/unit/config has one of each kind."""

from __future__ import annotations

from hostile.case import Case

TABLE = {"kind": "tabular", "path": "mine.csv", "target": "y"}

CASES = [
    Case(
        "plan",
        "own.yaml: datsets: unknown key; valid: parts, experiment, datasets, searches",
        {"datsets": ["dna"]},
        real=True,
    ),
    Case("plan", "own.yaml: fractions.1: 1.5 is not valid; valid: n", {"fractions": [0.1, 1.5]}),
    Case(
        "plan",
        "...smoke.yaml: datasets.0: dna needs the section protocol.tabular",
        {"protocol": {"tabular": None}},
    ),
]
