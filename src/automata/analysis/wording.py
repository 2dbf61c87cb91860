"""Numbers as text, for tables, figures and the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

MISSING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"

DECIMALS = 9
"""Decimals to keep; smaller ones are rounding errors."""

INTERVALS = {"95 %": "95 % t interval", "range": "range"}
"""Kind of bounds over seeds -> name."""

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
    """Return `value` with three significant digits, or as a whole number if it is large."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def amount(value: float, units: Units) -> str:
    """Return `value` to three digits, in the largest of `units` that makes it at least 1."""
    factor, unit = next((step for step in reversed(units) if value >= step[0]), units[0])
    return f"{three_digits(value / factor)} {unit}"


def number(value: float, unit: str = "") -> str:
    """Return `value` with three significant digits and its unit, or a dash if it is unknown."""
    return f"{_plain(value).replace('-', MINUS)} {unit}".rstrip() if known(value) else MISSING


def percent(share: float) -> str:
    """Return a share as a percentage: 0.903 as 90.3 %."""
    return number(100 * share, "%")


def seconds(value: float) -> str:
    """Return a time in a suitable unit."""
    return amount(value, TIME) if known(value) else MISSING


def energy(kwh: float) -> str:
    """Return an energy in a suitable unit."""
    return amount(kwh, ENERGY) if known(kwh) else MISSING


def mass(grams: float) -> str:
    """Return a mass in a suitable unit."""
    return amount(grams, MASS) if known(grams) else MISSING


def spread(low: float, high: float) -> str:
    """Return bounds as [2.3, 2.7]; "" if one is unknown."""
    ends = [number(low), number(high)]
    return "" if MISSING in ends else f"[{', '.join(ends)}]"


def cell(mean: float, low: float, high: float, seeds: int) -> str:
    """Return a mean with bounds as 2.5 (2.3 to 2.7), or without bounds for one seed."""
    if not known(mean):
        return ""
    if seeds == 1 or not known(low):
        return _plain(mean)
    return "{} ({} to {})".format(*map(_plain, (mean, low, high)))


def times(value: float) -> str:
    """Return a ratio as 8.4x, or a dash if it is unknown."""
    return f"{three_digits(value)}x" if known(value) else MISSING


def signed(value: float) -> str:
    """Return percentage points with a sign, as +0.6."""
    return f"{round(value, 2) + 0.0:+.3g}"


def count(number_of: int, noun: str) -> str:
    """Return a number of things: 1 run, 2,548 runs."""
    return f"{number_of:,} {noun}{'s' * (number_of != 1)}"


def _plain(value: float) -> str:
    return three_digits(round(value, DECIMALS) + 0.0)


def readable(configuration: dict[str, Any]) -> list[str]:
    """Return the hyper-parameters as key=value, numbers with four digits."""
    return [
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in sorted(configuration.items())
    ]
