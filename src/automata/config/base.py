"""What all parts of the configuration are built from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")


class Section(BaseModel):
    """A part of the configuration; a key that it does not know is an error, and so is .nan.

    The text below a key is its description, in the schema and in the documentation.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class BadKeyError(ValueError):
    """What a validator finds wrong with a key inside of what it looks at."""

    def __init__(self, path: Iterable[object], message: str) -> None:
        super().__init__(message)
        self.path = [str(part) for part in path]


@contextmanager
def inside(*path: object) -> Iterator[None]:
    """Say of what is wrong here that it lies at `path`."""
    try:
        yield
    except BadKeyError as wrong:
        raise BadKeyError([*path, *wrong.path], str(wrong)) from wrong


def _whole(value: Any) -> Any:
    """Return a float that is a whole number as one: YAML has 1e3."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _without_repeats(values: list[T]) -> list[T]:
    if len(set(values)) != len(values):
        raise ValueError("a value is there twice")
    return values


# Bounds stand before it: behind, pydantic would leave them out of the JSON schema.
WHOLE = BeforeValidator(_whole)
Integer = Annotated[int, WHOLE]
NonNegative = Annotated[int, Field(ge=0), WHOLE]
Count = Annotated[int, Field(gt=0), WHOLE]
Text = Annotated[str, Field(min_length=1)]
Axis = Annotated[
    list[T],
    Field(min_length=1, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_without_repeats),
]
"""An axis of the grid: a list that is not empty and repeats nothing."""


def one_of(names: Iterable[str]) -> GetPydanticSchema:
    """Return the metadata of a string that must be one of `names`: a Literal of a registry."""
    return GetPydanticSchema(lambda source, handler: core_schema.literal_schema(list(names)))


def added(default: Any) -> Any:
    """Return the metadata of a key that came after the first published records.

    At its default, which means what was before, it is in no dump: paths of runs, parameters of
    jobs, hashes of protocols and prepared files stay what they were without the key.
    """
    return Field(exclude_if=lambda value: value == default)


def parsed(parse: Callable[[], M]) -> M:
    """Return what `parse` returns; its ValidationError becomes a UserError in one line."""
    try:
        return parse()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        value = json.dumps(first["input"], default=str)
        raise UserError(f"{key or error.title}: {first['msg']} (got {value})") from error
