"""The trade-off of each data set: points of the chart, and the same numbers as a table."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import study, wording
from automata.analysis.best import winner
from automata.analysis.energy import AMOUNTS
from automata.analysis.quantities import ERROR, QUANTITIES
from automata.analysis.study import Panel, Study
from automata.names import AUTOMATA, CONTROLS
from automata.page.chart import WHOLE, chart
from automata.page.findings import best, fastest, formatted
from automata.page.summary import seed_list

NEAR = 1.0
"""Maximum distance of the untuned line from the points, in spans of the points."""

DIGITS = 6
"""Decimals of positions in a chart, more than a screen can show."""

TOOLTIP = [
    *("speedup", "cpu_ratio", "ceiling", "energy_ratio", "co2_energy_ratio", ERROR),
    *("test_accuracy", "total_seconds", "kwh", "co2_energy_grams"),
]
"""Quantities in a tooltip."""

HEADINGS = [
    ("Search, scheduler", ""),
    ("Method", "Selector and subset size"),
    ("Seeds", ""),
    *((quantity.heading, quantity.definition) for quantity in QUANTITIES.values()),
    ("Other work", "Largest share of the host's CPU time that went to anything but the job"),
    ("Energy was", "How the energy was obtained"),
]
"""Headings of the tables of numbers, with definitions."""


def data_set(name: str, tables: Study, call: str) -> dict[str, Any]:
    """Return a data set's content of the page; the command `call` runs its experiment."""
    runs = tables.runs[tables.runs["dataset"] == name]
    runs = runs.merge(tables.energy[["record", *AMOUNTS]], on="record")
    panels = study.panels(runs)
    table = pd.concat([_rows(panel, tables) for panel in panels], ignore_index=True)
    table["row"] = [f"row-{name}-{number}" for number in table.index]
    untuned = table["selector"] == "untuned"
    across = ratio_of(table[~untuned])
    compared = table[~untuned & table[across].notna()]
    ratios = [
        name
        for name in (across, "energy_ratio", "co2_energy_ratio")
        if compared[name].notna().any()
    ]
    marks = compared.to_dict("records")
    points = pd.DataFrame([_point(row, runs, ratios) for row in marks]).round(DIGITS)
    lines = [_line(row, compared) for row in table[untuned].to_dict("records")]
    has_others = (compared["selector"] != "full").any()
    rows = [
        {"id": row["row"], "cells": _cells(row), **source(row, runs, call)}
        for row in table.to_dict("records")
    ]
    choices = [row | source(row, runs, call) for row in best(runs, table)]
    return {
        "anchor": f"dataset-{name}",
        "title": names.dataset(name),
        "description": _description(runs),
        "best": choices,
        "across": across,
        "fastest": fastest(compared, across),
        "fastest_automata": fastest(compared[compared["selector"] == AUTOMATA], across),
        "chart": chart(points, pd.DataFrame(filter(None, lines)), ratios) if has_others else None,
        "rows": rows,
    }


def ratio_of(table: pd.DataFrame) -> str:
    """Return the ratio to show: the speedup, or `cpu_ratio` if other work disturbed runs."""
    disturbed = (table["speedup_seeds"] < table["seeds"]).any()
    return "cpu_ratio" if disturbed and table["cpu_ratio"].notna().all() else "speedup"


def source(row: Mapping[Any, Any], runs: pd.DataFrame, call: str) -> dict[str, Any]:
    """Return the `records` behind a row, and the `command` that makes them again."""
    records = row["records"].split()
    if all(record.startswith("results/runs/") for record in records):
        return {"records": records, "command": f"{call} --force {shlex.join(records)}"}
    # A path in an archive has only the axes of the run, so the command makes a configuration.
    own = runs[runs["record"].isin(records)]
    drawn = own["selector"] == "untuned"
    seeds, draws = (sorted({int(seed) for seed in own["seed"][it]}) for it in (~drawn, drawn))
    axes = {
        "experiment": "again",
        "archives": [],
        "datasets": [row["dataset"]],
        "searches": [row["search"]],
        "schedulers": [row["scheduler"]],
        "selectors": list(dict.fromkeys(["full"] * bool(seeds) + [row["selector"]])),
        **({} if row["selector"] in CONTROLS else {"fractions": [row["fraction"]]}),
        **({"seeds": seeds} if seeds else {}),
        **({"untuned_seeds": draws} if draws else {}),
    }
    again = f"echo {shlex.quote(json.dumps(axes))} > again.yaml\n{call} again.yaml"
    return {"records": records, "command": again}


