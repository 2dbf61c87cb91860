"""The tables of keys in docs/configuration.md: what each is, what is valid, and its default."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from automata.config.experiment import json_schema
from automata.config.protocol import Protocol
from automata.config.reading import Config, read
from automata.config.refusals import Schema, plain, valid_values
from automata.config.spaces import TRAINING, VALUES, valid_words
from automata.files import write_text
from automata.registry import MODELS

_TABLE = re.compile(r"(<!-- keys: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""A table, between the line that says which keys it has and the one that ends it."""

Row = tuple[str, ...]


def write_tables(page: Path, shipped: Path) -> None:
    """Fill the tables of the text at `page`; what a file at `shipped` says is the default."""
    write_text(page, with_tables(page.read_text(encoding="utf-8"), read(shipped)))


def with_tables(text: str, shipped: Config) -> str:
    """Return `text` with its tables filled."""
    schema = json_schema()

    def filled(found: re.Match[str]) -> str:
        rows = "\n".join(f"| {' | '.join(row)} |" for row in _table(found[2], schema, shipped))
        return f"{found[1]}\n{rows}\n\n{found[3]}"

    return _TABLE.sub(filled, text)


def _table(names: str, schema: Schema, shipped: Config) -> Iterator[Row]:
    """Yield the rows of a table, its head first; of several sections, one after the other."""
    definitions, properties = schema["$defs"], schema["properties"]
    if names == "hyper-parameters":
        yield from _head("hyper-parameter", "of", "valid")
        yield from _hyperparameters()
    elif names == "Domain":
        yield from _head("key", "what")
        yield from (row[:2] for row in _keys(definitions[names], schema, {}, ""))
    else:
        yield from _head("key", "what", "valid", "default")
        if names in definitions:
            yield from _keys(definitions[names], schema, {}, "")
            return
        top = {k: it for k, it in properties.items() if "properties" not in plain(it, schema)}
        for name in names.split(","):
            chosen = top if name == "grid" else {name: properties[name]}
            yield from _keys({"properties": chosen}, schema, shipped, "")


def _head(*names: str) -> Iterator[Row]:
    yield names
    yield ("---",) * len(names)


def _keys(section: Schema, schema: Schema, shipped: Config, at: str) -> Iterator[Row]:
    """Yield a row for each key of a section, and of the sections in it."""
    for name, said in section["properties"].items():
        inner = plain(said, schema)
        if "properties" in inner:
            yield from _keys(inner, schema, shipped.get(name, {}), f"{at}{name}.")
        else:
            default = shipped[name] if name in shipped else said.get("default", ...)
            yield f"`{at}{name}`", said["description"], _valid(inner), _shown(default)


def _hyperparameters() -> Iterator[Row]:
    """Yield a row for each hyper-parameter that only a search space may have."""
    for name in VALUES:
        if name in Protocol.model_fields:
            continue
        needed = [f"`{model}`" for model, it in MODELS.items() if name in it.hyperparameters]
        optional = [f"`{model}`" for model, it in MODELS.items() if name in it.optional]
        of = [*needed, *(f"{model} (may have it)" for model in optional)]
        yield (
            f"`{name}`",
            "every model" if name in TRAINING else ", ".join(of),
            _cell(valid_words(name)),
        )


def _valid(said: Schema) -> str:
    """Return what is valid, for a list what is in it."""
    if said.get("type") == "array" and "items" in said:
        return f"a list: {_valid(said['items'])}"
    if "pattern" in said:
        return f"`{_cell(said['pattern'])}`"
    if said.get("type") == "string" and not {"enum", "minLength"} & said.keys():
        return "a text"
    return _cell(valid_values(said))


def _shown(value: Any) -> str:
    """Return a default as YAML has it; none for a key that must be there."""
    if value is ...:
        return ""
    return f"`{_cell(value if isinstance(value, str) else json.dumps(value))}`"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
