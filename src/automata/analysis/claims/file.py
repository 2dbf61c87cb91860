"""The file of claims."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from automata.analysis.claims.best import BestTradeoffClaim
from automata.analysis.claims.claim import Claim
from automata.analysis.claims.footprint import FootprintClaim
from automata.analysis.claims.hours import HoursClaim
from automata.analysis.claims.order import OrderClaim
from automata.analysis.claims.paired import PairedClaim
from automata.analysis.claims.reach import PointClaim, RangeClaim
from automata.analysis.claims.schedulers import SchedulerClaim
from automata.analysis.claims.similar import SimilarClaim
from automata.analysis.claims.trend import TrendClaim
from automata.analysis.claims.unchecked import UncheckedClaim
from automata.errors import UserError
from automata.experiments.reading import read

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


def read_claims(file: Path) -> dict[str, Claim]:
    """Return the claims in `file` by their ids, in its order.

    Raises UserError, in one line, for the first thing that is wrong, an id used twice included.
    """
    content = read(file)
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
        first = error.errors(include_url=False)[0]
        key = "".join(f".{part}" for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            message = f"unknown key; valid: kind, {', '.join(KINDS[kind].model_fields)}"
        raise UserError(f"{here}{key}: {message}") from error
