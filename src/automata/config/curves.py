"""Recorded learning curves: which configurations are trained, and in which ways."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from automata.config.base import Axis, Count, NonNegative, Section
from automata.config.methods import SchedulerSettings, SearchSettings
from automata.config.spaces import Domain


class Simulated(Section):
    """What searches are simulated of, on the learning curves of a data set."""

    pool: Count
    """How many configurations there are."""
    pool_seed: int
    """Of the random search that proposes them."""
    configurations: Count
    """Of a search."""
    epochs: Count
    """T."""
    searches: list[str]
    """Those that search the same space."""
    schedulers: list[str]
    search: SearchSettings
    scheduler: SchedulerSettings
    space: dict[str, Domain]


Share = Annotated[float, Field(gt=0, le=1)]


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
        dict[str, Axis[Share]],
        Field(description="kappa by selector: trainings with warm start, beside those without"),
    ] = {}
    horizon_exponents: Annotated[
        dict[str, Axis[Share]],
        Field(description="beta by selector: trainings with such exponents, beside those without"),
    ] = {}
    part: Annotated[Count, Field(description="configurations of one job")] = 16
    recorded: Annotated[
        str | None,
        Field(
            description="a folder of published learning curves: what it has is not trained again"
        ),
    ] = None
    train: Annotated[
        bool, Field(description="`false`: searches are simulated on the curves that there are")
    ] = True
    real: Annotated[
        list[str],
        Field(description="folders of tables of real runs, which simulated ones are held against"),
    ] = []
