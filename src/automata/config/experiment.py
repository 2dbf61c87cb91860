"""A whole configuration: the grid of runs, and how each run is done."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from automata.config.base import Axis, BadKeyError, NonNegative, Section, inside
from automata.config.carbon import Carbon
from automata.config.cluster import JobRequest
from automata.config.comparison import Comparison
from automata.config.curves import LearningCurves
from automata.config.data import DataSettings, OwnDataset, Preparation
from automata.config.machine import Compute, Metering, Models, RayCluster
from automata.config.methods import SchedulerSettings, SearchSettings, SelectorSettings
from automata.config.protocol import KindProtocol, SearchName
from automata.datasets.catalog import DATASETS, Kind
from automata.files import write_text
from automata.registry import OWN, TARGET
from automata.selection import CONTROLS, SELECTORS
from automata.tuning import SCHEDULERS, SEARCHES

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"

TAKEN = ("curves", "data", "downloads", "reference", "runs", "work")
"""Other folders in results/."""

# Their names are parts of paths and of command lines, and file systems take 255 characters with
# what is added.
DatasetName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
ExperimentName = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,99}$")]
_METHOD = "^[a-z0-9]+(-[a-z0-9]+)*$"
SchedulerName = Annotated[str, Field(pattern=_METHOD, max_length=40, examples=list(SCHEDULERS))]
SelectorName = Annotated[
    str, Field(pattern=_METHOD, max_length=40, examples=[*CONTROLS, *SELECTORS])
]
Target = Annotated[str, Field(pattern=TARGET)]
Seed = NonNegative
Fraction = Annotated[float, Field(gt=0, le=1)]


METHODS: dict[str, list[str]] = {
    "search": [*SEARCHES],
    "scheduler": [*SCHEDULERS],
    "selector": [*CONTROLS, *SELECTORS],
}
"""The names of the project's own methods."""


class Protocols(Section):
    """One protocol for each kind of data; kinds without data sets in the grid need none."""

    tabular: KindProtocol | None = None
    text: KindProtocol | None = None
    image: KindProtocol | None = None

    def of(self, kind: Kind) -> KindProtocol | None:
        """Return the protocol of one kind."""
        found: KindProtocol | None = getattr(self, kind)
        return found


