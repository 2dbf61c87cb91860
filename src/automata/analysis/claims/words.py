"""Figures in words."""

from __future__ import annotations

import pandas as pd

from automata.analysis.differences import Panel
from automata.analysis.tables import three_digits
from automata.analysis.tradeoff import OF_ENERGY, seeds_column

NAMES = {
    "speedup": "speedup",
    "energy_ratio": "energy ratio",
    "co2_measured_ratio": "CO2 ratio (from energy)",
    "co2_time_ratio": "CO2 ratio (from time)",
    "test_accuracy": "test accuracy",
    "best_validation_accuracy": "validation accuracy of the best trial",
}
"""Columns, as readers know them."""


def but_estimates(quantity: str) -> str:
    """Return what a rule adds where `quantity` rests on energy, else nothing."""
    if quantity not in OF_ENERGY:
        return ""
    return " (energy estimated from CPU time alone does not count: it follows time)"


def panel_name(panel: Panel) -> str:
    """Return a panel as paths have it: satimage/tpe-asha."""
    dataset, search, scheduler = panel
    return f"{dataset}/{search}-{scheduler}"


def times(value: float) -> str:
    """Return a ratio: 8.4x."""
    return f"{three_digits(value)}x"


def percent(share: float) -> str:
    """Return a share in percent: 10 %."""
    return f"{100 * share:.3g} %"


def signed(value: float) -> str:
    """Return percentage points, without a minus in front of nothing: +0.6."""
    return f"{round(value, 2) + 0.0:+.3g}"


def of_row(row: pd.Series[float], quantity: str) -> str:
    """Return a row of the tradeoff table: 8.4x (7.1 to 9.6) at +0.6 pp (+0.2 to +1), fraction 1 %.

    In parentheses is the 95 % interval, or the range of two seeds; one seed has none. The ratio
    may be of fewer seeds than the error.
    """
    ratio = times(row[quantity])
    error = f"{signed(row['relative_test_error'])} pp"
    if row[seeds_column(quantity)] > 1:
        low, high = row[f"{quantity}_low"], row[f"{quantity}_high"]
        ratio += f" ({three_digits(low)} to {three_digits(high)})"
    if row["seeds"] > 1:
        low, high = row["relative_test_error_low"], row["relative_test_error_high"]
        error += f" ({signed(low)} to {signed(high)})"
    return f"{ratio} at {error}, fraction {percent(row['fraction'])}"


def bounded(value: str, low: str, high: str) -> str:
    """Return a value and its interval."""
    return f"{value} ({low} to {high})"
