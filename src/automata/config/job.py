"""One run and the part of the configuration that it reads."""

from __future__ import annotations

from typing import Any, Self

from pydantic import model_validator

from automata.config.base import Section, parsed
from automata.config.data import Preparation
from automata.config.experiment import (
    DatasetName,
    Fraction,
    SchedulerName,
    Seed,
    SelectorName,
)
from automata.config.machine import Compute, Metering
from automata.config.methods import SchedulerSettings, SearchSettings, SelectorSettings
from automata.config.protocol import Protocol, SearchName


class Run(Section):
    """One cell of the grid."""

    dataset: DatasetName
    search: SearchName
    scheduler: SchedulerName
    selector: SelectorName
    fraction: Fraction
    seed: Seed

    @model_validator(mode="after")
    def _full_is_all(self) -> Self:
        if self.selector == "full" and self.fraction != 1:
            raise ValueError(f"selector full takes fraction 1, not {self.fraction}")
        return self


class Settings(Section):
    """The part of an experiment that one run reads."""

    protocol: Protocol
    data: Preparation = Preparation()
    search: SearchSettings = SearchSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    selector: SelectorSettings = SelectorSettings()
    compute: Compute = Compute()
    metering: Metering = Metering()

    def warm_start(self, scheduler: str) -> float:
        """Return kappa, the fraction of warm start, that goes with `scheduler`."""
        return float(getattr(self.scheduler, scheduler).warm_start)


class Job(Section):
    """One run and its settings: all that a tuning job needs besides the data."""

    run: Run
    settings: Settings


def parse_job(run: dict[str, Any], settings: str) -> Job:
    """Return the job of `run` with `settings` in JSON; raises UserError, in one line."""
    return parsed(lambda: Job(run=Run(**run), settings=Settings.model_validate_json(settings)))


def parse_preparation(text: str) -> Preparation:
    """Return the preparation in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Preparation.model_validate_json(text))
