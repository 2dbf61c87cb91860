"""The whole configuration: the grid of runs, and the settings of each run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Annotated, Self

from pydantic import Field, model_validator

from automata.catalog import DATASETS
from automata.config import sections
from automata.config.base import Axis, BadKeyError, NonNegative, Section, Share, inside, invalid
from automata.config.data import DataSettings, OwnDataset, Preparation
from automata.config.protocol import KindProtocol, SearchName
from automata.config.spaces import check_configuration
from automata.registry import (
    CONTROLS,
    METHODS,
    OWN,
    REGISTRIES,
    SCHEDULERS,
    TARGET,
    Kind,
    goes_together,
)

TAKEN = ("curves", "data", "downloads", "reference", "runs", "work")
"""Folders in results/ that are not experiments."""

MOST_RUNS = 20_000
"""The most runs; Snakemake plans them in a minute."""

# Names are part of paths and command lines; file systems allow 255 characters for a name.
DatasetName = Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
ExperimentName = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9-]{0,99}$")]
_METHOD = "^[a-z0-9]+(-[a-z0-9]+)*$"
SchedulerName = Annotated[str, Field(pattern=_METHOD, max_length=40, examples=list(SCHEDULERS))]
SelectorName = Annotated[str, Field(pattern=_METHOD, max_length=40, examples=list(METHODS))]
Target = Annotated[str, Field(pattern=TARGET)]
Seed = NonNegative


class Protocols(Section):
    """One protocol for each kind of data that the grid has."""

    tabular: KindProtocol | None = None
    text: KindProtocol | None = None
    image: KindProtocol | None = None


class Experiment(Section):
    """A whole configuration."""

    parts: list[str] = []
    """configuration files whose grids are united; each data set may be in only one of them"""
    experiment: ExperimentName = "default"
    """folder in `results/` for tables, figures and page; experiments share their runs"""
    datasets: Axis[DatasetName]
    """data sets: see below, and names in `own_datasets`"""
    searches: Axis[SearchName]
    """search algorithms"""
    schedulers: Axis[SchedulerName]
    """methods that stop trials early: see below"""
    selectors: Axis[SelectorName]
    """methods that select the training rows of trials: see the next table"""
    fractions: Axis[Share]
    """subset sizes, as shares of the training set; `full`, `full-again` and `untuned` have none"""
    seeds: Axis[Seed]
    """random seeds, one run for each; a seed fixes configurations, weights, subsets and order"""
    untuned_seeds: Axis[Seed] | None = None
    """seeds of `untuned`, which is cheap but needs many; `null`: the same as `seeds`"""
    own_datasets: dict[DatasetName, OwnDataset] = {}
    """your own data sets by name: see [own data](#own-data)"""
    own_searches: dict[SearchName, Target] = {}
    """your own search algorithms by name, `"package.module:Class"`"""
    own_schedulers: dict[SchedulerName, Target] = {}
    """your own schedulers, likewise"""
    own_selectors: dict[SelectorName, Target] = {}
    """your own selectors, likewise"""
    archives: list[str] = []
    """files of published records, relative to the working directory. Tables, figures and page are
    made from these records without training; `datasets` selects the data sets of the figures"""
    data: DataSettings = DataSettings()
    protocol: Protocols
    search: sections.SearchSettings = sections.SearchSettings()
    scheduler: sections.SchedulerSettings = sections.SchedulerSettings()
    selector: sections.SelectorSettings = sections.SelectorSettings()
    compute: sections.Compute = sections.Compute()
    metering: sections.Metering = sections.Metering()
    ray: sections.RayCluster = sections.RayCluster()
    models: sections.Models = sections.Models()
    comparison: sections.Comparison = sections.Comparison()
    job: sections.JobRequest
    carbon: sections.Carbon

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Raise BadKeyError for the first key that does not suit the others."""
        self._check_names()
        self._check_axes()
        self._check_protocols()
        self._check_initial()
        return self

    def _check_names(self) -> None:
        if self.experiment in TAKEN:
            problem = f"{self.experiment} is the name of another folder in results/"
            raise BadKeyError(["experiment"], problem)
        taken = {"own_datasets": [*DATASETS, "all"]}  # tables have "all" for all data sets
        taken |= {OWN[kind]: [*methods] for kind, methods in REGISTRIES.items()}
        for key, names in taken.items():
            for name in getattr(self, key):
                if name in names:
                    raise BadKeyError([key, name], "the project has this name; choose another")

    def _check_axes(self) -> None:
        methods = {"search": "searches", "scheduler": "schedulers", "selector": "selectors"}
        for kind, axis in methods.items():
            known = [*REGISTRIES[kind], *getattr(self, OWN[kind])]
            for index, name in enumerate(getattr(self, axis)):
                _require(name, known, [axis, index])
        known = [*DATASETS, *self.own_datasets]
        for index, name in enumerate(self.datasets):
            _require(name, known, ["datasets", index], ", or one of own_datasets")
            kind = self.kind(name)
            if getattr(self.protocol, kind) is None:
                problem = f"{name} needs the section protocol.{kind}"
                raise BadKeyError(["datasets", index], problem)
        for index, scheduler in enumerate(self.schedulers):
            if not any(goes_together(scheduler, selector) for selector in self.selectors):
                problem = f"{scheduler} trains on all data, and needs {' or '.join(CONTROLS)}"
                raise BadKeyError(["schedulers", index], f"{problem} among the selectors")
        if (runs := self._number_of_runs()) > MOST_RUNS:
            axes = ["datasets", *methods.values(), "fractions", "seeds", "untuned_seeds"]
            longest = max(axes, key=lambda axis: len(getattr(self, axis) or ()))
            problem = f"with the other axes {runs:,} runs, of at most {MOST_RUNS:,}; give fewer"
            raise BadKeyError([longest], problem)

    def _number_of_runs(self) -> int:
        runs = 0
        for scheduler, selector in product(self.schedulers, self.selectors):
            fractions, seeds = self.sizes_of(selector)
            runs += goes_together(scheduler, selector) * len(fractions) * len(seeds)
        return len(self.datasets) * len(self.searches) * runs

    def _check_protocols(self) -> None:
        for kind, protocol in self.protocol:
            if protocol is not None:
                with inside("protocol", kind):
                    for name in protocol.for_search:
                        _require(name, [*REGISTRIES["search"], *self.own_searches], ["for_search"])
                    protocol.check(kind, self.searches)

    def _check_initial(self) -> None:
        for name, search in product(self.datasets, self.searches):
            protocol, types = self.protocol_of(name).under(search), self.protocol_of(name).types
            if len(self.search.initial) > protocol.configurations:
                problem = f"{len(self.search.initial)} are more than the {protocol.configurations}"
                raise BadKeyError(["search", "initial"], f"{problem} configurations of a search")
            for index, configuration in enumerate(self.search.initial):
                with inside("search", "initial", index):
                    check_configuration(configuration, protocol.search_space, types)

    def kind(self, dataset: str) -> Kind:
        """Return the kind of a data set, which names its protocol."""
        own = self.own_datasets.get(dataset)
        return DATASETS[dataset].kind if own is None else own.kind

    def protocol_of(self, dataset: str) -> KindProtocol:
        """Return the protocol of a data set of the grid."""
        protocol: KindProtocol = getattr(self.protocol, self.kind(dataset))
        return protocol

    def sizes_of(self, selector: str) -> tuple[Sequence[float], list[int]]:
        """Return the fractions and the seeds of a selector; a control has one fraction."""
        control = CONTROLS.get(selector)
        fractions = self.fractions if control is None else [control.fraction]
        return fractions, (selector == "untuned" and self.untuned_seeds) or self.seeds

    def preparation(self, dataset: str) -> Preparation:
        """Return the settings that decide the content of the prepared file of a data set."""
        return Preparation(
            vectors=self.data.vectors if self.kind(dataset) == "text" else None,
            sst2_neutral=self.data.sst2_neutral if dataset == "sst2" else None,
            own=self.own_datasets.get(dataset),
        )


def _require(name: str, valid: Iterable[str], path: Iterable[object], others: str = "") -> None:
    """Raise BadKeyError at `path` unless `name` is valid; `others` is added to the valid names."""
    if name not in valid:
        raise BadKeyError(path, invalid(name, f"{', '.join(valid)}{others}"))
