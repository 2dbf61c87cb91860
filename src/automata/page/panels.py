"""The tradeoff panels: their points with all that a reader may ask of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import study, wording
from automata.analysis.energy import ways
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Panel, Study
from automata.names import ALL_DATA
from automata.page.spec import compiled_panel, look

ON_X = ("speedup", "energy_ratio", "co2_time_ratio")
"""What may stand on the x axis; CO2 from energy is the energy ratio again."""

NEAR = 1.0
"""The line of `untuned` is drawn if it lies at most so many spans of the points beyond them."""

DIGITS = 6
"""Of the numbers that positions come from: more than a screen can show."""


@dataclass(frozen=True)
class Value:
    """A mean over seeds with the bounds of its spread; None where it is not known."""

    mean: float | None
    low: float | None
    high: float | None
    text: str


@dataclass(frozen=True)
class Point:
    """One combination of a panel: a row of the tradeoff table."""

    selector: str
    fraction: float
    text: str
    """The fraction as it stands at the point."""
    x: dict[str, Value]
    """By quantity."""
    y: Value
    facts: list[tuple[str, str]]
    seeds: list[list[str]]
    """A row per seed, with the columns of SEED_COLUMNS."""


SEED_COLUMNS = ["best configuration", "seed", "search", "final training", "total", "speedup"]


@dataclass(frozen=True)
class Untuned:
    """What one configuration drawn at random reaches in this panel."""

    y: float
    low: float
    high: float
    label: str
    inside: bool
    """Whether its line can be drawn without squeezing the points."""


@dataclass(frozen=True)
class PanelOnPage:
    """One data set, search and scheduler."""

    combination: Panel
    points: list[Point]
    untuned: Untuned | None
    notes: list[str]
    """What a reader must know of its runs."""
    energy: str
    """How the energies of its runs were obtained."""


@dataclass(frozen=True)
class DataSet:
    """All panels of a data set."""

    name: str
    title: str
    description: str
    panels: list[PanelOnPage]

    @property
    def anchor(self) -> str:
        """What links call it."""
        return f"dataset-{self.name}"


def data_sets(tables: Study, untuned: pd.DataFrame | None) -> list[DataSet]:
    """Return the panels with runs, by data set; `untuned` is None where it was not computed."""
    there = study.panels(tables.runs)
    panels = [_panel(combination, tables, untuned) for combination in there]
    return [
        DataSet(
            name,
            names.dataset(name),
            _description(tables.runs[tables.runs["dataset"] == name]),
            [panel for panel in panels if panel.combination.dataset == name],
        )
        for name in study.datasets(tables.runs)
    ]


def script_data(data: list[DataSet], runs: pd.DataFrame) -> dict[str, Any]:
    """Return what the page's script draws from: no NaN, every text ready to be shown."""
    return {
        "spec": compiled_panel(),
        "quantities": {
            name: {"label": QUANTITIES[name].label, "meaning": QUANTITIES[name].note("{energy}")}
            for name in ON_X
        },
        "selectors": {
            name: {"name": names.selector(name), **look(name)} for name in study.selectors(runs)
        },
        "whole": list(ALL_DATA),
        "seedColumns": SEED_COLUMNS,
        "panels": {
            panel.combination.anchor: {
                "title": panel.combination.title,
                "points": [asdict(point) for point in panel.points],
                "untuned": asdict(panel.untuned) if panel.untuned else None,
                "energy": panel.energy,
            }
            for group in data
            for panel in group.panels
        },
    }


def _panel(combination: Panel, tables: Study, untuned: pd.DataFrame | None) -> PanelOnPage:
    ratios, runs = combination.rows(tables.ratios), combination.rows(tables.runs)
    # What a seed did is in the runs, what it gained in the ratios.
    taken = ["record", "best_configuration", "tuning_seconds", "final_seconds"]
    compared = ratios[ratios["refused"].isna()].merge(runs[taken], on="record", how="left")
    rows = combination.rows(tables.tradeoff)
    seeds = defaultdict(list)
    for run in _rows(compared.sort_values("seed")):
        seeds[run["selector"], run["fraction"]].append(run)
    order = {selector: place for place, selector in enumerate(study.selectors(rows))}
    points = [
        _point(row, seeds[row["selector"], row["fraction"]])
        for row in sorted(_rows(rows), key=lambda row: (order[row["selector"]], row["fraction"]))
    ]
    control = None if untuned is None else _untuned(combination.rows(untuned), points)
    return PanelOnPage(combination, points, control, _notes(tables, ratios, runs), ways(compared))


