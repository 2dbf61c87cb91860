"""The tradeoff table in words: every number of a panel, with the records that it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from automata.analysis.tradeoff import QUANTITIES, SPREAD
from automata.page import grid, numbers

Shown = Callable[[float | None], str]

HEADINGS: dict[str, tuple[str, Shown]] = {
    "speedup": (f"Speedup ({numbers.TIMES})", numbers.number),
    "ceiling": (f"Ceiling ({numbers.TIMES})", numbers.number),
    "efficiency": ("Speedup / ceiling", numbers.number),
    "step_ceiling": (f"Ceiling by steps ({numbers.TIMES})", numbers.number),
    "final_ceiling": (f"Ceiling with its final training ({numbers.TIMES})", numbers.number),
    "relative_test_error": ("Relative test error (pp)", numbers.number),
    "relative_error_ratio": ("Relative error ratio", numbers.number),
    "test_accuracy": ("Test accuracy", numbers.percent),
    "energy_ratio": (f"Energy ratio ({numbers.TIMES})", numbers.number),
    "co2_measured_ratio": (f"CO2 ratio from energy ({numbers.TIMES})", numbers.number),
    "co2_time_ratio": (f"CO2 ratio from time ({numbers.TIMES})", numbers.number),
    "total_seconds": ("Total time", numbers.seconds),
}
"""Quantity of the tradeoff table -> heading, and how its numbers read."""


@dataclass(frozen=True)
class Row:
    """One combination."""

    method: str
    selector: str
    fraction: str
    seeds: int
    cells: list[tuple[str, str]]
    """Mean and spread of each quantity."""
    interval: str
    other_cpu_share: str
    energy_method: str
    records: list[str]


def headings() -> list[str]:
    """Return the headings of the quantities."""
    return [HEADINGS[quantity][0] for quantity in QUANTITIES]


def rows(tradeoff: pd.DataFrame, dataset: str) -> list[Row]:
    """Return the rows of a data set: panel by panel, selectors in the order of legends."""
    mine = tradeoff[tradeoff["dataset"] == dataset]
    found = []
    for panel in grid.combinations(mine):
        inside = mine[(mine["search"] == panel.search) & (mine["scheduler"] == panel.scheduler)]
        for selector in grid.selectors(inside):
            chosen = inside[inside["selector"] == selector].sort_values("fraction")
            found += [_row(panel.method, dict(row)) for row in chosen.to_dict("records")]
    return found


def _row(method: str, row: dict[Any, Any]) -> Row:
    several = row["seeds"] > 1
    return Row(
        method,
        grid.selector(row["selector"]),
        grid.fraction(row["fraction"]),
        int(row["seeds"]),
        [_cell(row, quantity, several) for quantity in QUANTITIES],
        {"95 %": "95 % bootstrap"}.get(row["interval"], row["interval"]) if several else "",
        numbers.percent(row["other_cpu_share"]),
        row["energy_method"] if isinstance(row["energy_method"], str) else numbers.MISSING,
        str(row["records"]).split(),
    )


def _cell(row: dict[Any, Any], quantity: str, several: bool) -> tuple[str, str]:
    mean = HEADINGS[quantity][1](row[quantity])
    if quantity not in SPREAD or not several:
        return mean, ""
    return mean, numbers.spread(row[f"{quantity}_low"], row[f"{quantity}_high"])
