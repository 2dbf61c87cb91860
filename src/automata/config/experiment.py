"""A whole configuration: the grid of runs, and how each run is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from automata.config.base import Section, axis, one_of
from automata.config.carbon import Carbon
from automata.config.cluster import JobRequest
from automata.config.comparison import Comparison
from automata.config.data import DataSettings, OwnDataset
from automata.config.machine import Compute, Metering, RayCluster
from automata.config.methods import SchedulerSettings, SearchSettings, SelectorSettings
from automata.config.protocol import KindProtocol, SearchName
from automata.experiments.checks import NAME, problems
from automata.files import write_text
from automata.selection import CONTROLS, SELECTORS
from automata.tuning import SCHEDULERS

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"

DatasetName = Annotated[str, Field(pattern=f"^{NAME}$")]
SchedulerName = Annotated[str, one_of(SCHEDULERS)]
SelectorName = Annotated[str, one_of({**CONTROLS, **SELECTORS})]
Seed = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(gt=0, le=1)]
ExperimentName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]


class Protocols(Section):
    """One protocol for each kind of data; kinds without data sets in the grid need none."""

    tabular: KindProtocol | None = None
    text: KindProtocol | None = None
    image: KindProtocol | None = None


class Experiment(Section):
    """A whole configuration."""

    parts: Annotated[
        list[str], Field(description="Configuration files beside this one: the grid is their union")
    ] = []
    experiment: Annotated[
        ExperimentName, Field(description="Name of the folder of tables and figures in results/")
    ] = "default"
    datasets: Annotated[list[DatasetName], axis(), Field(description="Data sets")]
    searches: Annotated[list[SearchName], axis(), Field(description="Search algorithms")]
    schedulers: Annotated[list[SchedulerName], axis(), Field(description="Schedulers")]
    selectors: Annotated[list[SelectorName], axis(), Field(description="Subset selectors")]
    fractions: Annotated[
        list[Fraction], axis(), Field(description="Subset sizes, as shares of the training set")
    ]
    seeds: Annotated[list[Seed], axis(), Field(description="Root seeds, a run for each")]
    untuned_seeds: Annotated[
        Annotated[list[Seed], axis()] | None,
        Field(description="Seeds of the control without tuning; null: those of all"),
    ] = None
    own_datasets: Annotated[
        dict[DatasetName, OwnDataset], Field(description="The user's data sets, by name")
    ] = {}
    archives: Annotated[
        list[str],
        Field(description="Files of published records, which take the place of runs"),
    ] = []
    data: DataSettings = DataSettings()
    protocol: Protocols
    search: SearchSettings = SearchSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    selector: SelectorSettings = SelectorSettings()
    compute: Compute = Compute()
    metering: Metering = Metering()
    ray: RayCluster = RayCluster()
    comparison: Comparison = Comparison()
    job: JobRequest
    carbon: Carbon

    @model_validator(mode="wrap")
    @classmethod
    def _consistent(cls, values: Any, handler: Any) -> Any:
        experiment = handler(values)
        for path, message in problems(values):
            raise ValueError(f"{'.'.join(path)}: {message}")
        return experiment


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of an experiment file."""
    return {"$schema": SCHEMA_DIALECT, **Experiment.model_json_schema()}


def write_schema(path: Path) -> None:
    """Write `json_schema()` to `path`."""
    write_text(path, json.dumps(json_schema(), indent=2) + "\n")
