"""What pydantic finds wrong, in the words of a user."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from automata.config.base import BadKeyError

_SHOWN = 100
"""Characters of a value that a line has, at most."""

_KEY = "[key]"
"""What pydantic puts behind a key whose name is wrong."""

Schema = dict[str, Any]
"""A JSON schema, or a part of one."""


def first_refusal(error: ValidationError, model: type[BaseModel]) -> tuple[list[str], str]:
    """Return path and problem of the first key that is wrong, with the valid values.

    Of alternatives, the one that was understood best counts: its problem lies deepest.
    """
    schema, errors = model.model_json_schema(), error.errors()
    found = [_refusal(one, schema) for one in errors]
    first = found[0][0]
    if errors[0]["loc"][-1:] == (_KEY,):
        return found[0]
    return max((one for one in found if one[0][: len(first)] == first), key=lambda one: len(one[0]))


def valid_values(said: Schema) -> str:
    """Say in words what a schema allows."""
    if "enum" in said or "const" in said:
        return ", ".join(map(str, said.get("enum", [said.get("const")])))
    if "anyOf" in said:
        return " or ".join(dict.fromkeys(valid_values(one) for one in said["anyOf"]))
    if "$ref" in said:
        return "a section of keys"
    if "pattern" in said:
        return f"a text that matches {said['pattern']}"
    if "prefixItems" in said:
        return f"a list of {said['maxItems']} values"
    if said.get("type") == "array":
        least = " with at least one value" if said.get("minItems") else ""
        return f"a list{least}" + ", none twice" * ("uniqueItems" in said)
    if said.get("minLength") == 1:
        return "a text that is not empty"
    bounds = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
    limits = [f"{sign} {said[key]}" for key, sign in bounds.items() if key in said]
    kind = said.get("type", "object").replace("object", "a section of keys")
    return f"{kind} {' and '.join(limits)}".strip()


def _refusal(error: Any, schema: Schema) -> tuple[list[str], str]:
    path, around, said = _place(error["loc"], schema)
    kind, value = error["type"], error["input"]
    if kind == "missing" and "prefixItems" in around:  # of a list that is too short
        path, kind, said = path[:-1], "too_short", around
    if kind == "missing":
        return path, "missing"
    if kind == "union_tag_not_found":
        return [*path, said["discriminator"]["propertyName"]], "missing"
    if kind == "union_tag_invalid":
        key, tags = said["discriminator"]["propertyName"], said["discriminator"]["mapping"]
        places = [one["$ref"] for one in said["oneOf"]]
        valid = sorted(tags, key=lambda tag: places.index(tags[tag]))
        return _invalid([*path, key], value[key], {"enum": valid})
    if kind == "extra_forbidden":
        return path, f"unknown key; valid: {', '.join(around['properties'])}"
    if kind == "value_error":
        found = error["ctx"]["error"]
        if isinstance(found, BadKeyError):
            return [*path, *found.path], str(found)
    return _invalid(path, value, said)


def _invalid(path: list[str], value: object, said: Schema) -> tuple[list[str], str]:
    shown = json.dumps(value)
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}... ({len(shown)} characters)"
    return path, f"{shown} is not valid; valid: {valid_values(said)}"


def _place(loc: Iterable[int | str], schema: Schema) -> tuple[list[str], Schema, Schema]:
    """Return the path of a key, what the schema says of what it is in, and what of itself.

    What pydantic puts between keys, for the alternative of a value, is no part of the path.
    """
    path: list[str] = []
    around = said = schema
    for part in loc:
        inner = plain(said, schema)
        if part == _KEY:
            path, said = path[:-1], _of_keys(around)
        elif "discriminator" in inner:
            said = {"$ref": inner["discriminator"]["mapping"][part]}
        elif "anyOf" in inner:
            chosen = [one for one in inner["anyOf"] if one.get("$ref", "").endswith(f"/{part}")]
            said = chosen[0] if chosen else inner
        else:
            path.append(str(part))
            around, said = inner, _inside(inner, part)
    return path, around, said


def _inside(said: Schema, part: int | str) -> Schema:
    """Return what a schema says of a key, or of a place in a list."""
    if isinstance(part, int):
        found = said["prefixItems"][part] if "prefixItems" in said else said.get("items")
    else:
        others = [said.get("additionalProperties"), *said.get("patternProperties", {}).values()]
        found = said.get("properties", {}).get(part) or next(filter(None, others), None)
    return found if isinstance(found, dict) else {}


def _of_keys(said: Schema) -> Schema:
    """Return what a schema says of the names of keys."""
    patterns = [{"type": "string", "pattern": one} for one in said.get("patternProperties", {})]
    return next(iter([said["propertyNames"]] if "propertyNames" in said else patterns), {})


def plain(said: Schema, schema: Schema) -> Schema:
    """Return what is said of a value, with references followed and null left out."""
    if "$ref" in said:
        followed: Schema = schema["$defs"][said["$ref"].rpartition("/")[2]]
        return followed
    some = [one for one in said.get("anyOf", []) if one.get("type") != "null"]
    return plain(some[0], schema) if len(some) == 1 else said
