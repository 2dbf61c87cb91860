"""The tradeoff table in words: every number of a panel, with the records that it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import study, wording
from automata.analysis.quantities import QUANTITIES

Shown = Callable[[float | None], str]

SHOWN: dict[str, Shown] = {"%": wording.percent, "s": wording.seconds}
"""How numbers of a unit read, where it is not three digits."""


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
    return [quantity.heading for quantity in QUANTITIES.values()]


def rows(tradeoff: pd.DataFrame, dataset: str) -> list[Row]:
    """Return the rows of a data set: panel by panel, selectors in the order of legends."""
    mine = tradeoff[tradeoff["dataset"] == dataset]
    found = []
    for panel in study.panels(mine):
        inside = mine[(mine["search"] == panel.search) & (mine["scheduler"] == panel.scheduler)]
        for selector in study.selectors(inside):
            chosen = inside[inside["selector"] == selector].sort_values("fraction")
            found += [_row(panel.method, dict(row)) for row in chosen.to_dict("records")]
    return found


def _row(method: str, row: dict[Any, Any]) -> Row:
    several = row["seeds"] > 1
    return Row(
        method,
        names.selector(row["selector"]),
        wording.percent(row["fraction"]),
        int(row["seeds"]),
        [_cell(row, quantity, several) for quantity in QUANTITIES],
        {"95 %": "95 % bootstrap"}.get(row["interval"], row["interval"]) if several else "",
        wording.percent(row["other_cpu_share"]),
        row["energy_method"] if isinstance(row["energy_method"], str) else wording.MISSING,
        str(row["records"]).split(),
    )


def _cell(row: dict[Any, Any], quantity: str, several: bool) -> tuple[str, str]:
    mean = SHOWN.get(QUANTITIES[quantity].unit, wording.number)(row[quantity])
    if not QUANTITIES[quantity].spread or not several:
        return mean, ""
    return mean, wording.spread(row[f"{quantity}_low"], row[f"{quantity}_high"])
