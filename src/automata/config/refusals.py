"""Translates pydantic's errors into one line for the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from automata.config.base import BadKeyError, invalid
from automata.errors import UserError

M = TypeVar("M", bound=BaseModel)
Schema = dict[str, Any]
"""A JSON schema, or a part of one."""

_KEY = "[key]"
"""pydantic's mark in a location: the name of the key is wrong, not its value."""


def parsed(model: type[M], content: str | dict[str, Any]) -> M:
    """Parse JSON or a section as a `model`; raises UserError, in one line."""
    try:
        if isinstance(content, str):
            return model.model_validate_json(content)
        return model.model_validate(content)
    except ValidationError as error:
        path, problem = first_refusal(error, model)
        raise UserError(f"{'.'.join(path) or model.__name__}: {problem}") from error


def first_refusal(error: ValidationError, model: type[BaseModel]) -> tuple[list[str], str]:
    """Return the path of the first wrong key, and the message about it.

    If a value may have several types, pydantic reports an error for each. The deepest error
    belongs to the type that fits best.
    """
    root = model.model_json_schema()
    refusals = [_refusal(one, root) for one in error.errors()]
    first, _ = refusals[0]
    alternatives = [one for one in refusals if one[0][: len(first)] == first]
    return max(alternatives, key=lambda one: len(one[0]))


def valid_values(schema: Schema) -> str:
    """Describe the values that a schema allows."""
    if "enum" in schema or "const" in schema:
        return ", ".join(map(str, schema.get("enum", [schema.get("const")])))
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(valid_values(one) for one in schema["anyOf"]))
    if "$ref" in schema:
        return "a section of keys"
    if "pattern" in schema:
        return f"a text that matches {schema['pattern']}"
    if "prefixItems" in schema:
        return f"a list of {schema['maxItems']} values"
    if schema.get("type") == "array":
        least = " with at least one value" * ("minItems" in schema)
        repeats = ", none twice" * ("uniqueItems" in schema)
        return f"a list{least}{repeats}: {valid_values(schema['items'])}"
    if schema.get("type") == "string":
        return "a text that is not empty" if schema.get("minLength") else "a text"
    bounds = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
    limits = [f"{sign} {schema[key]}" for key, sign in bounds.items() if key in schema]
    kind = schema.get("type", "object").replace("object", "a section of keys")
    return f"{kind} {' and '.join(limits)}".strip()


def plain(schema: Schema, root: Schema) -> Schema:
    """Return the schema of a value without references and without null."""
    if "$ref" in schema:
        definition: Schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
        return definition
    others = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    return plain(others[0], root) if len(others) == 1 else schema


def _refusal(error: Any, root: Schema) -> tuple[list[str], str]:
    """Return the path of the key of an error, and the message about it."""
    path, section, schema = _place(error["loc"], root)
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing" and "prefixItems" in section:  # the list is too short
        return path[:-1], invalid(error["input"], valid_values(section))
    if kind.startswith("union_tag"):
        path = [*path, context["discriminator"].strip("'")]
    if kind in ("missing", "union_tag_not_found"):
        return path, "missing"
    if kind == "union_tag_invalid":
        return path, invalid(context["tag"], context["expected_tags"].replace("'", ""))
    if kind == "extra_forbidden":
        return path, f"unknown key; valid: {', '.join(section['properties'])}"
    cause = context.get("error")
    if isinstance(cause, BadKeyError):
        return [*path, *cause.path], str(cause)
    return path, invalid(error["input"], valid_values(schema))


def _place(loc: Iterable[int | str], root: Schema) -> tuple[list[str], Schema, Schema]:
    """Return the path of a key, the schema of its section, and its own schema.

    pydantic's location `loc` also has the types of alternatives; the path does not.
    """
    path: list[str] = []
    section = schema = root
    for part in loc:
        inner = plain(schema, root)
        if part == _KEY:
            path = path[:-1]
            patterns = [{"pattern": one} for one in section.get("patternProperties", {})]
            schema = section.get("propertyNames") or patterns[0]
        elif "discriminator" in inner:
            schema = {"$ref": inner["discriminator"]["mapping"][part]}
        elif "anyOf" in inner:
            named = [one for one in inner["anyOf"] if one.get("$ref", "").endswith(f"/{part}")]
            schema = named[0] if named else inner
        else:
            path.append(str(part))
            section, schema = inner, _schema_inside(inner, part)
    return path, section, schema


def _schema_inside(schema: Schema, part: int | str) -> Schema:
    """Return the schema of a key, or of a position in a list; empty for an unknown key."""
    if isinstance(part, int):
        found = schema["prefixItems"][part] if "prefixItems" in schema else schema.get("items")
    else:
        others = [schema.get("additionalProperties"), *schema.get("patternProperties", {}).values()]
        found = schema.get("properties", {}).get(part) or next(filter(None, others), None)
    return found if isinstance(found, dict) else {}
