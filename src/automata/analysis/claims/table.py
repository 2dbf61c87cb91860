"""The claims of a file, and the table of what a study says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from automata.analysis.claims.best import BestTradeoffClaim
from automata.analysis.claims.by_mean import HoursClaim, PairedClaim, SchedulerClaim, TrendClaim
from automata.analysis.claims.by_panel import OrderClaim, PointClaim, RangeClaim, SimilarClaim
from automata.analysis.claims.claim import Claim, FootprintClaim, UncheckedClaim
from automata.analysis.claims.finding import NOT_REPRODUCED, NOT_RUN, REPRODUCED
from automata.analysis.differences import in_words
from automata.analysis.study import Study
from automata.analysis.tables import markdown
from automata.config.refusals import first_refusal
from automata.errors import UserError

KINDS: dict[str, type[Claim]] = {
    "point": PointClaim,
    "range": RangeClaim,
    "best-tradeoff": BestTradeoffClaim,
    "order": OrderClaim,
    "paired": PairedClaim,
    "trend": TrendClaim,
    "similar": SimilarClaim,
    "scheduler": SchedulerClaim,
    "hours": HoursClaim,
    "footprint": FootprintClaim,
    "unchecked": UncheckedClaim,
}
"""Kind of claim -> what reads and checks it."""


def parse_claims(content: Mapping[str, Any], file: Path) -> dict[str, Claim]:
    """Return the claims in the `content` of `file` by their ids, in its order.

    Raises UserError, in one line, for the first thing that is wrong.
    """
    unknown = [key for key in content if key not in ("claims", "grids")]
    if unknown:
        raise UserError(f"{file}: {unknown[0]}: unknown key; valid: claims, grids")
    claims = content.get("claims")
    if not isinstance(claims, dict) or not claims:
        raise UserError(f"{file}: claims: a section of claims by their ids is missing")
    return {name: _claim(file, name, said) for name, said in claims.items()}


def _claim(file: Path, name: str, said: object) -> Claim:
    here = f"{file}: claims.{name}"
    if not isinstance(said, dict):
        raise UserError(f"{here}: a claim is a section of keys")
    kind = said.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        valid = ", ".join(KINDS)
        raise UserError(f"{here}.kind: {json.dumps(kind)} is not valid; valid: {valid}")
    try:
        return KINDS[kind].model_validate({k: v for k, v in said.items() if k != "kind"})
    except ValidationError as error:
        path, message = first_refusal(error, KINDS[kind])
        raise UserError(f"{here}.{'.'.join(path)}: {message}") from error


def claims_table(claims: Mapping[str, Claim], study: Study) -> pd.DataFrame:
    """Return a row per claim: quote, verdict, our figure and how firm it is, as texts.

    `panels` says how many of the claim's panels were run, `differences` what was done otherwise
    than in the paper in those, `records` which records the verdict comes from.
    """
    return pd.DataFrame([_row(name, claim, study) for name, claim in claims.items()])


def presented(claims_table: pd.DataFrame) -> str:
    """Return the table of claims for readers, in Markdown."""
    return f"{markdown(claims_table.drop(columns='records'))}\n{summary(claims_table)}\n"


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


def _row(name: str, claim: Claim, study: Study) -> dict[str, str]:
    finding = claim.check(study)
    return {
        "id": name,
        "claim": claim.quote,
        "location": claim.location,
        "verdict": finding.verdict,
        "ours": finding.ours,
        "panels": f"{len(finding.panels)} of {finding.of} panels" if finding.of else "",
        "firm": finding.firm,
        "differences": in_words(study.differences, finding.panels) if finding.panels else "",
        "rule": claim.rule,
        "reading": claim.reading,
        "records": " ".join(finding.records),
    }
