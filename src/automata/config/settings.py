"""The part of an experiment that one run reads."""

from __future__ import annotations

from typing import TypeVar

from automata.config.base import Section
from automata.config.experiment import Experiment
from automata.config.job import Settings
from automata.config.protocol import OF_SUBSETS, Protocol
from automata.selection.controls import CONTROLS

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


def _only(section: S, name: str) -> S:
    """Return the settings of the method of that name, if it has any; of others the defaults."""
    field = name.replace("-", "_")
    known = field in type(section).model_fields
    return type(section)(**({field: getattr(section, field)} if known else {}))
