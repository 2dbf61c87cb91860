"""Recorded learning curves: which configurations are trained, and in which ways."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from automata.config.base import Axis, Count, NonNegative, Section
from automata.config.methods import SchedulerSettings


class Simulated(Section):
    """What searches are simulated of, on the learning curves of a data set."""

    configurations: Count
    """Of a search."""
    seeds: list[NonNegative]
    """Of trainings."""
    schedulers: list[str]
    scheduler: SchedulerSettings


Share = Annotated[float, Field(ge=0, le=1)]


class LearningCurves(Section):
    """Every configuration of a pool is trained to its end under each selector and fraction."""

    pool: Annotated[
        Count, Field(description="configurations: the first that random search proposes")
    ] = 64
    pool_seed: Annotated[NonNegative, Field(description="seed of that random search")] = 0
    seeds: Annotated[
        Axis[NonNegative],
        Field(description="seeds of weights, subsets and order: a training for each"),
    ] = [0, 1, 2]
    warm_starts: Annotated[
        Axis[Share], Field(description="kappa: a training for each; FULL has none")
    ] = [0.0]
    horizon_exponents: Annotated[
        Axis[Share], Field(description="beta: a training for each; FULL has none")
    ] = [0.0]
    part: Annotated[Count, Field(description="configurations of one job")] = 16
