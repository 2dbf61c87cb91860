"""Figures in words."""

from __future__ import annotations

import pandas as pd

from automata.analysis.quantities import quantity as quantity_of
from automata.analysis.study import Panel
from automata.analysis.tradeoff import seeds_column
from automata.analysis.wording import percent, signed, three_digits, times


def but_estimates(quantity: str) -> str:
    """Return what a rule adds where `quantity` rests on energy, else nothing."""
    if not quantity_of(quantity).of_energy:
        return ""
    return " (energy estimated from CPU time alone does not count: it follows time)"


def panel_name(panel: Panel) -> str:
    """Return a panel as paths have it: satimage/tpe-asha."""
    dataset, search, scheduler = panel
    return f"{dataset}/{search}-{scheduler}"


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
