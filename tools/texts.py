"""`python tools/texts.py`: write the texts that quote the code or published results.

These are the JSON schema of the configuration (config/schema.json), the tables of its keys
(docs/configuration.md), the lists of tools/catalogues.py, and the tables and figures of
docs/results.md and docs/learning-curves.md.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from automata.analysis.published import figures, with_tables
from automata.analysis.tables import markdown
from automata.config.experiment import Experiment
from automata.config.reading import Config, read
from automata.config.refusals import Schema, plain, valid_values

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # called as a file

from tools.catalogues import PAGES, with_rows  # noqa: E402

DIALECT = "https://json-schema.org/draft/2020-12/schema"

KEYS = re.compile(r"(<!-- keys: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""A table of keys, from the line that names its sections to its end."""

Row = tuple[str, ...]


def main() -> None:
    """Write all of them."""
    schema = json.dumps(json_schema(), indent=2) + "\n"
    (ROOT / "config/schema.json").write_text(schema, encoding="utf-8")
    page = ROOT / "docs/configuration.md"
    text = with_keys(page.read_text(encoding="utf-8"), read(ROOT / "config/config.yaml"))
    page.write_text(text, encoding="utf-8")
    for name in PAGES:
        page = ROOT / name
        page.write_text(with_rows(page.read_text(encoding="utf-8")), encoding="utf-8")
    published = ROOT / "results/reference"
    for name in ("results", "learning-curves"):
        page = ROOT / f"docs/{name}.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(with_tables(text, published), encoding="utf-8")
        for shown, source in figures(text).items():
            (page.parent / shown).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(published / source, page.parent / shown)


def json_schema() -> Schema:
    """Return the JSON schema of configuration files."""
    return {"$schema": DIALECT, **Experiment.model_json_schema()}


def with_keys(text: str, defaults: Config) -> str:
    """Return `text` with its tables of keys; `defaults` is the content of config.yaml."""
    schema = json_schema()
    known: set[Row] = set()

    def filled(match: re.Match[str]) -> str:
        rows = [row for name in match[2].split(",") for row in _section(name, schema, defaults)]
        new = [row for row in rows if row not in known]  # kinds of own data share keys
        known.update(new)
        table = pd.DataFrame(new, columns=["key", "meaning", "valid", "default"])
        return f"{match[1]}\n{markdown(table)}\n{match[3]}"

    return KEYS.sub(filled, text)


def _section(name: str, schema: Schema, defaults: Config) -> Iterator[Row]:
    """Yield the rows of a top-level section, of a definition, or of all keys in no section."""
    keys = schema["properties"]
    if name == "grid":
        top = {name: key for name, key in keys.items() if "properties" not in plain(key, schema)}
        yield from _rows(top, schema, defaults)
    elif name in keys:
        yield from _rows({name: keys[name]}, schema, defaults)
    else:
        yield from _rows(schema["$defs"][name]["properties"], schema, {})


def _rows(keys: Schema, schema: Schema, defaults: Config, section: str = "") -> Iterator[Row]:
    for name, key in keys.items():
        inner = plain(key, schema)
        if "properties" in inner:
            inside = defaults.get(name, {})
            yield from _rows(inner["properties"], schema, inside, f"{section}{name}.")
        else:
            meaning = " ".join(key["description"].split())
            valid = re.sub(r"\^.*\$", r"`\g<0>`", valid_values(inner))
            default = defaults.get(name, key.get("default", ...))
            shown = default if isinstance(default, str) else json.dumps(default, default=str)
            yield f"`{section}{name}`", meaning, valid, "" if default is ... else f"`{shown}`"


if __name__ == "__main__":
    main()
