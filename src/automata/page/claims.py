"""The paper's claims against our runs, as the page shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pandas as pd

VERDICTS = {"reproduced": "yes", "not reproduced": "no", "not run": "none"}
"""Verdict -> the class of its badge; the badge says the word as well."""

FIRM = {
    "": "",
    "interval": "firm: the whole 95 % interval agrees",
    "no runs needed": "no runs needed",
}
"""What makes a verdict firm, in words; anything else is why it is not."""

COLUMNS = ("id", "claim", "ours", "panels", "rule", "reading", "differences")


@dataclass(frozen=True)
class Claim:
    """One row of claims.csv; what the table does not have is empty."""

    id: str
    claim: str
    """The paper's words."""
    location: str
    ours: str
    firm: str
    panels: str
    rule: str
    reading: str
    differences: str
    verdict: str
    kind: str
    """The class of its badge."""
    others: list[tuple[str, str]]
    """Further columns, as they are."""
    records: list[str]


def claims(table: pd.DataFrame) -> list[Claim]:
    """Return the rows of the table of claims, in its order."""
    texts = table.astype(object).where(table.notna(), "").astype(str)
    return [_claim({str(k): str(v) for k, v in row.items()}) for row in texts.to_dict("records")]


def tally(found: list[Claim]) -> list[tuple[str, str, int]]:
    """Return how many claims have each verdict: word, class of its badge, number."""
    counted = Counter(claim.verdict for claim in found)
    order = [*VERDICTS, *sorted(set(counted) - set(VERDICTS))]
    return [(word, VERDICTS.get(word, "none"), counted[word]) for word in order if counted[word]]


def _claim(row: dict[str, str]) -> Claim:
    verdict = row.get("verdict", "")
    known = {*COLUMNS, "location", "where", "verdict", "firm", "records"}
    firm = row.get("firm", "")
    return Claim(
        **{column: row.get(column, "") for column in COLUMNS},
        location=row.get("location", row.get("where", "")),
        firm=FIRM.get(firm, f"not firm: {firm}"),
        verdict=verdict,
        kind=VERDICTS.get(verdict, "none"),
        others=[(name, text) for name, text in row.items() if name not in known and text],
        records=row.get("records", "").split(),
    )
