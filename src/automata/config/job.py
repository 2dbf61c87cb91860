"""One run and all that it reads: its settings, and the checksums of the user's own files."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from automata.config import sections
from automata.config.base import BadKeyError, Section, added, invalid, parsed
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
from automata.registry import CONTROLS, OWN, Control, goes_together

AXES = ("searches", "schedulers", "selectors", "fractions")
"""Keys of a configuration that name its methods."""


class Run(Section):
    """One run: a value on each axis of the grid."""

    dataset: DatasetName
    search: SearchName
    scheduler: SchedulerName
    selector: SelectorName
    fraction: Annotated[float, Field(ge=0, le=1)]
    seed: Seed

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        control = self.control
        if not (self.fraction > 0 if control is None else self.fraction == control.fraction):
            valid = "number > 0 and <= 1" if control is None else control.fraction
            problem = invalid(self.fraction, f"{valid} for selector {self.selector}")
            raise BadKeyError(["fraction"], problem)
        if not goes_together(self.scheduler, self.selector):
            problem = f"scheduler {self.scheduler} is for all data: selector full"
            raise BadKeyError(["selector"], problem)
        return self

    @property
    def control(self) -> Control | None:
        """The control of this run; None if it has a selector."""
        return CONTROLS.get(self.selector)

    @property
    def searches(self) -> bool:
        """Whether any trial trains."""
        return self.control is None or self.control.searches

    @property
    def trains_finally(self) -> bool:
        """Whether a final training follows the search; trials on all data make it superfluous."""
        return self.control is None or not self.control.searches

    @property
    def training_stream(self) -> str:
        """The name of the random stream of trainings."""
        return (self.control or CONTROLS["full"]).stream


class Settings(Section):
    """The part of an experiment that one run reads."""

    protocol: Protocol
    data: Preparation = Preparation()
    search: sections.SearchSettings = sections.SearchSettings()
    scheduler: sections.SchedulerSettings = sections.SchedulerSettings()
    selector: sections.SelectorSettings = sections.SelectorSettings()
    compute: sections.Compute = sections.Compute()
    metering: sections.Metering = sections.Metering()
    own: Annotated[dict[str, Target], added({})] = {}
    """The user's own `search`, `scheduler` and `selector`, "module:Class"."""


class Job(Section):
    """A run with all that it reads."""

    run: Run
    settings: Settings
    files: Annotated[dict[str, str], added({})] = {}
    """SHA-256 of each of the user's own files, by its role (see `sources`)."""


def first_run(experiment: Experiment) -> Run:
    """Return the first run of an experiment."""
    selector = experiment.selectors[0]
    fractions, _ = experiment.sizes_of(selector)
    axes = {
        "dataset": experiment.datasets[0],
        "search": experiment.searches[0],
        "scheduler": experiment.schedulers[0],
        "selector": selector,
        "fraction": fractions[0],
        "seed": experiment.seeds[0],
    }
    return parsed(Run, axes)


def settings_of(
    experiment: Experiment, dataset: str, search: str, scheduler: str, selector: str
) -> Settings:
    """Return exactly the settings that a run reads: a change of one repeats the run."""
    protocol = experiment.protocol_of(dataset).under(search)
    if selector in CONTROLS:
        protocol = protocol.model_copy(update=OF_SUBSETS)
    names = zip(OWN.items(), (search, scheduler, selector), strict=True)
    own = {kind: getattr(experiment, key).get(name) for (kind, key), name in names}
    return Settings(
        protocol=protocol,
        data=experiment.preparation(dataset),
        search=experiment.search.only(search),
        scheduler=experiment.scheduler.only(scheduler),
        selector=experiment.selector.only(selector),
        compute=experiment.compute,
        metering=experiment.metering,
        own={kind: target for kind, target in own.items() if target is not None},
    )


def shared_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that a run shares with its FULL run: all that do not concern subsets."""
    own = {kind for kind in settings.own if kind != "selector"}
    excluded = {"selector": True, "own": {"selector"} if own else True, "protocol": set(OF_SUBSETS)}
    return settings.model_dump(mode="json", exclude=excluded)


def settings_of_subsets(settings: Settings, selector: str) -> dict[str, Any]:
    """Return the settings that concern subsets of `selector`, except those at their defaults."""
    subsets = settings.protocol.model_dump(mode="json", include=set(OF_SUBSETS))
    if "selector" in settings.own:
        subsets["own"] = settings.own["selector"]
    options = settings.selector.of(selector)
    return subsets if options == sections.SelectorSettings().of(selector) else options | subsets
