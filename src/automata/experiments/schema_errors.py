"""Errors of JSON schema, in the words of a user."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from jsonschema import ValidationError

from automata.experiments.settings import Config

_SHOWN = 100
"""Characters of a key or value that a line has, at most."""


def brief(text: str) -> str:
    """Return `text`, or its beginning if it is longer than anybody would read."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def dotted(path: Iterable[object]) -> str:
    """Return the path of a key in one line: a name that would break it stands in quotes."""
    names = map(brief, map(str, path))
    return ".".join(name if name.isprintable() else json.dumps(name) for name in names)


def describe(error: ValidationError) -> tuple[list[str], str]:
    """Return path and problem of a schema error, with the valid values."""
    error = _meant(error)
    path, value = [str(part) for part in error.absolute_path], error.instance
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        unknown = next(key for key in value if key not in known)
        return [*path, unknown], f"unknown key; valid: {', '.join(known)}"
    if error.validator == "required":
        return [*path, next(key for key in error.validator_value if key not in value)], "missing"
    shown = brief(json.dumps(value))
    return path, f"{shown} is not valid; valid: {valid_values(error.schema)}"


def valid_values(schema: Config) -> str:
    """Say in words what `schema` allows."""
    if "enum" in schema:
        return ", ".join(str(value) for value in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(valid_values(one) for one in schema[several]))
    if "$ref" in schema:
        return "a section of keys"
    if "pattern" in schema:
        return f"a text that matches {schema['pattern']}"
    if "maxItems" in schema:
        return f"a list of {schema['maxItems']} values"
    if schema.get("type") == "array":
        return "a list with at least one value" + ", none twice" * ("uniqueItems" in schema)
    if schema.get("minLength") == 1:
        return "a text that is not empty"
    bounds = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
    limits = [f"{sign} {schema[key]}" for key, sign in bounds.items() if key in schema]
    kind = schema.get("type", "object").replace("object", "a section of keys")
    return f"{kind} {' and '.join(limits)}".strip()


def _meant(error: ValidationError) -> ValidationError:
    """Follow an error of alternatives into the one that is meant, where that is clear."""
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        return error
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    meant = [found for found in branches.values() if not any(map(_is_other, found))]
    if len(meant) == 1:
        return _meant(meant[0][0])
    kinds = [found for found in error.context if list(found.path) == ["kind"]]
    if kinds:
        names = [found.validator_value for found in kinds if found.validator == "const"]
        kinds[0].schema = {"enum": names}
        return kinds[0]
    missing = [found for found in error.context if found.validator == "required"]
    return missing[0] if missing and "kind" not in error.instance else error


def _is_other(error: ValidationError) -> bool:
    """Say whether an alternative was not meant: another type of value, or another kind."""
    if error.validator in ("type", "enum") and not error.path:
        return True
    return error.validator == "const" or (
        error.validator == "required"
        and "kind" in error.validator_value
        and "kind" not in error.instance
    )
