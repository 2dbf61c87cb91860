"""The page: tables and figures in, one HTML file out that needs nothing else."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from automata import names
from automata.analysis import study, wording
from automata.analysis.study import Study
from automata.analysis.tables import brief, read_csv
from automata.files import write_text
from automata.names import ALL_DATA
from automata.page import claims, figures, panels, rows
from automata.page.spec import library, look
from automata.page.summary import summary

TABLES = {
    "overview.md": "what the runs say in short, over both searches",
    "tradeoff.csv": "one row per combination, over its seeds: the numbers of the panels",
    "ratios.csv": "one row per run, compared with the FULL run of its seed",
    "runs.csv": "one row per record: times, energy, accuracy, configuration, machine",
    "untuned.csv": "what one configuration drawn at random reaches",
    "differences.csv": "where the protocol differs from the paper's",
    "claims.csv": "the paper's claims and our verdicts",
    "energy.csv": "energy and CO2 per run",
    "best.csv": "the best configuration of each run",
    "influence.csv": "Kendall's tau of hyper-parameters with scores, by rung and subset size",
    "fronts.csv": "Pareto fronts and hypervolumes, by panel",
    "rank-agreement.csv": "Kendall's tau with FULL, by rung and subset size",
    "resampling.csv": "paired differences between selectors",
    "comparisons.csv": "tests over data sets, where their number allows any",
    "protocols.json": "the settings behind each run",
}
"""What the page names of the folder of tables."""


def write_page(tables: Path, figures: Path, title: str, output: Path) -> None:
    """Write the page of the experiment with these folders; links to tables are relative."""
    write_text(output, page(tables, figures, title, output.parent))


def page(tables_folder: Path, figures_folder: Path, title: str, place: Path) -> str:
    """Return the page that will lie in `place`: the same text for the same files."""
    tables = Study(tables_folder)
    runs = tables.runs
    data = panels.data_sets(tables, _optional(tables_folder / "untuned.csv"))
    found = _optional(tables_folder / "claims.csv")
    context: dict[str, Any] = {
        "title": title,
        "summary": summary(runs, tables.ratios, _differences(tables)),
        "claims": None if found is None else claims.claims(found),
        "datasets": data,
        "rows": {group.name: rows.rows(tables.tradeoff, group.name) for group in data},
        "headings": rows.headings(),
        "legend": [
            {"name": name, "title": names.selector(name), **look(name)}
            for name in study.selectors(tables.tradeoff)
        ],
        "whole": ALL_DATA,
        "fractions": [
            (value, wording.percent(value)) for value in study.fractions(tables.tradeoff)
        ],
        "figures": figures.figures(figures_folder, study.datasets(runs)),
        "albums": figures.albums(figures_folder, study.datasets(runs)),
        "files": _files(tables_folder, place),
        "data": panels.script_data(data, tables.tradeoff),
        "css": _asset("page.css"),
        "script": _asset("page.js"),
        "library": Markup(library()),
    }
    return _environment().get_template("template.html.j2").render(context)


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"count": wording.count, "tally": claims.tally, "brief": brief}
    # A NaN would end as a script that no browser can read.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def _optional(path: Path) -> pd.DataFrame | None:
    return read_csv(path) if path.is_file() else None


def _differences(tables: Study) -> pd.DataFrame | None:
    return tables.differences if (tables.folder / "differences.csv").is_file() else None


def _files(folder: Path, place: Path) -> list[tuple[str, str]]:
    """Return the tables that exist, as seen from `place`, with what they are."""
    relative = Path(os.path.relpath(folder, place))
    return [
        ((relative / name).as_posix(), text)
        for name, text in TABLES.items()
        if (folder / name).is_file()
    ]


def _asset(name: str) -> Markup:
    """Return a file of this package that goes into the page as it is."""
    return Markup(_text(name))


def _text(name: str) -> str:
    return files("automata.page").joinpath(name).read_text(encoding="utf-8")
