"""How numbers read on the page: one form for all of them."""

from __future__ import annotations

import math

import pandas as pd

from automata.analysis.energy import TIME, amount
from automata.analysis.presentation import ROUNDING
from automata.analysis.tables import three_digits

MISSING = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"
MINUS = "\N{MINUS SIGN}"

NAMED_SEEDS = 12
"""Longer lists of seeds are cut."""


def known(value: object) -> bool:
    """Say whether a cell of a table holds a number."""
    return isinstance(value, int | float) and math.isfinite(value)


def number(value: float | None) -> str:
    """Return `value` with three significant digits; a dash where it is not known."""
    if value is None or not known(value):
        return MISSING
    return three_digits(round(value, ROUNDING) + 0.0).replace("-", MINUS)


def ratio(value: float | None) -> str:
    """Return a ratio, e.g. 2.54 x; a dash where it is not known."""
    return number(value) if value is None or not known(value) else f"{number(value)} {TIMES}"


def points(value: float | None) -> str:
    """Return a difference of accuracies, in percentage points."""
    return number(value) if value is None or not known(value) else f"{number(value)} pp"


def percent(share: float | None) -> str:
    """Return a share as a percentage: 0.903 as 90.3 %."""
    return MISSING if share is None or not known(share) else f"{number(100 * share)} %"


def seconds(value: float | None) -> str:
    """Return a time in the unit that suits it."""
    return MISSING if value is None or not known(value) else amount(value, TIME)


def spread(low: float | None, high: float | None) -> str:
    """Return the bounds of a spread, e.g. [2.3, 2.7]; nothing where there are none."""
    if low is None or high is None or not known(low) or not known(high):
        return ""
    return f"[{number(low)}, {number(high)}]"


def count(amount_of: int, noun: str) -> str:
    """Return a number of things: 1 run, 2,548 runs."""
    return f"{amount_of:,} {noun}{'s' * (amount_of != 1)}"


def seeds(runs: pd.DataFrame) -> str:
    """Return the seeds of `runs`, and apart from them those of `untuned` where they differ."""
    drawn = runs["selector"] == "untuned"
    searches, draws = ({int(seed) for seed in part["seed"]} for part in (runs[~drawn], runs[drawn]))
    shown = [seed_list(sorted(searches))] if searches else []
    if draws - searches:
        shown.append(f"untuned: {seed_list(sorted(draws))}")
    return "; ".join(shown)


def seed_list(seeds: list[int]) -> str:
    """Return seeds as a list, long ones cut."""
    shown = ", ".join(str(seed) for seed in seeds[:NAMED_SEEDS])
    return shown if len(seeds) <= NAMED_SEEDS else f"{shown}, \N{HORIZONTAL ELLIPSIS}"
