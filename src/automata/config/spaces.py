"""Search spaces, in the words of Ray Tune."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_serializer, model_validator

from automata.config.base import Section
from automata.experiments.checks import DRAWS, domain_problem

Scalar = bool | int | float | str


class Domain(Section):
    """The values of one hyper-parameter; exactly one of the keys says how they are drawn."""

    uniform: Annotated[tuple[float, float] | None, Field(description="A float: [low, high]")] = None
    loguniform: Annotated[
        tuple[PositiveFloat, PositiveFloat] | None,
        Field(description="A float, its logarithm uniform: [low, high]"),
    ] = None
    quniform: Annotated[
        tuple[float, float, PositiveFloat] | None,
        Field(description="A float, rounded to a multiple of the step: [low, high, step]"),
    ] = None
    randint: Annotated[
        tuple[int, int] | None, Field(description="An integer: [low, high), high is excluded")
    ] = None
    lograndint: Annotated[
        tuple[PositiveInt, PositiveInt] | None,
        Field(description="An integer, its logarithm uniform: [low, high), high is excluded"),
    ] = None
    choice: Annotated[
        list[Scalar] | None, Field(min_length=1, description="One of these, each as likely")
    ] = None

    @model_validator(mode="after")
    def _one_and_ordered(self) -> Self:
        problem = domain_problem(self.model_dump())
        if problem is not None:
            raise ValueError(problem)
        return self

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        return {name: values for name in DRAWS if (values := getattr(self, name)) is not None}

    @property
    def draw(self) -> tuple[str, list[Any]]:
        """The key that is given, and its values."""
        ((name, values),) = self.model_dump().items()
        return name, list(values)
