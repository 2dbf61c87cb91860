"""How numbers read: every form of a number that a person sees, in tables, figures and page."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from automata.analysis.quantities import TIMES

MISSING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"

ROUNDING = 9
"""Decimals below which a difference is an error of rounding: it reads as 0."""

NAMED_SEEDS = 12
"""Longer lists of seeds are cut."""

Units = Sequence[tuple[float, str]]

TIME: Units = [(1, "s"), (60, "min"), (3600, "h")]
"""Of seconds."""
ENERGY: Units = [(1e-6, "mWh"), (1e-3, "Wh"), (1, "kWh")]
"""Of kWh."""
MASS: Units = [(1e-3, "mg"), (1, "g"), (1e3, "kg")]
"""Of grams."""
DISTANCE: Units = [(1e-5, "cm"), (1e-3, "m"), (1, "km")]
"""Of kilometres."""


def known(value: object) -> bool:
    """Say whether a cell of a table holds a number."""
    return isinstance(value, int | float) and math.isfinite(value)


def three_digits(value: float) -> str:
    """Return `value` with three significant digits, large ones as whole numbers."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def amount(value: float, units: Units) -> str:
    """Return `value` to three digits, in the largest of `units` of which it is at least one."""
    factor, unit = next((step for step in reversed(units) if value >= step[0]), units[0])
    return f"{three_digits(value / factor)} {unit}"


def cell(mean: float, low: float, high: float, seeds: int) -> str:
    """Return a mean over `seeds`, and its bounds if they are known and those of several."""
    if pd.isna(mean):
        return ""
    shown = [three_digits(round(value, ROUNDING) + 0.0) for value in (mean, low, high)]
    return shown[0] if seeds == 1 or pd.isna(low) else "{} ({} to {})".format(*shown)


def times(value: float) -> str:
    """Return a ratio in plain text: 8.4x."""
    return f"{three_digits(value)}x"


def signed(value: float) -> str:
    """Return percentage points, without a minus in front of nothing: +0.6."""
    return f"{round(value, 2) + 0.0:+.3g}"


def bounded(value: str, low: str, high: str) -> str:
    """Return a value and its interval."""
    return f"{value} ({low} to {high})"


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


def count(number_of: int, noun: str) -> str:
    """Return a number of things: 1 run, 2,548 runs."""
    return f"{number_of:,} {noun}{'s' * (number_of != 1)}"


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
