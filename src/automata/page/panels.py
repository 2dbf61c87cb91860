"""The trade-off of each data set: the points of its chart, and the same numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import study, wording
from automata.analysis.best import winner
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Panel, Study
from automata.names import AUTOMATA, CONTROLS
from automata.page.chart import ACROSS, UP, WHOLE, chart
from automata.page.findings import Best, Fast, best, fastest, shown

NEAR = 1.0
"""The line of `untuned` is drawn if it lies at most so many spans of the points beyond them."""

DIGITS = 6
"""Of the numbers that positions come from: more than a screen can show."""

UNTUNED = ["panel", "median", "low", "high", "label", "near"]

TOLD = ["speedup", "ceiling", UP, "test_accuracy", "total_seconds", "energy_ratio"]
"""Quantities that a tooltip tells."""


@dataclass(frozen=True)
class DataSet:
    """All that the page says of a data set."""

    name: str
    title: str
    description: str
    best: list[Best]
    fastest: Fast | None
    """None where no subset method is near FULL."""
    fastest_automata: Fast | None
    chart: dict[str, Any] | None
    """None where nothing is compared with FULL."""
    notes: list[str]
    """A text per panel."""
    rows: list[list[str]]
    """The tradeoff table in words: a text per column of `headings`."""
    records: list[list[str]]
    """Those behind each row."""

    @property
    def anchor(self) -> str:
        """What links call it."""
        return f"dataset-{self.name}"


def headings() -> list[tuple[str, str]]:
    """Return the headings of the rows of data sets, with definitions."""
    return [
        ("Search, scheduler", ""),
        ("Method", "Selector and subset size"),
        ("Seeds", ""),
        *((quantity.heading, quantity.definition) for quantity in QUANTITIES.values()),
        ("Other work", "Largest share of the host's CPU time that went to anything but the job"),
        ("Energy", "How it was obtained"),
    ]


def data_sets(tables: Study, untuned: pd.DataFrame | None) -> list[DataSet]:
    """Return the data sets with runs; `untuned` is None where it was not computed."""
    return [_data_set(name, tables, untuned) for name in study.datasets(tables.runs)]


def _data_set(name: str, tables: Study, untuned: pd.DataFrame | None) -> DataSet:
    runs = tables.runs[tables.runs["dataset"] == name]
    panels = study.panels(runs)
    rows = pd.concat([_ordered(panel.rows(tables.tradeoff)) for panel in panels])
    points = pd.DataFrame([_point(row, runs) for row in rows.to_dict("records")])
    compared = not points.empty and (rows["selector"] != "full").any()
    draws = [] if untuned is None else [_untuned(panel, untuned, rows) for panel in panels]
    controls = pd.DataFrame(filter(None, draws), columns=UNTUNED)
    return DataSet(
        name,
        names.dataset(name),
        _description(runs),
        best(runs),
        fastest(rows),
        fastest(rows[rows["selector"] == AUTOMATA]),
        chart(points, controls[controls["near"].astype(bool)]) if compared else None,
        [_note(panel, tables, controls) for panel in panels],
        [_row(row) for row in rows.to_dict("records")],
        [row.split() for row in rows["records"]],
    )


def _ordered(panel: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a panel, selectors in the order of legends, subsets rising."""
    order = {selector: place for place, selector in enumerate(study.selectors(panel))}
    return panel.assign(place=panel["selector"].map(order)).sort_values(["place", "fraction"])


def _point(row: dict[Any, Any], runs: pd.DataFrame) -> dict[str, Any]:
    """Return what the chart draws of a row of the tradeoff table, and what its tooltip tells."""
    positions = [f"{name}{end}" for name in (*ACROSS, UP) for end in ("", "_low", "_high")]
    mine = runs[(runs["selector"] == row["selector"]) & runs["record"].isin(row["records"].split())]
    chosen = winner(mine)
    seeds = wording.seed_list(sorted(int(seed) for seed in mine["seed"]))
    return {
        "panel": Panel.of(row).method,
        "selector": names.selector(row["selector"]),
        "subset": WHOLE if row["selector"] in CONTROLS else wording.percent(row["fraction"]),
        "fraction": row["fraction"],
        **{name: _rounded(row[name]) for name in positions},
        "title": names.method(row["selector"], row["fraction"]),
        **{QUANTITIES[name].title: shown(row, name) for name in TOLD},
        "Seeds": f"{seeds} ({_brackets(row)})" if row["seeds"] > 1 else seeds,
        "Best by validation": chosen["best_configuration"] if chosen else wording.MISSING,
    }


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if wording.known(value) else None


def _brackets(row: dict[Any, Any]) -> str:
    return "brackets: 95 % bootstrap" if row["interval"] == "95 %" else "brackets: range"


def _untuned(panel: Panel, table: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Any] | None:
    """Return what one configuration drawn at random reaches in a panel."""
    found = panel.rows(table)
    if found.empty:
        return None
    row = found.iloc[0]
    median, low, high = (row[f"{UP}_{name}"] for name in ("median", "low", "high"))
    text = f"untuned: {wording.points(median)} {wording.spread(low, high)}"
    errors = [0.0, *panel.rows(rows)[UP]]
    room = NEAR * (max(errors) - min(errors))
    return {
        "panel": panel.method,
        "median": median,
        # Draws far from all points would squeeze them.
        "low": max(low, min(median, *errors)),
        "high": min(high, max(median, *errors)),
        "label": f"{text}, {wording.count(int(row['draws']), 'draw')}",
        "near": min(errors) - room <= median <= max(errors) + room,
    }


def _note(panel: Panel, tables: Study, controls: pd.DataFrame) -> str:
    """Return what a reader must know of the runs of a panel."""
    ratios, runs = panel.rows(tables.ratios), panel.rows(tables.runs)
    refused = int(ratios["refused"].notna().sum())
    absent = study.missing(tables.runs, runs)
    notes = [
        wording.count(len(runs), "run"),
        f"seeds {wording.seeds(runs)}",
        *([f"{refused} of {len(ratios)} runs not comparable"] if refused else []),
        *([f"not run: {', '.join(absent)}"] if absent else []),
        *controls["label"][controls["panel"] == panel.method],
    ]
    return f"{panel.method}: {'; '.join(notes)}"


def _description(runs: pd.DataFrame) -> str:
    """Return what is trained on a data set, and for how long."""
    searches = sorted(runs["configurations"][runs["selector"] != "untuned"].unique())
    rows = " or ".join(f"{rows:,}" for rows in sorted(runs["train_rows"].unique()))
    return ", ".join(
        [
            f"{rows} training rows",
            *sorted(runs["model"].unique()),
            f"{' or '.join(map(str, sorted(runs['epochs'].unique())))} epochs",
            *([f"{' or '.join(map(str, searches))} configurations per search"] * bool(searches)),
        ]
    )


def _row(row: dict[Any, Any]) -> list[str]:
    return [
        Panel.of(row).method,
        names.method(row["selector"], row["fraction"]),
        str(row["seeds"]),
        *(shown(row, quantity) for quantity in QUANTITIES),
        wording.percent(row["other_cpu_share"]),
        row["energy_method"] if isinstance(row["energy_method"], str) else wording.MISSING,
    ]
