"""Search spaces, named as in Ray Tune, and the valid values of each hyper-parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from automata.config.base import (
    BadKeyError,
    Count,
    Integer,
    Section,
    Share,
    added,
    inside,
    invalid,
    valid_values,
)

DRAWS = ("uniform", "loguniform", "randint", "lograndint", "choice")
"""Distributions of a hyper-parameter, named as in Ray Tune."""

Scalar = bool | int | float | str


class Domain(Section):
    """Values of one hyper-parameter; exactly one key names the distribution."""

    uniform: Annotated[tuple[float, float] | None, added(None)] = None
    """float, uniform: `[low, high]`"""
    loguniform: Annotated[tuple[PositiveFloat, PositiveFloat] | None, added(None)] = None
    """float with a uniform logarithm: `[low, high]`"""
    randint: Annotated[tuple[Integer, Integer] | None, added(None)] = None
    """integer below high, uniform: `[low, high]`"""
    lograndint: Annotated[tuple[Count, Count] | None, added(None)] = None
    """integer below high, with a uniform logarithm: `[low, high]`"""
    choice: Annotated[list[Scalar] | None, Field(min_length=1), added(None)] = None
    """list of values with equal probability"""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = ", ".join(self.model_dump())
        if given not in DRAWS:
            needed = f"needs exactly one of {', '.join(DRAWS)}, has {given or 'none'}"
            raise BadKeyError([], needed)
        draw, values = self.draw
        if draw != "choice" and values[0] >= values[1]:
            raise BadKeyError([], f"{draw}: {values[0]:g} is not below {values[1]:g}")
        if draw == "choice" and len(set(values)) < len(values):
            raise BadKeyError([], "a choice is repeated")
        return self

    @property
    def draw(self) -> tuple[str, list[Any]]:
        """The name of the distribution, and its bounds or choices."""
        ((name, values),) = self.model_dump().items()
        return name, list(values)


Optimizer = Literal["adam", "sgd"]
Momentum = Annotated[float, Field(ge=0, lt=1)]
Schedule = Literal["none", "cosine", "step"]

TRAINING: dict[str, Any] = {
    "learning_rate": PositiveFloat,
    "batch_size": PositiveInt,
    "optimizer": Optimizer,
    "momentum": Momentum,
    "nesterov": bool,
    "weight_decay": NonNegativeFloat,
    "schedule": Schedule,
    "decay_every": PositiveInt,
    "decay_factor": Share,
}
"""Hyper-parameters of every training, and the types of their values."""

VALUES: dict[str, Any] = {
    **TRAINING,
    **dict.fromkeys(("lr1", "lr2", "lr3", "lr4"), PositiveFloat),
    **dict.fromkeys(("hidden", "hidden1", "hidden2", "layers"), PositiveInt),
    "dropout": Annotated[float, Field(ge=0, lt=1)],
}
"""The same, with the hyper-parameters of the project's models."""


def size(space: Mapping[str, Domain]) -> float:
    """Return the number of configurations of a search space; infinity with a float domain."""
    count: float = 1
    for draw, values in (domain.draw for domain in space.values()):
        whole = values[-1] - values[0] if draw in ("randint", "lograndint") else math.inf
        count *= len(values) if draw == "choice" else whole
    return count


def check_values(space: Mapping[str, Domain], types: Mapping[str, Any]) -> None:
    """Raise BadKeyError if a domain has values that its hyper-parameter cannot have."""
    valid = {"integer": ("choice", "randint", "lograndint"), "number": DRAWS}
    for name in [name for name in space if name in types]:
        adapter: TypeAdapter[Any] = TypeAdapter(types[name])
        schema = adapter.json_schema()
        draw, values = space[name].draw
        draws = valid.get(schema["type"], ("choice",))
        if draw not in draws:
            problem = f"{draw} draws no {valid_values(schema)}; valid: {', '.join(draws)}"
            raise BadKeyError([name], problem)
        for index, value in enumerate(values):
            with inside(name, draw, index):
                _check_value(adapter, value)


def check_configuration(
    configuration: Mapping[str, Scalar], space: Mapping[str, Domain], types: Mapping[str, Any]
) -> None:
    """Raise BadKeyError unless `configuration` has the names of `space` and values of `types`."""
    for name in sorted(space.keys() - configuration.keys()):
        raise BadKeyError([name], "missing; search_space has it")
    for name, value in configuration.items():
        with inside(name):
            if name not in space:
                raise BadKeyError([], f"is not in search_space; valid: {', '.join(space)}")
            if name in types:
                _check_value(TypeAdapter(types[name]), value)


def _check_value(adapter: TypeAdapter[Any], value: Scalar) -> None:
    try:
        adapter.validate_python(value, strict=True)
    except ValidationError as error:
        raise BadKeyError([], invalid(value, valid_values(adapter.json_schema()))) from error
