"""The table of claims."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from automata.analysis.claims.claim import Claim
from automata.analysis.claims.finding import NOT_REPRODUCED, NOT_RUN, REPRODUCED, Finding
from automata.analysis.differences import in_words
from automata.analysis.study import Study

COLUMNS = [
    "id",
    "claim",
    "location",
    "verdict",
    "ours",
    "panels",
    "firm",
    "differences",
    "rule",
    "reading",
    "records",
]


def claims_table(claims: Mapping[str, Claim], tables: Study) -> pd.DataFrame:
    """Return a row per claim: quote, verdict, our figure and how firm it is, as texts.

    `panels` says how many of the claim's panels were run, `differences` what was done otherwise
    than in the paper in those, `records` which records the verdict comes from.
    """
    rows = [_row(name, claim, claim.check(tables), tables) for name, claim in claims.items()]
    return pd.DataFrame(rows, columns=COLUMNS)


def summary(table: pd.DataFrame) -> str:
    """Return how many claims of `claims_table` have which verdict, and how to read it."""
    counts = table["verdict"].value_counts()
    parts = [f"{counts.get(name, 0)} {name}" for name in (REPRODUCED, NOT_REPRODUCED, NOT_RUN)]
    return (
        f"Of {len(table)} claims: {', '.join(parts)}. A verdict goes by our means, over the "
        "panels (data set, search, scheduler) that were run. It is firm (interval) where the "
        "whole 95 % interval, of at least 3 seeds, gives the same verdict and no panel or "
        "fraction that is missing could turn it. pp: percentage points of test error against "
        "FULL, + is a loss."
    )


def _row(name: str, claim: Claim, finding: Finding, tables: Study) -> dict[str, str]:
    return {
        "id": name,
        "claim": claim.quote,
        "location": claim.location,
        "verdict": finding.verdict,
        "ours": finding.ours,
        "panels": f"{len(finding.panels)} of {finding.of} panels" if finding.of else "",
        "firm": finding.firm,
        "differences": in_words(tables.differences, finding.panels) if finding.panels else "",
        "rule": claim.rule,
        "reading": claim.reading,
        "records": " ".join(finding.records),
    }