class Experiment(Section):
    """A whole configuration."""

    parts: Annotated[
        list[str],
        Field(
            description="configuration files whose grids are united; a data set may be in one of "
            "them only"
        ),
    ] = []
    experiment: Annotated[
        ExperimentName,
        Field(
            description="name of the folder in `results/` with tables, figures and page; "
            "experiments share their runs"
        ),
    ] = "default"
    datasets: Annotated[
        Axis[DatasetName], Field(description="data sets: see below, and names of `own_datasets`")
    ]
    searches: Annotated[Axis[SearchName], Field(description="search algorithms")]
    schedulers: Annotated[Axis[SchedulerName], Field(description="early stopping of trials")]
    selectors: Annotated[
        Axis[SelectorName], Field(description="how trials choose their subsets: see the next table")
    ]
    fractions: Annotated[
        Axis[Fraction],
        Field(description="subset size, as a share of the training set; FULL is always all data"),
    ]
    seeds: Annotated[
        Axis[Seed],
        Field(
            description="random seeds, one run for each: they fix configurations, weights, "
            "subsets and order"
        ),
    ]
    untuned_seeds: Annotated[
        Axis[Seed] | None,
        Field(description="seeds of `untuned`, which is cheap and needs many; `null`: as `seeds`"),
    ] = None
    own_datasets: Annotated[
        dict[DatasetName, OwnDataset],
        Field(description="your own data sets by name: see [own data](#own-data)"),
    ] = {}
    own_searches: Annotated[
        dict[SearchName, Target],
        Field(description='your own search algorithms by name, `"package.module:Class"`'),
    ] = {}
    own_schedulers: Annotated[
        dict[SchedulerName, Target], Field(description="likewise your own schedulers")
    ] = {}
    own_selectors: Annotated[
        dict[SelectorName, Target], Field(description="likewise your own selectors")
    ] = {}
    learning_curves: Annotated[
        LearningCurves | None,
        Field(
            description="trainings that `snakemake learning_curves` records, for searches to be "
            "simulated on them; `null`: none"
        ),
    ] = None
    archives: Annotated[
        list[str],
        Field(
            description="files of published records, relative to the working directory. Tables, "
            "figures and page are made of these records, and nothing is trained; `datasets` says "
            "which data sets get figures"
        ),
    ] = []
    data: DataSettings = DataSettings()
    protocol: Protocols
    search: SearchSettings = SearchSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    selector: SelectorSettings = SelectorSettings()
    compute: Compute = Compute()
    metering: Metering = Metering()
    ray: RayCluster = RayCluster()
    models: Models = Models()
    comparison: Comparison = Comparison()
    job: JobRequest
    carbon: Carbon

    @field_validator("experiment")
    @classmethod
    def _free(cls, name: str) -> str:
        if name in TAKEN:
            raise BadKeyError([], f"{name} is the name of another folder in results/")
        return name

    @field_validator("own_datasets")
    @classmethod
    def _new(cls, own: dict[str, OwnDataset]) -> dict[str, OwnDataset]:
        for name in own:
            if name in DATASETS:
                raise BadKeyError([name], "is the name of a data set that the project knows")
            if name == "all":
                raise BadKeyError([name], "is what tables call all data sets together")
        return own

    @model_validator(mode="after")
    def _methods_known(self) -> Self:
        axes = {"search": "searches", "scheduler": "schedulers", "selector": "selectors"}
        for kind, key in OWN.items():
            own: dict[str, str] = getattr(self, key)
            for name in own:
                if name in METHODS[kind]:
                    raise BadKeyError([key, name], f"is the name of a {kind} that the project has")
            for index, name in enumerate(getattr(self, axes[kind])):
                _require(name, [*METHODS[kind], *own], [axes[kind], index])
        for kind, protocol in self.protocol:
            for name in protocol.for_search if protocol is not None else ():
                path = ["protocol", kind, "for_search"]
                _require(name, [*METHODS["search"], *self.own_searches], path)
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        known = [*DATASETS, *self.own_datasets]
        for index, name in enumerate(self.datasets):
            if name not in known:
                valid = f"{', '.join(known)}, or one of own_datasets"
                raise BadKeyError(
                    ["datasets", index], f"{json.dumps(name)} is not valid; valid: {valid}"
                )
            if self.protocol.of(self.kind(name)) is None:
                needed = f"{name} needs the section protocol.{self.kind(name)}"
                raise BadKeyError(["datasets", index], needed)
        if self.learning_curves is not None:
            for key in ("warm_starts", "horizon_exponents"):
                for selector in getattr(self.learning_curves, key):
                    _require(selector, self.selectors, ["learning_curves", key])
            for name in self.datasets:
                least = self.protocol_of(name).under("random").configurations
                if self.learning_curves.pool < least:
                    raise BadKeyError(
                        ["learning_curves", "pool"],
                        f"{self.learning_curves.pool} is fewer than the {least} configurations "
                        f"of a search on {name}",
                    )
        kinds: tuple[Kind, ...] = ("tabular", "text", "image")
        for kind in kinds:
            protocol = self.protocol.of(kind)
            if protocol is not None:
                with inside("protocol", kind):
                    protocol.check(kind, self.searches)
        return self

    @property
    def trains(self) -> bool:
        """Whether anything is trained; else the curves that there are, are read."""
        return self.learning_curves is None or self.learning_curves.train

    def kind(self, dataset: str) -> Kind:
        """Return the kind of a data set, which names its protocol."""
        own = self.own_datasets.get(dataset)
        return DATASETS[dataset].kind if own is None else own.kind

    def protocol_of(self, dataset: str) -> KindProtocol:
        """Return the protocol of a data set; raises KeyError for one that has none."""
        found = self.protocol.of(self.kind(dataset))
        if found is None:
            raise KeyError(dataset)
        return found

    def own_methods(self, search: str, scheduler: str, selector: str) -> dict[str, str]:
        """Return those of a run's methods that are the user's own, by what they are."""
        names = {"search": search, "scheduler": scheduler, "selector": selector}
        own = {kind: getattr(self, OWN[kind]).get(name) for kind, name in names.items()}
        return {kind: target for kind, target in own.items() if target is not None}

    def preparation(self, dataset: str) -> Preparation:
        """Return the settings that decide what is in the prepared file of a data set."""
        return Preparation(
            vectors=self.data.vectors if self.kind(dataset) == "text" else None,
            sst2_neutral=self.data.sst2_neutral if dataset == "sst2" else None,
            own=self.own_datasets.get(dataset),
        )


def _require(name: str, valid: list[str], path: Iterable[object]) -> None:
    """Raise BadKeyError at `path` unless `name` is among the valid ones."""
    if name not in valid:
        raise BadKeyError(path, f"{json.dumps(name)} is not valid; valid: {', '.join(valid)}")


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of an experiment file."""
    return {"$schema": SCHEMA_DIALECT, **Experiment.model_json_schema()}


def write_schema(path: Path) -> None:
    """Write `json_schema()` to `path`."""
    write_text(path, json.dumps(json_schema(), indent=2) + "\n")
