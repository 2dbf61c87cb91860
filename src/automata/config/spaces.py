"""Search spaces, in the words of Ray Tune, and what values a hyper-parameter may have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    PositiveFloat,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)

from automata.config.base import BadKeyError, Count, Integer, Section
from automata.config.refusals import valid_values

DRAWS = ("uniform", "loguniform", "randint", "lograndint", "choice")
"""How a hyper-parameter may be drawn, in the words of Ray Tune."""

Scalar = bool | int | float | str


class Domain(Section):
    """The values of one hyper-parameter; exactly one of the keys says how they are drawn."""

    uniform: tuple[float, float] | None = None
    """a float: `[low, high]`"""
    loguniform: tuple[PositiveFloat, PositiveFloat] | None = None
    """a float, its logarithm uniform: `[low, high]`"""
    randint: tuple[Integer, Integer] | None = None
    """an integer below high: `[low, high]`"""
    lograndint: tuple[Count, Count] | None = None
    """an integer below high, its logarithm uniform: `[low, high]`"""
    choice: Annotated[list[Scalar] | None, Field(min_length=1)] = None
    """one of these, each as likely"""

    @model_validator(mode="after")
    def _one_and_ordered(self) -> Self:
        given = self.model_dump()
        if len(given) != 1:
            has = ", ".join(given) or "none"
            raise BadKeyError([], f"needs exactly one of {', '.join(DRAWS)}, has {has}")
        draw, values = self.draw
        if draw == "choice":
            if len({(type(value), value) for value in values}) != len(values):
                raise BadKeyError([], "has a choice twice")
            return self
        low, high = values
        if not low < high:
            raise BadKeyError([], f"{draw}: {low:g} is not below {high:g}")
        return self

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        return {name: values for name in DRAWS if (values := getattr(self, name)) is not None}

    @property
    def draw(self) -> tuple[str, list[Any]]:
        """The key that is given, and its values."""
        ((name, values),) = self.model_dump().items()
        return name, list(values)


Rate = Annotated[float, Field(gt=0)]
WholeNumber = Annotated[int, Field(gt=0)]
Optimizer = Literal["adam", "sgd"]
Momentum = Annotated[float, Field(ge=0, lt=1)]
Penalty = Annotated[float, Field(ge=0)]
Schedule = Literal["none", "cosine", "step"]
Factor = Annotated[float, Field(gt=0, le=1)]

TRAINING: dict[str, Any] = {
    "learning_rate": Rate,
    "batch_size": WholeNumber,
    "optimizer": Optimizer,
    "momentum": Momentum,
    "nesterov": bool,
    "weight_decay": Penalty,
    "schedule": Schedule,
    "decay_every": WholeNumber,
    "decay_factor": Factor,
}
"""The hyper-parameters that every training reads, and the types of their values."""

VALUES: dict[str, Any] = {
    **TRAINING,
    **dict.fromkeys(("lr1", "lr2", "lr3", "lr4"), Rate),
    **dict.fromkeys(("hidden", "hidden1", "hidden2", "layers"), WholeNumber),
}
"""The same with those of the models."""


def valid_words(name: str) -> str:
    """Say which values a known hyper-parameter may have."""
    return valid_values(TypeAdapter(VALUES[name]).json_schema())


def check_values(space: Mapping[str, Domain], known: Mapping[str, Any]) -> None:
    """Raise BadKeyError for values of `space` that a `known` hyper-parameter cannot have."""
    for name in [name for name in space if name in known]:
        values: TypeAdapter[Any] = TypeAdapter(known[name])
        draw, drawn = space[name].draw
        draws = {"integer": ("choice", "randint", "lograndint"), "number": DRAWS}.get(
            values.json_schema()["type"], ("choice",)
        )
        if draw not in draws:
            words = f"{draw} draws no {valid_words(name)}; valid: {', '.join(draws)}"
            raise BadKeyError([name], words)
        for index, value in enumerate(drawn):
            try:
                values.validate_python(value, strict=True)
            except ValidationError as error:
                found = f"{value:g}" if isinstance(value, float) else json.dumps(value)
                words = f"{found} is not valid; valid: {valid_words(name)}"
                raise BadKeyError([name, draw, index], words) from error
