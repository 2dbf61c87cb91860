"""The part of an experiment that one run reads."""

from __future__ import annotations

from typing import Any, TypeVar

from automata.config.base import Section
from automata.config.experiment import Experiment
from automata.config.job import Settings
from automata.config.protocol import OF_SUBSETS, Protocol
from automata.config.sections import SelectorSettings
from automata.registry import CONTROLS

S = TypeVar("S", bound=Section)


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
