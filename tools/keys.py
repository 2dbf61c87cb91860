"""The JSON schema of the configuration, and the tables of its keys in docs/configuration.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from automata.config.experiment import Experiment
from automata.config.reading import Config
from automata.config.refusals import Schema, plain, valid_values

_TABLE = re.compile(r"(<!-- keys: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""A table between its first line, which names the sections, and its last."""

Row = tuple[str, ...]


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> Schema:
    """Return the JSON schema of configuration files."""
    return {"$schema": DIALECT, **Experiment.model_json_schema()}


def with_keys(text: str, defaults: Config) -> str:
    """Return `text` with its tables filled; `defaults` is the content of config.yaml."""
    schema = json_schema()
    known: set[Row] = set()

    def filled(match: re.Match[str]) -> str:
        rows = [row for name in match[2].split(",") for row in _section(name, schema, defaults)]
        new = [row for row in rows if row not in known]  # kinds of own data share keys
        known.update(new)
        table = [("key", "meaning", "valid", "default"), ("---",) * 4, *new]
        lines = "\n".join(f"| {' | '.join(row)} |" for row in table)
        return f"{match[1]}\n{lines}\n\n{match[3]}"

    return _TABLE.sub(filled, text)


def _section(name: str, schema: Schema, defaults: Config) -> Iterator[Row]:
    """Yield the rows of a top-level section, of a definition, or of all keys in no section."""
    keys = schema["properties"]
    if name == "grid":
        top = {key: it for key, it in keys.items() if "properties" not in plain(it, schema)}
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
            default = defaults.get(name, key.get("default", ...))
            shown = default if isinstance(default, str) else json.dumps(default, default=str)
            valid = re.sub(r"\^.*\$", r"`\g<0>`", valid_values(inner)).replace("|", r"\|")
            cell = "" if default is ... else f"`{shown}`"
            yield f"`{section}{name}`", " ".join(key["description"].split()), valid, cell
