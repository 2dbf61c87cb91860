"""Numbers as people read them in tables, figures and on the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

MISSING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"

DECIMALS = 9
"""Smaller decimals are rounding errors: they read as 0."""

NAMED_SEEDS = 12
"""Longer lists of seeds are cut."""

INTERVALS = {"95 %": "95 % bootstrap interval", "range": "range"}
"""Kind of bounds over seeds -> its name."""

Units = Sequence[tuple[float, str]]
"""Sizes and names of units, rising."""

TIME: Units = [(1, "s"), (60, "min"), (3600, "h")]
ENERGY: Units = [(1e-6, "mWh"), (1e-3, "Wh"), (1, "kWh")]
MASS: Units = [(1e-3, "mg"), (1, "g"), (1e3, "kg")]
DISTANCE: Units = [(1e-5, "cm"), (1e-3, "m"), (1, "km")]


def known(value: object) -> bool:
    """Return whether a cell of a table holds a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)


def three_digits(value: float) -> str:
    """Return `value` with three significant digits, large ones as whole numbers."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def amount(value: float, units: Units) -> str:
    """Return `value` to three digits, in the largest of `units` that makes it at least 1."""
    factor, unit = next((step for step in reversed(units) if value >= step[0]), units[0])
    return f"{three_digits(value / factor)} {unit}"


def number(value: float | None, unit: str = "") -> str:
    """Return `value` with three significant digits and its unit, or a dash if it is unknown."""
    if value is None or not known(value):
        return MISSING
    return f"{_plain(value).replace('-', MINUS)} {unit}".rstrip()


def percent(share: float | None) -> str:
    """Return a share as a percentage: 0.903 as 90.3 %."""
    return number(None if share is None else 100 * share, "%")


def seconds(value: float | None) -> str:
    """Return a time in the unit that suits it."""
    return MISSING if value is None or not known(value) else amount(value, TIME)


def spread(low: float | None, high: float | None) -> str:
    """Return bounds: [2.3, 2.7]; nothing if one is unknown."""
    shown = [number(low), number(high)]
    return "" if MISSING in shown else f"[{', '.join(shown)}]"


def cell(mean: float, low: float, high: float, seeds: int) -> str:
    """Return a mean for a Markdown table: 2.5 (2.3 to 2.7); without bounds for a single seed."""
    if pd.isna(mean):
        return ""
    if seeds == 1 or pd.isna(low):
        return _plain(mean)
    return bounded(*map(_plain, (mean, low, high)))


def bounded(value: str, low: str, high: str) -> str:
    """Return a value and its interval."""
    return f"{value} ({low} to {high})"


def times(value: float) -> str:
    """Return a ratio in plain text: 8.4x."""
    return f"{three_digits(value)}x"


def signed(value: float) -> str:
    """Return percentage points with a sign: +0.6."""
    return f"{round(value, 2) + 0.0:+.3g}"


def count(number_of: int, noun: str) -> str:
    """Return a number of things: 1 run, 2,548 runs."""
    return f"{number_of:,} {noun}{'s' * (number_of != 1)}"


def seeds(runs: pd.DataFrame) -> str:
    """Return the seeds of `runs`, and separately those of `untuned` if they differ."""
    drawn = runs["selector"] == "untuned"
    searches, draws = ({int(seed) for seed in part["seed"]} for part in (runs[~drawn], runs[drawn]))
    shown = [seed_list(sorted(searches))] if searches else []
    return "; ".join(shown + [f"untuned: {seed_list(sorted(draws))}"] * bool(draws - searches))


def seed_list(seeds: list[int]) -> str:
    """Return seeds as a list, long ones cut."""
    shown = ", ".join(map(str, seeds[:NAMED_SEEDS]))
    return shown if len(seeds) <= NAMED_SEEDS else f"{shown}, \N{HORIZONTAL ELLIPSIS}"


def _plain(value: float) -> str:
    return three_digits(round(value, DECIMALS) + 0.0)


def readable(configuration: dict[str, Any]) -> list[str]:
    """Return the hyper-parameters for readers: key=value, numbers with four digits."""
    return [
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in sorted(configuration.items())
    ]
