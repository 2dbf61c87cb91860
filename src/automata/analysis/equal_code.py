"""Which runs are of equal code: the same, or declared to be equal in what is compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from automata.code_versions import PARTS, claims_of, origin

COLUMNS = {f"{part}_code": part for part in PARTS}
"""Columns of the table of runs with the code of a part."""


def equal(
    column: str, run: Mapping[str, Any], other: Mapping[str, Any], methods: Iterable[str] = ()
) -> bool:
    """Say whether two runs are of equal code of a column, as to scores, times and such energies."""
    if run[column] == other[column]:
        return True
    part, kinds = COLUMNS[column], tuple(methods)
    claims = {claim for row in (run, other) for claim in claims_of(part, kinds, row["resumed"])}
    return origin(part, run[column], claims) == origin(part, other[column], claims)


def by_origin(runs: pd.DataFrame) -> pd.DataFrame:
    """Return `runs` with their code by its origin: runs that are equal to all others have one.

    Equal as to scores and times; where one run was interrupted, as to those of such runs, too.
    """
    interrupted = sorted(set(runs["resumed"].astype(bool)))
    origins = {}
    for column, part in COLUMNS.items():
        claims = {claim for kind in interrupted for claim in claims_of(part, (), kind)}
        origins[column] = runs[column].map(partial(origin, part, claims=claims))
    return runs.assign(**origins)
