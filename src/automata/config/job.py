"""One run and the part of the configuration that it reads."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from automata.config.base import Section, added, parsed
from automata.config.data import Preparation
from automata.config.experiment import (
    METHODS,
    DatasetName,
    SchedulerName,
    Seed,
    SelectorName,
    Target,
)
from automata.config.machine import Compute, Metering
from automata.config.methods import SchedulerSettings, SearchSettings, SelectorSettings
from automata.config.protocol import Protocol, SearchName
from automata.selection.controls import CONTROLS, Control
from automata.tuning import ALL_DATA


def goes_together(scheduler: str, selector: str) -> bool:
    """Say whether there are such runs: schedulers for all data have controls alone."""
    return scheduler not in ALL_DATA or selector in CONTROLS


class Run(Section):
    """One cell of the grid."""

    dataset: DatasetName
    search: SearchName
    scheduler: SchedulerName
    selector: SelectorName
    fraction: Annotated[float, Field(ge=0, le=1)]
    seed: Seed

    @model_validator(mode="after")
    def _fraction_fits(self) -> Self:
        control = self.control
        if control is not None and self.fraction != control.fraction:
            raise ValueError(
                f"selector {self.selector} takes fraction {control.fraction}: {self.fraction}"
            )
        if control is None and self.fraction == 0:
            raise ValueError(f"selector {self.selector} needs a fraction above 0")
        if not goes_together(self.scheduler, self.selector):
            raise ValueError(f"scheduler {self.scheduler} is for all data: selector full")
        return self

    @property
    def control(self) -> Control | None:
        """The control that this run is, None where a selector draws subsets."""
        return CONTROLS.get(self.selector)

    @property
    def searches(self) -> bool:
        """Whether trials train at all."""
        return self.control is None or self.control.searches

    @property
    def trains_finally(self) -> bool:
        """Whether the best configuration is trained anew: of a control's search it is trained."""
        return self.control is None or not self.control.searches

    @property
    def training_stream(self) -> str:
        """The name of the random stream of trainings."""
        return (self.control or CONTROLS["full"]).stream


class Settings(Section):
    """The part of an experiment that one run reads."""

    protocol: Protocol
    data: Preparation = Preparation()
    search: SearchSettings = SearchSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    selector: SelectorSettings = SelectorSettings()
    compute: Compute = Compute()
    metering: Metering = Metering()
    own: Annotated[dict[str, Target], added({})] = {}
    """The user's own `search`, `scheduler` and `selector`, "module:Class"."""

    def warm_start(self, scheduler: str) -> float:
        """Return kappa, the fraction of warm start, that goes with `scheduler`."""
        return float(getattr(getattr(self.scheduler, scheduler, None), "warm_start", 0))


class Job(Section):
    """One run and all that it reads: settings, and the user's own files, if there are any."""

    run: Run
    settings: Settings
    files: Annotated[dict[str, str], added({})] = {}
    """SHA-256 of the content of each file of the user's own, by its role."""

    @model_validator(mode="after")
    def _methods_known(self) -> Self:
        for kind, names in METHODS.items():
            name = getattr(self.run, kind)
            if name not in names and kind not in self.settings.own:
                raise ValueError(f"{kind}: {name} is not valid; valid: {', '.join(names)}")
        return self


def parse_job(text: str) -> Job:
    """Return the job in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Job.model_validate_json(text))


def parse_preparation(text: str) -> Preparation:
    """Return the preparation in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Preparation.model_validate_json(text))
