"""Search spaces, in the words of Ray Tune, and what values a hyper-parameter may have."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, PositiveFloat, model_serializer, model_validator

from automata.config.base import BadKeyError, Count, Integer, Section

DRAWS = ("uniform", "loguniform", "quniform", "randint", "lograndint", "choice")
"""How a hyper-parameter may be drawn, in the words of Ray Tune."""

Scalar = bool | int | float | str


class Domain(Section):
    """The values of one hyper-parameter; exactly one of the keys says how they are drawn."""

    uniform: Annotated[tuple[float, float] | None, Field(description="a float: `[low, high]`")] = (
        None
    )
    loguniform: Annotated[
        tuple[PositiveFloat, PositiveFloat] | None,
        Field(description="a float, its logarithm uniform: `[low, high]`"),
    ] = None
    quniform: Annotated[
        tuple[float, float, PositiveFloat] | None,
        Field(description="a float, rounded to a multiple of the step: `[low, high, step]`"),
    ] = None
    randint: Annotated[
        tuple[Integer, Integer] | None, Field(description="an integer below high: `[low, high]`")
    ] = None
    lograndint: Annotated[
        tuple[Count, Count] | None,
        Field(description="an integer below high, its logarithm uniform: `[low, high]`"),
    ] = None
    choice: Annotated[
        list[Scalar] | None, Field(min_length=1, description="one of these, each as likely")
    ] = None

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
        low, high, *step = values
        if not low < high:
            raise BadKeyError([], f"{draw}: {low:g} is not below {high:g}")
        for bound in (low, high) if step else ():
            if abs(bound / step[0] - round(bound / step[0])) > 1e-9:
                raise BadKeyError([], f"{draw}: {bound:g} is no multiple of the step {step[0]:g}")
        return self

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        return {name: values for name in DRAWS if (values := getattr(self, name)) is not None}

    @property
    def draw(self) -> tuple[str, list[Any]]:
        """The key that is given, and its values."""
        ((name, values),) = self.model_dump().items()
        return name, list(values)


@dataclass(frozen=True)
class Valid:
    """What values a known hyper-parameter may have."""

    test: Callable[[Any], bool]
    words: str
    draws: tuple[str, ...] = DRAWS
    """The draws that give such values."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _among(*names: str) -> Valid:
    return Valid(lambda value: value in names, ", ".join(names), ("choice",))


_COUNT = Valid(_is_count, "integer > 0", ("choice", "randint", "lograndint"))
_RATE = Valid(lambda value: _is_number(value) and value > 0, "number > 0")

TRAINING: dict[str, Valid] = {
    "learning_rate": _RATE,
    "batch_size": _COUNT,
    "optimizer": _among("adam", "sgd"),
    "momentum": Valid(lambda value: _is_number(value) and 0 <= value < 1, "number >= 0 and < 1"),
    "nesterov": Valid(lambda value: isinstance(value, bool), "true, false", ("choice",)),
    "weight_decay": Valid(lambda value: _is_number(value) and value >= 0, "number >= 0"),
    "schedule": _among("none", "cosine", "step"),
    "decay_every": _COUNT,
    "decay_factor": Valid(
        lambda value: _is_number(value) and 0 < value <= 1, "number > 0 and <= 1"
    ),
}
"""The hyper-parameters that every training reads."""

VALUES: dict[str, Valid] = {
    **TRAINING,
    **dict.fromkeys(("lr1", "lr2", "lr3", "lr4"), _RATE),
    **dict.fromkeys(("hidden", "hidden1", "hidden2", "layers"), _COUNT),
}
"""The same with those of the models."""


def check_values(space: Mapping[str, Domain], known: Mapping[str, Valid]) -> None:
    """Raise BadKeyError for values of `space` that a `known` hyper-parameter cannot have."""
    for name, domain in space.items():
        valid = known.get(name)
        if valid is None:
            continue
        draw, values = domain.draw
        if draw not in valid.draws:
            raise BadKeyError(
                [name], f"{draw} draws no {valid.words}; valid: {', '.join(valid.draws)}"
            )
        for index, value in enumerate(values if draw == "choice" else values[:2]):
            if not valid.test(value):
                found = f"{value:g}" if isinstance(value, float) else json.dumps(value)
                raise BadKeyError(
                    [name, draw, index], f"{found} is not valid; valid: {valid.words}"
                )
