"""The claims of a file, and the table of what a study says about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, ValidationError

from automata.analysis.claims.claim import NOT_REPRODUCED, NOT_RUN, REPRODUCED, StatedClaim
from automata.analysis.claims.mean import CorrelationClaim, PairsClaim
from automata.analysis.claims.share import CoversMoreClaim, FallsClaim, ReachesClaim
from automata.analysis.differences import in_words
from automata.analysis.study import Study
from automata.analysis.tables import markdown
from automata.config.base import Section, first_refusal
from automata.errors import UserError

Claim = Annotated[
    ReachesClaim | CoversMoreClaim | FallsClaim | PairsClaim | CorrelationClaim | StatedClaim,
    Field(discriminator="shape"),
]


class ClaimsFile(Section):
    """The content of `config/claims.yaml`; `grids` holds YAML anchors only."""

    grids: dict[str, Any] = {}
    claims: Annotated[dict[str, Claim], Field(min_length=1)]


def parse_claims(content: Mapping[str, Any], file: Path) -> dict[str, Claim]:
    """Return the claims in the `content` of `file` by their ids; raises UserError, in one line."""
    try:
        return ClaimsFile.model_validate(content).claims
    except ValidationError as error:
        path, message = first_refusal(error, ClaimsFile)
        raise UserError(f"{file}: {'.'.join(path)}: {message}") from error


def claims_table(claims: Mapping[str, Claim], study: Study) -> pd.DataFrame:
    """Return a row per claim: quote, verdict, our figure and how firm it is, as texts.

    `panels` counts the panels of the claim that were run, `differences` lists how their protocol
    differs from the paper's, `records` are the records behind the verdict.
    """
    findings = {name: claim.check(study) for name, claim in claims.items()}
    rows = [
        {
            "id": name,
            "claim": claims[name].quote,
            "location": claims[name].location,
            "verdict": finding.verdict,
            "ours": finding.ours,
            "panels": f"{len(finding.panels)} of {finding.of} panels" if finding.of else "",
            "firm": finding.firm,
            "differences": in_words(study.differences, finding.panels) if finding.panels else "",
            "rule": claims[name].rule,
            "reading": claims[name].reading,
            "records": " ".join(finding.records),
        }
        for name, finding in findings.items()
    ]
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