def _rows(panel: Panel, tables: Study) -> pd.DataFrame:
    """Return the rows of a panel, sorted by selector (as in legends) and subset size.

    The row of `untuned` has the median error of the draws, with their range as bounds.
    """
    drawn = panel.rows(tables.untuned).assign(selector="untuned", fraction=0.0, interval="range")
    # The columns of the table are means, not medians.
    drawn = drawn.assign(
        seeds=drawn["draws"], test_accuracy=math.nan, **{ERROR: drawn[f"{ERROR}_median"]}
    )
    rows = pd.concat([panel.rows(tables.tradeoff), drawn], ignore_index=True)
    order = {selector: place for place, selector in enumerate(study.selectors(rows))}
    return rows.assign(place=rows["selector"].map(order)).sort_values(["place", "fraction"])


def _point(row: dict[Any, Any], runs: pd.DataFrame, ratios: Sequence[str]) -> dict[str, Any]:
    """Return the mark and the tooltip of a row of the tradeoff table."""
    positions = [f"{name}{end}" for name in (*ratios, ERROR) for end in ("", "_low", "_high")]
    own = runs[(runs["selector"] == row["selector"]) & runs["record"].isin(row["records"].split())]
    chosen = winner(own)
    seeds = seed_list(own["seed"])
    if row["seeds"] > 1:
        seeds += f" (mean; brackets: {wording.INTERVALS[row['interval']]})"
    for ratio in ratios:
        if (known := int(row[QUANTITIES[ratio].seeds])) < row["seeds"]:
            seeds += f"; {known} with the {QUANTITIES[ratio].words}"
    return {
        "row": row["row"],
        "panel": Panel.of(row).method,
        "name": row["selector"],
        "selector": names.selector(row["selector"]),
        "subset": WHOLE if row["selector"] in CONTROLS else wording.percent(row["fraction"]),
        "fraction": row["fraction"],
        **{name: row[name] for name in positions},
        "title": names.method(row["selector"], row["fraction"]),
        **{QUANTITIES[name].title: formatted(row, name) for name in TOOLTIP},
        "Seeds": seeds,
        "Best by validation": chosen["best_configuration"] if chosen else wording.MISSING,
    }


def _line(row: dict[Any, Any], table: pd.DataFrame) -> dict[str, Any] | None:
    """Return the line of untuned configurations; None if it is far from all points."""
    panel = Panel.of(row)
    median, low, high = row[ERROR], row[f"{ERROR}_low"], row[f"{ERROR}_high"]
    errors = [0.0, *panel.rows(table)[ERROR]]
    room = NEAR * (max(errors) - min(errors))
    if not min(errors) - room <= median <= max(errors) + room:
        return None
    draws = f"median and range of {int(row['draws'])} draws"
    return {
        "row": row["row"],
        "panel": panel.method,
        "title": names.selector("untuned"),
        "median": median,
        # Draws far away would squeeze the points.
        "low": max(low, min(median, *errors)),
        "high": min(high, max(median, *errors)),
        "label": f"untuned: {formatted(row, ERROR)} ({draws})",
    }


def _description(runs: pd.DataFrame) -> str:
    """Return rows, models, epochs and configurations of a data set as text."""
    searched = runs[runs["selector"] != "untuned"]
    rows, epochs, configurations = (
        " or ".join(f"{value:,}" for value in sorted(values.unique()))
        for values in (runs["train_rows"], runs["epochs"], searched["configurations"])
    )
    searches = [f"{configurations} configurations per search"] * bool(configurations)
    models = sorted(runs["model"].unique())
    return ", ".join([f"{rows} training rows", *models, f"at most {epochs} epochs", *searches])


def _cells(row: dict[Any, Any]) -> list[str]:
    drawn = row["selector"] == "untuned"
    return [
        Panel.of(row).method,
        names.method(row["selector"], row["fraction"]) + " (median)" * drawn,
        wording.count(int(row["seeds"]), "draw") if drawn else str(int(row["seeds"])),
        *(formatted(row, quantity) for quantity in QUANTITIES),
        wording.percent(row["other_cpu_share"]),
        row["energy_method"] if isinstance(row["energy_method"], str) else wording.MISSING,
    ]
