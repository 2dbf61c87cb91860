"""Which runs are of equal code: the same, or declared to be equal in what is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from automata.code_versions import PARTS, TIMES, claims_of, origin

COLUMNS = {f"{part}_code": part for part in PARTS}
"""Columns of the table of runs with the code of a part."""


def equal(
    column: str, run: Mapping[str, Any], other: Mapping[str, Any], methods: Iterable[str] = ()
) -> bool:
    """Say whether two runs are of equal code of a column, as to scores, times and such energies."""
    if run[column] == other[column]:
        return True
    part, kinds = COLUMNS[column], tuple(methods)
    claims = {
        claim
        for row in (run, other)
        for claim in claims_of(part, kinds, row["resumed"], row["device"])
    }
    return origin(part, run[column], claims) == origin(part, other[column], claims)


def by_origin(runs: pd.DataFrame, times: bool = True) -> pd.DataFrame:
    """Return `runs` with their code by its origin: code that is equal in all has one.

    That is in scores and, with `times`, in times; where a run was interrupted, or was on a GPU,
    also in those of such runs.
    """
    kinds = set(zip(runs["resumed"], runs["device"], strict=True))
    origins = {}
    for column, part in COLUMNS.items():
        claims = {claim for kind in kinds for claim in claims_of(part, (), *kind)}
        needed = {claim for claim in claims if times or not claim.startswith(TIMES)}
        origins[column] = runs[column].map(partial(origin, part, claims=needed))
    return runs.assign(**origins)
