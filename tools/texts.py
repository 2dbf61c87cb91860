"""`python -m tools.texts`: write the texts that quote the code or published results.

These are the JSON schema of the configuration (config/schema.json), tables of its keys, lists of
methods, tables, figures and columns, and the published tables and figures. In a page of docs/, a
comment `keys: SECTION`, `rows: LIST` or `table: EXPERIMENT NAME` opens a generated table.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import pandas as pd

from automata.analysis import runs
from automata.analysis.quantities import QUANTITIES
from automata.analysis.views import DATASETS, FIGURES, TABLES
from automata.config.base import Schema, plain, valid_values
from automata.config.experiment import Experiment
from automata.config.files import Config, read
from automata.metrics import METRICS
from automata.registry import METHODS, SCHEDULERS, SEARCHES, Method
from tools.published import figures, filled, with_tables

ROOT = Path(__file__).parents[1]
PAGES = [
    f"docs/{name}.md" for name in ("configuration", "quantities", "results", "learning-curves")
]
Row = dict[str, str]
Rows = Iterable[Row]


def main() -> None:
    """Write all of them."""
    schema = json.dumps(json_schema(), indent=2) + "\n"
    (ROOT / "config/schema.json").write_text(schema, encoding="utf-8")
    defaults, published = read(ROOT / "config/config.yaml"), ROOT / "results/reference"
    for page in (ROOT / name for name in PAGES):
        text = with_rows(with_keys(page.read_text(encoding="utf-8"), defaults))
        page.write_text(with_tables(text, published), encoding="utf-8")
        for shown, source in figures(text).items():
            (page.parent / shown).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(published / source, page.parent / shown)


def json_schema() -> Schema:
    """Return the JSON schema of configuration files, each of which may have a part of the keys."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": dialect, **Experiment.model_json_schema()}
    for section in (schema, *schema["$defs"].values()):
        section.pop("required", None)
        if space := section.get("properties", {}).get("search_space"):
            space["additionalProperties"] = {
                "anyOf": [space["additionalProperties"], {"type": "null"}]
            }
    return schema


def with_rows(text: str) -> str:
    """Return `text` with its lists filled."""
    return filled(text, "rows", lambda name: pd.DataFrame(CATALOGUES[name]()))


def with_keys(text: str, defaults: Config) -> str:
    """Return `text` with its tables of keys; `defaults` is the content of config.yaml."""
    schema = json_schema()
    known: list[Row] = []

    def table(names: str) -> pd.DataFrame:
        rows = [row for name in names.split(",") for row in _section(name, schema, defaults)]
        new = [row for row in rows if row not in known]  # kinds of own data share keys
        known.extend(new)
        return pd.DataFrame(new)

    return filled(text, "keys", table)


def _methods(head: str, text: str, registry: Mapping[str, Method]) -> Rows:
    for name, method in registry.items():
        yield {head: f"`{name}`", "in figures and tables": method.display, text: method.meaning}


def _runs() -> Rows:
    """Yield each attribute of `RunRow` with the text below it."""
    tree = ast.walk(ast.parse(inspect.getsource(runs.RunRow)))
    for column, meaning in pairwise(next(it.body for it in tree if isinstance(it, ast.ClassDef))):
        if isinstance(column, ast.AnnAssign) and isinstance(meaning, ast.Expr):
            text = " ".join(ast.literal_eval(meaning.value).split())
            yield {"column": f"`{ast.unparse(column.target)}`", "what": text}


CATALOGUES: dict[str, Callable[[], Rows]] = {
    "selectors": lambda: _methods("selector or control", "what trials train on", METHODS),
    "searches": lambda: _methods("search", "what it proposes", SEARCHES),
    "schedulers": lambda: _methods("scheduler", "which trials it stops early", SCHEDULERS),
    "metrics": lambda: [
        {
            "metric": f"`{name}`",
            "what": it.meaning,
            "recorded": "always" if it.always else "if tuned",
        }
        for name, it in METRICS.items()
    ],
    "tables": lambda: [
        {"path": f"`tables/{table.name}`", "what": table.text} for table in TABLES.values()
    ],
    "figures": lambda: [
        {
            "path": f"`figures/{view.name}{'/{dataset}' if view.group == DATASETS else ''}`",
            "what": view.caption.split(". ")[0].removesuffix("."),
        }
        for view in FIGURES.values()
    ],
    "runs": _runs,
    "quantities": lambda: [
        {"column": f"`{it.name}`", "what": it.definition.removesuffix(".")}
        for it in QUANTITIES.values()
    ],
}
"""The lists, by name."""


def _section(name: str, schema: Schema, defaults: Config) -> Rows:
    """Yield the rows of a top-level section, of a definition, or of all keys in no section."""
    keys = schema["properties"]
    if name == "grid":
        top = {name: key for name, key in keys.items() if "properties" not in plain(key, schema)}
        yield from _keys(top, schema, defaults)
    elif name in keys:
        yield from _keys({name: keys[name]}, schema, defaults)
    else:
        yield from _keys(schema["$defs"][name]["properties"], schema, {})


def _keys(keys: Schema, schema: Schema, defaults: Config, section: str = "") -> Rows:
    for name, key in keys.items():
        inner = plain(key, schema)
        if "properties" in inner:
            inside = defaults.get(name, {})
            yield from _keys(inner["properties"], schema, inside, f"{section}{name}.")
        else:
            default = defaults.get(name, key.get("default", ...))
            shown = default if isinstance(default, str) else json.dumps(default, default=str)
            yield {
                "key": f"`{section}{name}`",
                "meaning": " ".join(key["description"].split()),
                "valid": re.sub(r"\^.*\$", r"`\g<0>`", valid_values(inner)),
                "default": "" if default is ... else f"`{shown}`",
            }


if __name__ == "__main__":
    main()
