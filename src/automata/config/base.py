"""What all parts of the configuration are built from."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema, core_schema

from automata.errors import UserError

M = TypeVar("M", bound=BaseModel)


class Section(BaseModel):
    """A part of the configuration; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Checked:
    """Metadata of a type: a check of its own, and the same in the words of JSON schema."""

    def __init__(self, check: Callable[[Any], Any], **schema: Any) -> None:
        self._check = check
        self._schema = schema

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), **self._schema}


def one_of(names: dict[str, Any]) -> Checked:
    """Return the metadata of a string that must be a key of the registry `names`."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"'{name}' is not one of {', '.join(names)}")
        return name

    return Checked(check, enum=list(names))


def axis() -> Checked:
    """Return the metadata of a grid axis: a list that is not empty and repeats nothing."""

    def check(values: list[Any]) -> list[Any]:
        if not values:
            raise ValueError("the list is empty")
        if len(set(values)) != len(values):
            raise ValueError(f"{values} has a value twice")
        return values

    return Checked(check, minItems=1, uniqueItems=True)


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
