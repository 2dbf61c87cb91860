"""One run and the part of the configuration that it reads."""

from __future__ import annotations

from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, model_validator

from automata.config.base import Section, added, parsed
from automata.config.data import Preparation
from automata.config.experiment import (
    DatasetName,
    Experiment,
    SchedulerName,
    Seed,
    SelectorName,
    Target,
)
from automata.config.protocol import OF_SUBSETS, Protocol, SearchName
from automata.config.sections import (
    Compute,
    Metering,
    SchedulerSettings,
    SearchSettings,
    SelectorSettings,
)
from automata.registry import ALL_DATA, CONTROLS, REGISTRIES, Control


def goes_together(scheduler: str, selector: str) -> bool:
    """Say whether there are such runs: schedulers for all data have controls alone."""
    return scheduler not in ALL_DATA or selector in CONTROLS


S = TypeVar("S", bound=Section)


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
        for kind, names in REGISTRIES.items():
            name = getattr(self.run, kind)
            if name not in names and kind not in self.settings.own:
                raise ValueError(f"{kind}: {name} is not valid; valid: {', '.join(names)}")
        return self


def settings_of(
    experiment: Experiment, dataset: str, search: str, scheduler: str, selector: str
) -> Settings:
    """Return exactly the settings that a run reads: a change of them repeats it."""
    protocol = experiment.protocol_of(dataset).under(search)
    if selector in CONTROLS:
        default = {name: Protocol.model_fields[name].default for name in OF_SUBSETS}
        protocol = protocol.model_copy(update=default)
    return Settings(
        protocol=protocol,
        data=experiment.preparation(dataset),
        search=_only(experiment.search, search),
        scheduler=_only(experiment.scheduler, scheduler),
        selector=_only(experiment.selector, selector),
        compute=experiment.compute,
        metering=experiment.metering,
        own=experiment.own_methods(search, scheduler, selector),
    )


def shared_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that a run has in common with its FULL: nothing of subsets."""
    shared = settings.model_dump(mode="json", exclude={"selector": True, "own": {"selector"}})
    for name in OF_SUBSETS:
        shared["protocol"].pop(name, None)
    if not shared.get("own"):
        shared.pop("own", None)
    return shared


def settings_of_subsets(settings: Settings, selector: str) -> dict[str, Any]:
    """Return the other settings of a run with `selector`, where they are not the defaults."""
    protocol = settings.protocol.model_dump(mode="json")
    found = {name: protocol[name] for name in OF_SUBSETS if name in protocol}
    if "selector" in settings.own:
        found["own"] = settings.own["selector"]
    own = settings.selector.of(selector)
    return found if own == SelectorSettings().of(selector) else own | found


def _only(section: S, name: str) -> S:
    """Return the settings of the method of that name, if it has any; of others the defaults."""
    field = name.replace("-", "_")
    known = field in type(section).model_fields
    return type(section)(**({field: getattr(section, field)} if known else {}))


def parse_job(text: str) -> Job:
    """Return the job in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Job.model_validate_json(text))


def parse_preparation(text: str) -> Preparation:
    """Return the preparation in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Preparation.model_validate_json(text))
