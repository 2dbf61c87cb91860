"""Base class and types of the configuration."""

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
)
from pydantic_core import core_schema

T = TypeVar("T")

_SHOWN = 100
"""Maximum number of characters of a value in a message."""


class Section(BaseModel):
    """A section of the configuration. It refuses unknown keys, NaN and infinity.

    The docstring below a key is its description in the schema and in the documentation.
    """

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
    shares = sorted(rungs)
    counts = [rungs[share] for share in shares]
    falling = all(more > fewer for more, fewer in pairwise(counts))
    if not shares or shares[0] <= 0 or shares[-1] > 1 or not falling:
        raise BadKeyError([], invalid(rungs, "shares of T, > 0 and <= 1, with falling counts"))
    return dict(zip(shares, counts, strict=True))


WHOLE = BeforeValidator(_whole)
"""Turns whole floats into integers, because 1e3 is a float in YAML."""

# In JSON schemas pydantic leaves out bounds that come after WHOLE.
Integer = Annotated[int, WHOLE]
NonNegative = Annotated[int, Field(ge=0), WHOLE]
Count = Annotated[int, Field(gt=0), WHOLE]
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

    A dump omits the key at `default`, which means the earlier behaviour. So the new key changes
    no path of a run, no parameter of a job, and no fingerprint.
    """
    return Field(exclude_if=lambda value: value == default)