def _point(row: dict[str, Any], runs: list[dict[str, Any]]) -> Point:
    """Return the point of a row of the tradeoff table, and its `runs` by seed."""
    whole = row["selector"] in ALL_DATA
    return Point(
        row["selector"],
        row["fraction"],
        "" if whole else wording.percent(row["fraction"]),
        {name: _value(row, name, wording.ratio) for name in ON_X},
        _value(row, "relative_test_error", wording.points),
        list(_facts(row, [int(run["seed"]) for run in runs])),
        [
            [
                run["best_configuration"],
                str(run["seed"]),
                wording.seconds(run["tuning_seconds"]),
                wording.seconds(run["final_seconds"]),
                wording.seconds(run["total_seconds"]),
                wording.ratio(run["speedup"]),
            ]
            for run in runs
        ],
    )


def _value(row: dict[str, Any], name: str, shown: Any) -> Value:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    spread = wording.spread(low, high) if row["seeds"] > 1 else ""
    text = f"{shown(row[name])} {spread}".strip()
    return Value(_rounded(row[name]), _rounded(low), _rounded(high), text)


def _rounded(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if wording.known(value) else None


def _facts(row: dict[str, Any], seeds: list[int]) -> Iterator[tuple[str, str]]:
    energy = f" ({row['energy_method']})" if isinstance(row["energy_method"], str) else ""
    yield "Speedup", _value(row, "speedup", wording.ratio).text
    yield "Ceiling of the speedup", wording.ratio(row["ceiling"])
    yield "Relative test error", _value(row, "relative_test_error", wording.points).text
    yield "Test accuracy", wording.percent(row["test_accuracy"])
    yield "Total time", wording.seconds(row["total_seconds"])
    yield f"Energy ratio{energy}", _value(row, "energy_ratio", wording.ratio).text
    yield wording.count(len(seeds), "seed"), wording.seed_list(seeds)
    if len(seeds) > 1:
        yield "Brackets", "95 % bootstrap interval" if row["interval"] == "95 %" else "range"


def _untuned(rows: pd.DataFrame, points: list[Point]) -> Untuned | None:
    if rows.empty:
        return None
    row = next(_rows(rows))
    median, low, high = (row[f"relative_test_error_{name}"] for name in ("median", "low", "high"))
    draws = wording.count(int(row["draws"]), "draw")
    spread = wording.spread(low, high) if row["draws"] > 1 else ""
    label = f"untuned: {wording.points(median)} {spread}".strip() + f", {draws}"
    reached = [0.0, *(point.y.mean for point in points if point.y.mean is not None)]
    room = NEAR * (max(reached) - min(reached))
    inside = min(reached) - room <= median <= max(reached) + room
    return Untuned(median, low, high, label, inside)


def _notes(tables: Study, ratios: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    refused = int(ratios["refused"].notna().sum())
    absent = study.missing(tables.runs, runs)
    return [
        wording.count(len(runs), "run"),
        f"seeds {wording.seeds(runs)}",
        *([f"{refused} of {len(ratios)} runs not comparable"] if refused else []),
        *([f"not run: {', '.join(absent)}"] if absent else []),
    ]


def _description(runs: pd.DataFrame) -> str:
    """Return what is trained on a data set, and for how long."""
    rows = " or ".join(f"{rows:,}" for rows in sorted(runs["train_rows"].unique()))
    searches = runs[runs["selector"] != "untuned"]["configurations"].unique()
    # Older tables of runs do not name the model.
    models = sorted(runs["model"].dropna().unique()) if "model" in runs else []
    return ", ".join(
        [
            f"{rows} training rows",
            *models,
            f"T = {' or '.join(str(epochs) for epochs in sorted(runs['epochs'].unique()))} epochs",
            *(
                [f"{' or '.join(str(n) for n in sorted(searches))} configurations per search"]
                if len(searches)
                else []
            ),
        ]
    )


def _rows(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows as dicts."""
    for row in table.to_dict("records"):
        yield {str(key): value for key, value in row.items()}
