"""The page: tables in, one HTML file out that needs nothing else."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup
from PIL import Image

from automata import names
from automata.analysis import wording
from automata.analysis.quantities import QUANTITIES, VALIDATION
from automata.analysis.study import Study, panels
from automata.analysis.tables import read_csv, read_texts
from automata.files import write_text
from automata.page.chart import library
from automata.page.findings import NEAR_FULL
from automata.page.panels import data_sets, headings
from automata.page.summary import claims, summary, tally
from automata.views import TABLES, figures, view_of


def write_page(experiment: Path) -> None:
    """Write the page of the experiment in a folder; links to tables are relative."""
    html = page(experiment / "tables", experiment / "figures", experiment.name, experiment)
    write_text(experiment / "index.html", html)


def page(tables_folder: Path, figures_folder: Path, title: str, place: Path) -> str:
    """Return the page that will lie in `place`: the same text for the same files."""
    tables = Study(tables_folder)
    runs = tables.runs
    # A data set of the user's own is in no claim and has no protocol of the paper's.
    papers = set(runs["dataset"]) & set(names.DATASETS)
    found = _optional(tables_folder / "claims.csv", read_texts) if papers else None
    differing = _optional(tables_folder / "differences.csv", read_texts) if papers else None
    data = data_sets(tables, _optional(tables_folder / "untuned.csv"))
    context: dict[str, Any] = {
        "title": title,
        "summary": summary(runs, tables.ratios, differing),
        "paper": bool(papers),
        "claims": None if found is None else claims(found),
        "datasets": data,
        "own_data": _own_data(tables),
        "near_full": wording.number(NEAR_FULL),
        "headings": headings(),
        "quantities": QUANTITIES,
        "validation": VALIDATION,
        "figures": list(_figures(runs, figures_folder)),
        "files": _files(tables_folder, place),
        "charts": {group.anchor: group.chart for group in data if group.chart},
        "css": Markup(_text("page.css")),
        "library": Markup(library()),
    }
    return _environment().get_template("template.html.j2").render(context)


def _own_data(tables: Study) -> dict[str, list[str]]:
    """Return what was read of each data set of the user's own, by its name, as sentences."""
    if not (tables.folder / "protocols.json").is_file():
        return {}
    first = tables.runs.drop_duplicates("dataset").set_index("dataset")["protocol_hash"]
    read = {name: tables.protocols.get(it, {}).get("read") for name, it in first.items()}
    return {names.dataset(str(name)): found for name, found in read.items() if found}


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"count": wording.count, "tally": tally}
    # A NaN would end as a script that no browser can read.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def _optional(path: Path, read: Any = read_csv) -> pd.DataFrame | None:
    return read(path) if path.is_file() else None


def _files(folder: Path, place: Path) -> list[tuple[str, str]]:
    """Return the tables that exist and go with the page, as seen from `place`, and their texts."""
    relative = Path(os.path.relpath(folder, place))
    return [
        ((relative / name).as_posix(), table.text)
        for name, table in TABLES.items()
        if table.published and (folder / name).is_file()
    ]


def _figures(runs: pd.DataFrame, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the figures of the page that show something of `runs`, each as a lossless data URI."""
    for name in figures({panel: set(panel.rows(runs)["selector"]) for panel in panels(runs)}):
        path, view = folder / f"{name}.png", view_of(name)
        if view.heading and path.is_file():
            file = BytesIO()
            with Image.open(path) as image:
                image.convert("RGB").save(file, "WEBP", lossless=True)
            uri = f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
            yield {"view": view, "uri": uri, "width": image.width, "height": image.height}


def _text(name: str) -> str:
    return files("automata.page").joinpath(name).read_text(encoding="utf-8")
