"""Settings of single searches, schedulers and selectors."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from automata.config.base import WHOLE, Count, Section, added


class TpeSettings(Section):
    """Tree-structured Parzen estimator (HyperOpt)."""

    startup_configurations: Annotated[
        Count, Field(description="configurations that are drawn at random before TPE starts")
    ] = 20


class SearchSettings(Section):
    """Settings by search algorithm; those not named have none."""

    tpe: TpeSettings = TpeSettings()


WarmStart = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="kappa: a trial trains its first ceil(kappa T k/N) epochs on all data",
    ),
]


class HyperbandSettings(Section):
    """Hyperband, with Ray Tune's brackets."""

    reduction_factor: Annotated[
        int, Field(ge=2, description="eta: at each rung the best 1/eta of the trials go on"), WHOLE
    ] = 3
    warm_start: WarmStart = 0.0


class AshaSettings(Section):
    """Asynchronous successive halving."""

    reduction_factor: Annotated[
        int, Field(ge=2, description="eta: at each rung the best 1/eta of the trials go on"), WHOLE
    ] = 4
    grace_period: Annotated[Count, Field(description="epochs before the first rung")] = 1
    warm_start: WarmStart = 0.35


class ShaSettings(Section):
    """Successive halving: one bracket of Hyperband, with all trials."""

    reduction_factor: Annotated[
        int, Field(ge=2, description="eta: at each rung the best 1/eta of the trials go on"), WHOLE
    ] = 3
    warm_start: WarmStart = 0.0


class NoSchedulerSettings(Section):
    """Every trial trains all epochs."""

    warm_start: WarmStart = 0.0


class SchedulerSettings(Section):
    """Settings by scheduler; those not named have none."""

    hyperband: HyperbandSettings = HyperbandSettings()
    asha: AshaSettings = AshaSettings()
    sha: Annotated[ShaSettings, added(ShaSettings())] = ShaSettings()
    none: NoSchedulerSettings = NoSchedulerSettings()


class GradMatchSettings(Section):
    """Gradient matching by orthogonal matching pursuit (paper, equation 2)."""

    l2: Annotated[float, Field(ge=0, description="lambda: penalty on the squared weights")] = 0.0
    tolerance: Annotated[
        float,
        Field(
            ge=0,
            description="stop at this share of the gradient's norm left over; random mini-batches "
            "fill the subset",
        ),
    ] = 0.0


class AdaptiveGradMatchSettings(Section):
    """Gradient matching with a subset as large as the match asks for."""

    l2: Annotated[float, Field(ge=0, description="lambda: penalty on the squared weights")] = 0.0
    tolerance: Annotated[
        float,
        Field(
            gt=0,
            lt=1,
            description="stop at this share of the gradient's norm left over: smaller takes more "
            "data. On satimage 0.05, 0.1 and 0.2 took 19, 13 and 9 % where 30 % were "
            "allowed (Adam, mini-batches of 32)",
        ),
    ] = 0.1
    floor: Annotated[
        float, Field(gt=0, le=1, description="smallest subset, as a share of the training set")
    ] = 0.01


class GlisterSettings(Section):
    """Validation gain of one gradient step, to first order (Killamsetty et al., 2021)."""

    updates: Annotated[
        Count,
        Field(
            description="validation gradients per selection: more are slower and nearer to the "
            "paper's greedy choice, which takes one per chosen mini-batch"
        ),
    ] = 15


class SelectorSettings(Section):
    """Settings by selector; those not named have none."""

    # The key is the selector's name, which is no Python name; records hold the field's.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True)

    gradmatch: GradMatchSettings = GradMatchSettings()
    gradmatch_adaptive: Annotated[AdaptiveGradMatchSettings, Field(alias="gradmatch-adaptive")] = (
        AdaptiveGradMatchSettings()
    )
    glister: GlisterSettings = GlisterSettings()

    def of(self, selector: str) -> dict[str, Any]:
        """Return the settings of the selector of that name, as arguments of its class."""
        settings = getattr(self, selector.replace("-", "_"), None)
        return settings.model_dump() if settings is not None else {}
