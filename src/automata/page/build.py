"""The page: one HTML file, made from tables and figures, that needs no other file."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import vl_convert
import yaml
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from automata import names
from automata.analysis import wording
from automata.analysis.answer import answer, cells, sentences
from automata.analysis.how_good import value
from automata.analysis.overview import for_readers
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Study, datasets, panels
from automata.analysis.tables import read_texts
from automata.analysis.views import CLAIMS, TABLES, figures, view_of
from automata.config.files import prediction_command
from automata.files import write_text
from automata.metrics import METRICS
from automata.page.findings import NEAR_FULL
from automata.page.panels import HEADINGS, data_set
from automata.page.summary import summary
from automata.records.paths import MODEL

ABOUT_PAPER = (*CLAIMS, "differences.csv")
"""Tables that the page of own data leaves out."""

HEADS = {"dataset": "Data set", "scheduler": "Scheduler", "seeds": "Seeds"}
"""Headings of the answer's table that are not quantities."""

UNIT = re.compile(r"(?<=\d) (?=[%\N{MULTIPLICATION SIGN}]|(pp|s|min|h|m?Wh|kWh|[mk]?g)\b)")
"""The space between a number and its unit, where lines must not break."""


def write_page(experiment: Path, call: str) -> None:
    """Write the page of the experiment in a folder, with relative links to its tables.

    `call` is the command that makes the runs again.
    """
    write_text(experiment / "index.html", page(experiment, call))


def page(experiment: Path, call: str) -> str:
    """Return the page, always the same text for the same files."""
    study = Study(experiment / "tables")
    data = [data_set(name, study, call) for name in datasets(study.runs)]
    best = yaml.safe_load((experiment / "best.yaml").read_text(encoding="utf-8"))["best"]
    worth = {names.dataset(name): entry.get("how_good") for name, entry in best.items()}
    paper = bool(set(study.runs["dataset"]) & set(names.DATASETS))
    claims = study.folder / "claims.csv"
    left_out = () if paper else ABOUT_PAPER
    tables = [table for table in TABLES.values() if table.published and table.name not in left_out]
    charted = [group for group in data if group["chart"]]
    context: dict[str, Any] = {
        "title": experiment.name,
        "paper": paper,
        "summary": summary(study.runs, study.ratios, study.differences),
        "claims": read_texts(claims).to_dict("records") if paper and _rows(claims) else [],
        "datasets": data,
        "has": {name: name in set(study.runs["selector"]) for name in ("full", "untuned")},
        "ratios": list(dict.fromkeys(QUANTITIES[group["across"]].words for group in charted)),
        "how_good": worth,
        "predicting": _predicting(best, experiment.resolve().parents[1]),
        "value": value,
        "all_metrics": METRICS,
        "own_data": _own_data(study),
        "answer": _answer(study) if paper else {},
        "repeat": names.REPEAT,
        "near_full": wording.number(NEAR_FULL),
        "headings": HEADINGS,
        "quantities": QUANTITIES,
        "figures": list(_figures(study, experiment / "figures")),
        "tables": [table for table in tables if _rows(study.folder / table.name)],
        "charts": {group["anchor"]: group["chart"] for group in charted},
        "css": Markup(_text("page.css")),
        # The whole library, because the page loads nothing.
        "library": Markup(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")),
    }
    return _environment().get_template("template.html.j2").render(context)


def _answer(study: Study) -> dict[str, Any]:
    """Return the answer at the top of the page; nothing if no run used subsets."""
    values = answer(study.ratios)
    if values.empty:
        return {}
    table = for_readers(cells(values))
    heads = [HEADS.get(str(head), head) for head in table]
    rows = table.to_numpy().tolist()
    return {"sentences": list(sentences(values)), "heads": heads, "rows": rows}


def _predicting(best: Mapping[str, Any], root: Path) -> dict[str, str]:
    """Return data set -> command that predicts with its best model, where the model was kept.

    Paths of records are relative to `root`.
    """
    folders = {name: Path(entry["record"]).parent for name, entry in best.items()}
    return {
        names.dataset(name): prediction_command(folder)
        for name, folder in folders.items()
        if (root / folder / MODEL).is_file()
    }


def _own_data(study: Study) -> dict[str, list[str]]:
    """Return own data set -> lines about how it was read."""
    first = study.runs.drop_duplicates("dataset").set_index("dataset")["protocol_hash"]
    read = {name: study.protocols[key].get("read") for name, key in first.items()}
    return {names.dataset(str(name)): lines for name, lines in read.items() if lines}


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        finalize=_unbroken,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = wording.count
    # Browsers refuse NaN in JSON.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def _unbroken(value: object) -> object:
    """Return a text with no-break spaces before units; other values are unchanged."""
    return UNIT.sub("\N{NO-BREAK SPACE}", value) if type(value) is str else value


def _rows(table: Path) -> bool:
    """Return whether a table exists and has more than a heading."""
    return table.is_file() and len(table.read_text(encoding="utf-8").splitlines()) > 1


def _figures(study: Study, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the figures of the page that show some runs, as data URIs."""
    runs = study.runs
    for name in figures({panel: set(panel.rows(runs)["selector"]) for panel in panels(runs)}):
        path, view, dataset = folder / f"{name}.png", view_of(name), name.partition("/")[2]
        recorded = view.own and len(study.answers)
        if (view.heading or recorded) and path.is_file():
            yield {
                "view": view,
                "dataset": names.dataset(dataset),
                "id": name.replace("/", "-"),
                "uri": f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}",
            }


def _text(name: str) -> str:
    return files("automata.page").joinpath(name).read_text(encoding="utf-8")
