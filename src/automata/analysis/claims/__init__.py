"""The paper's claims in `config/claims.yaml`, each checked against the tables of a study.

The `shape` of a claim says what is checked: a condition in a share of the panels, or a limit of a
figure over all panels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from automata.analysis.claims.claim import NOT_REPRODUCED, NOT_RUN, REPRODUCED, StatedClaim
from automata.analysis.claims.shapes import (
    CorrelationClaim,
    CoversMoreClaim,
    FallsClaim,
    PairsClaim,
    ReachesClaim,
)
from automata.analysis.differences import in_words
from automata.analysis.study import Study
from automata.analysis.tables import markdown
from automata.config.base import Section

Claim = Annotated[
    ReachesClaim | CoversMoreClaim | FallsClaim | PairsClaim | CorrelationClaim | StatedClaim,
    Field(discriminator="shape"),
]


class ClaimsFile(Section):
    """The content of `config/claims.yaml`; `grids` holds YAML anchors only."""

    grids: dict[str, Any] = {}
    claims: Annotated[dict[str, Claim], Field(min_length=1)]


def claims_table(claims: Mapping[str, Claim], study: Study) -> pd.DataFrame:
    """Return a row of texts per claim: quote, verdict, our result, and the records behind it."""
    rows = []
    for name, claim in claims.items():
        finding = claim.check(study)
        panels = finding.panels
        row = {
            "id": name,
            "claim": claim.quote,
            "location": claim.location,
            "verdict": finding.verdict,
            "ours": finding.ours,
            "panels": f"{len(panels)} of {finding.of} panels" if finding.of else "",
            "firm": finding.firm,
            "differences": in_words(study.differences, panels) if panels else "",
            "rule": claim.rule,
            "reading": claim.reading,
            "records": " ".join(finding.records),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def presented(claims_table: pd.DataFrame) -> str:
    """Return the table of claims for readers, in Markdown, and how to read it."""
    counts = claims_table["verdict"].value_counts()
    parts = [f"{counts.get(name, 0)} {name}" for name in (REPRODUCED, NOT_REPRODUCED, NOT_RUN)]
    return (
        f"{markdown(claims_table.drop(columns='records'))}\n"
        f"Of {len(claims_table)} claims: {', '.join(parts)}. A verdict follows our means over the "
        "panels (data set, search, scheduler) that were run. It is firm (interval) if the whole "
        "95 % interval, of at least 3 seeds, gives the same verdict, all fractions were run, and "
        "no missing panel could turn it. Energy that was estimated from CPU time alone does not "
        "count: it follows time. pp: percentage points of test error against FULL, + is a loss.\n"
    )
