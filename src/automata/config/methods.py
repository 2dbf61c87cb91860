"""Settings of single searches, schedulers and selectors."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PositiveInt

from automata.config.base import Section


class TpeSettings(Section):
    """Tree-structured Parzen estimator (HyperOpt)."""

    startup_configurations: Annotated[
        PositiveInt, Field(description="Configurations drawn at random before TPE models any")
    ] = 20


class SearchSettings(Section):
    """Settings by search algorithm; those not named have none."""

    tpe: TpeSettings = TpeSettings()


WarmStart = Annotated[
    float,
    Field(ge=0, le=1, description="kappa: warm start on all data for ceil(kappa T k/N) epochs"),
]


class HyperbandSettings(Section):
    """Hyperband, with Ray Tune's brackets."""

    reduction_factor: Annotated[int, Field(ge=2, description="eta: one in eta goes on")] = 3
    warm_start: WarmStart = 0.0


class AshaSettings(Section):
    """Asynchronous successive halving."""

    reduction_factor: Annotated[int, Field(ge=2, description="eta: one in eta goes on")] = 4
    grace_period: Annotated[PositiveInt, Field(description="Epochs before the first rung")] = 1
    warm_start: WarmStart = 0.35


class NoSchedulerSettings(Section):
    """Every trial trains all epochs."""

    warm_start: WarmStart = 0.0


class SchedulerSettings(Section):
    """Settings by scheduler."""

    hyperband: HyperbandSettings = HyperbandSettings()
    asha: AshaSettings = AshaSettings()
    none: NoSchedulerSettings = NoSchedulerSettings()


class GradMatchSettings(Section):
    """Gradient matching by orthogonal matching pursuit (paper, equation 2)."""

    l2: Annotated[float, Field(ge=0, description="lambda: penalty on the squared weights")] = 0.0
    tolerance: Annotated[
        float, Field(ge=0, description="Stop at this relative gradient error; 0: at the budget")
    ] = 0.0


class SelectorSettings(Section):
    """Settings by selector; those not named have none."""

    gradmatch: GradMatchSettings = GradMatchSettings()
