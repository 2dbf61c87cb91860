"""A whole configuration: the grid of runs, and how each run is done."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from automata.config.base import Axis, BadKeyError, NonNegative, Section, inside
from automata.config.data import DataSettings, OwnDataset, Preparation
from automata.config.protocol import KindProtocol, SearchName
from automata.config.sections import (
    Carbon,
    Comparison,
    Compute,
    JobRequest,
    LearningCurves,
    Metering,
    Models,
    RayCluster,
    SchedulerSettings,
    SearchSettings,
    SelectorSettings,
)
from automata.datasets.catalog import DATASETS
from automata.files import write_text
from automata.registry import CONTROLS, OWN, REGISTRIES, SCHEDULERS, SELECTORS, TARGET, Kind

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

    parts: list[str] = []
    """configuration files whose grids are united; a data set may be in one of them only"""
    experiment: ExperimentName = "default"
    """name of the folder in `results/` with tables, figures and page; experiments share their
    runs"""
    datasets: Axis[DatasetName]
    """data sets: see below, and names of `own_datasets`"""
    searches: Axis[SearchName]
    """search algorithms"""
    schedulers: Axis[SchedulerName]
    """early stopping of trials"""
    selectors: Axis[SelectorName]
    """how trials choose their subsets: see the next table"""
    fractions: Axis[Fraction]
    """subset size, as a share of the training set; FULL is always all data"""
    seeds: Axis[Seed]
    """random seeds, one run for each: they fix configurations, weights, subsets and order"""
    untuned_seeds: Axis[Seed] | None = None
    """seeds of `untuned`, which is cheap and needs many; `null`: as `seeds`"""
    own_datasets: dict[DatasetName, OwnDataset] = {}
    """your own data sets by name: see [own data](#own-data)"""
    own_searches: dict[SearchName, Target] = {}
    """your own search algorithms by name, `"package.module:Class"`"""
    own_schedulers: dict[SchedulerName, Target] = {}
    """likewise your own schedulers"""
    own_selectors: dict[SelectorName, Target] = {}
    """likewise your own selectors"""
    learning_curves: LearningCurves | None = None
    """trainings that `snakemake learning_curves` records, for searches to be simulated on them;
    `null`: none"""
    archives: list[str] = []
    """files of published records, relative to the working directory. Tables, figures and page are
    made of these records, and nothing is trained; `datasets` says which data sets get figures"""
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
                if name in REGISTRIES[kind]:
                    raise BadKeyError([key, name], f"is the name of a {kind} that the project has")
            for index, name in enumerate(getattr(self, axes[kind])):
                _require(name, [*REGISTRIES[kind], *own], [axes[kind], index])
        for kind, protocol in self.protocol:
            for name in protocol.for_search if protocol is not None else ():
                path = ["protocol", kind, "for_search"]
                _require(name, [*REGISTRIES["search"], *self.own_searches], path)
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
    """Return the JSON schema of an experiment file; a description is one line."""

    def flat(said: Any) -> Any:
        if isinstance(said, dict):
            return {key: flat(value) for key, value in said.items()}
        if isinstance(said, list):
            return [flat(value) for value in said]
        return " ".join(said.split()) if isinstance(said, str) and "\n" in said else said

    schema: dict[str, Any] = flat(Experiment.model_json_schema())
    return {"$schema": SCHEMA_DIALECT, **schema}


def write_schema(path: Path) -> None:
    """Write `json_schema()` to `path`."""
    write_text(path, json.dumps(json_schema(), indent=2) + "\n")
