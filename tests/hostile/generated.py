"""Every key of the schema: a value beyond its bounds, one of another type, a neighbour unknown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hostile.case import Case

SCHEMA = json.loads((Path(__file__).parents[2] / "config/schema.json").read_text())

OWN = {
    "tabular": {"kind": "tabular", "path": "mine.csv", "target": "y"},
    "text": {"kind": "text", "path": "mine.csv", "text": "x", "target": "y"},
    "image": {"kind": "image", "path": "mine.npz"},
}

ALIKE = ("protocol.text", "protocol.image")
"""Sections whose keys are those of another: one of them does for all."""

Key = tuple[str, ...]

ODD = {
    ("parts",): '...own.yaml: parts: "none" is not valid; valid: a list of files',
    ("parts", "0"): '...own.yaml: parts: [{"none": 1}] is not valid; valid: a list of files',
    ("protocol", "tabular", "model"): "own.yaml: protocol.tabular.model.factory: missing",
}
"""Keys that are looked at before the schema, or whose other type is a section as well."""


def keys(
    schema: Mapping[str, Any] = SCHEMA, at: Key = ()
) -> Iterator[tuple[Key, Mapping[str, Any]]]:
    """Yield the path of every key that has a name in the schema, and what the schema says of it."""
    for name, said in schema["properties"].items():
        path, own = (*at, name), _plain(said)
        if ".".join(path) in ALIKE:
            continue
        yield path, own
        if "properties" in own:
            yield from keys(own, path)
        elif path == ("own_datasets",):
            for kind in OWN:
                yield from keys(SCHEMA["$defs"][f"Own{kind.title()}"], (*path, kind))


def cases() -> Iterator[Case]:
    """Yield what is wrong with each key of the schema, one thing at a time."""
    yield _unknown((), SCHEMA)
    for kind in OWN:
        yield _unknown(("own_datasets", kind), SCHEMA["$defs"][f"Own{kind.title()}"])
    for path, said in keys():
        if path[-1] == "kind":  # decides which keys are known
            continue
        if "properties" in said:
            yield _unknown(path, said)
        is_many = said.get("type") in ("object", "array")
        yield _wrong(path, "none" if is_many else {"none": 1})
        if "items" in said:
            yield _wrong((*path, "0"), {"none": 1})
        for value in _beyond(said):
            yield _wrong(path, value)


def _plain(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the schema says of a value, with references followed and null left out."""
    if "$ref" in said:
        return SCHEMA["$defs"][said["$ref"].rpartition("/")[2]]
    some = [one for one in said.get("anyOf", []) if one.get("type") != "null"]
    return _plain(some[0]) if some else said


def _beyond(said: Mapping[str, Any]) -> Iterator[float]:
    """Yield numbers just out of bounds, and one between those that are whole."""
    if said.get("type") == "integer":
        yield 1.5
    if "minimum" in said:
        yield said["minimum"] - 1
    if "maximum" in said:
        yield said["maximum"] + 1
    for bound in ("exclusiveMinimum", "exclusiveMaximum"):
        if bound in said:
            yield said[bound]


def _unknown(path: Key, said: Mapping[str, Any]) -> Case:
    key = (*path, "no_such_key")
    line = f"own.yaml: {_dotted(key)}: unknown key; valid: {next(iter(said['properties']))}"
    return Case("plan", line, _nested(key, 1))


def _wrong(path: Key, value: Any) -> Case:
    line = f"own.yaml: {_dotted(path)}: {json.dumps(value)} is not valid; valid: "
    line = ODD.get(path, line)
    return Case("plan", line, _nested(path, value))


def _dotted(path: Key) -> str:
    return ".".join(_named(path))


def _named(path: Key) -> Key:
    """Return a path with the name of a data set in place of its kind."""
    return (path[0], "mine", *path[2:]) if path[:1] == ("own_datasets",) and path[1:] else path


def _nested(path: Key, value: Any) -> dict[str, Any]:
    """Return the configuration that has `value` at `path`."""
    config: Any = value
    for name in reversed(_named(path)):
        config = [config] if name == "0" else {name: config}
    if path[:1] == ("own_datasets",) and path[2:]:
        config["own_datasets"]["mine"] = {**OWN[path[1]], **config["own_datasets"]["mine"]}
    return config
