"""Base class, types and error messages of the configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    ValidationError,
)
from pydantic_core import core_schema

from automata.errors import UserError

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Schema = dict[str, Any]
"""A JSON schema, or a part of one."""

_SHOWN = 100
"""Maximum number of characters of a value in a message."""


class Section(BaseModel):
    """A section: unknown keys, NaN and infinity are errors; docstrings of keys describe them."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class BadKeyError(ValueError):
    """A validator's error, with the path of the wrong key below the validated section."""

    def __init__(self, path: Iterable[object], message: str) -> None:
        super().__init__(message)
        self.path = [str(part) for part in path]


@contextmanager
def inside(*path: object) -> Iterator[None]:
    """Put `path` before the path of each BadKeyError that is raised inside."""
    try:
        yield
    except BadKeyError as error:
        raise BadKeyError([*path, *error.path], str(error)) from error


def invalid(value: object, valid: str) -> str:
    """Return the message for a value that is not valid."""
    shown = json.dumps(value, default=str)
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}... ({len(shown)} characters)"
    return f"{shown} is not valid; valid: {valid}"


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _without_repeats(values: list[T]) -> list[T]:
    if len(set(values)) != len(values):
        raise ValueError("a value is repeated")
    return values


def _checked_rungs(rungs: dict[float, int]) -> dict[float, int]:
    ordered = dict(sorted(rungs.items()))
    falling = all(more > fewer for more, fewer in pairwise(ordered.values()))
    if not rungs or min(rungs) <= 0 or max(rungs) > 1 or not falling:
        raise BadKeyError([], invalid(rungs, "shares of T, > 0 and <= 1, with falling counts"))
    return ordered


WHOLE = BeforeValidator(_whole)
"""Turns whole floats into integers, because 1e3 is a float in YAML."""

# Bounds stand before WHOLE: pydantic leaves those after it out of JSON schemas.
Integer = Annotated[int, WHOLE]
NonNegative = Annotated[int, Field(ge=0), WHOLE]
Count = Annotated[int, Field(gt=0), WHOLE]
Configurations = Annotated[int, Field(gt=0, le=10_000), WHOLE]
"""A number of configurations that can be planned in seconds."""
Share = Annotated[float, Field(gt=0, le=1)]
Text = Annotated[str, Field(min_length=1)]
Axis = Annotated[
    list[T],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_without_repeats),
]
"""An axis of the grid: a list that is not empty and has no repeats."""
Rungs = Annotated[
    dict[float, Count],
    Field(json_schema_extra={"propertyNames": {"pattern": "^[0-9]*[.]?[0-9]+$"}}),
    AfterValidator(_checked_rungs),
]
"""How many trials stay at each rung, a share of T."""


def one_of(names: Iterable[str]) -> GetPydanticSchema:
    """Return the annotation of a string that must be one of `names`, known at run time."""
    return GetPydanticSchema(lambda source, handler: core_schema.literal_schema(list(names)))


def added(default: Any) -> Any:
    """Return the annotation of a key that is newer than the first published records.

    A dump omits the key at `default`, which means the earlier behaviour: paths of runs, parameters
    of jobs and fingerprints stay the same.
    """
    return Field(exclude_if=lambda value: value == default)


def parsed(model: type[M], content: str | dict[str, Any], source: str = "") -> M:
    """Parse JSON or a section as a `model`; raises UserError: `source` and one line."""
    try:
        if isinstance(content, str):
            return model.model_validate_json(content)
        return model.model_validate(content)
    except ValidationError as error:
        path, problem = first_refusal(error, model)
        raise UserError(f"{source}{'.'.join(path) or model.__name__}: {problem}") from error


def first_refusal(error: ValidationError, model: type[BaseModel]) -> tuple[list[str], str]:
    """Return the path of the first wrong key, and the message about it.

    pydantic reports an error for each type that a value may have; the deepest fits best.
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
        return " or ".join(dict.fromkeys(map(valid_values, schema["anyOf"])))
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
        path.append(context["discriminator"].strip("'"))
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
        if part == "[key]":  # the name of the key is wrong, not its value
            path.pop()
            patterns = [{"pattern": one} for one in section.get("patternProperties", {})]
            schema = section.get("propertyNames") or patterns[0]
        elif "discriminator" in inner:
            schema = {"$ref": inner["discriminator"]["mapping"][part]}
        elif "anyOf" in inner:
            named = [one for one in inner["anyOf"] if one.get("$ref", "").endswith(f"/{part}")]
            schema = named[0] if named else inner
        else:
            path.append(str(part))
            section = inner
            keys = {**inner.get("properties", {}), **dict(enumerate(inner.get("prefixItems", [])))}
            others = inner.get("items"), inner.get("additionalProperties")
            every = keys.get(part), *others, *inner.get("patternProperties", {}).values()
            schema = next((one for one in every if isinstance(one, dict)), {})
    return path, section, schema
