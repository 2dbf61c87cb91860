"""Every configuration key: its meaning, unit, default and valid values, defined once.

`config/schema.json`, which the workflow checks a configuration against, is generated from
`Experiment`; `Job` is the part of an experiment that one tuning job reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from automata.datasets.catalog import DATASETS
from automata.errors import UserError
from automata.files import write_text
from automata.models import MODELS
from automata.selection import SELECTORS
from automata.tuning import SCHEDULERS, SEARCHES

T = TypeVar("T")

SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Section(BaseModel):
    """A part of the configuration; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Checked:
    """Metadata of a type: a check of its own, and the same in the words of JSON schema."""

    def __init__(self, check: Callable[[Any], Any], **schema: Any) -> None:
        self._check = check
        self._schema = schema

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), **self._schema}


def one_of(names: dict[str, Any]) -> Checked:
    """Return the metadata of a string that must be a key of the registry `names`."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"'{name}' is not one of {', '.join(names)}")
        return name

    return Checked(check, enum=list(names))


def axis() -> Checked:
    """Return the metadata of a grid axis: a list that is not empty and repeats nothing."""

    def check(values: list[Any]) -> list[Any]:
        if not values:
            raise ValueError("the list is empty")
        if len(set(values)) != len(values):
            raise ValueError(f"{values} has a value twice")
        return values

    return Checked(check, minItems=1, uniqueItems=True)


DatasetName = Annotated[str, one_of(DATASETS)]
SearchName = Annotated[str, one_of(SEARCHES)]
SchedulerName = Annotated[str, one_of(SCHEDULERS)]
SelectorName = Annotated[str, one_of(SELECTORS)]
ModelName = Annotated[str, one_of(MODELS)]
Seed = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(gt=0, le=1)]


class Uniform(Section):
    """A positive float, uniformly between the two bounds."""

    uniform: tuple[PositiveFloat, PositiveFloat]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.uniform[0] >= self.uniform[1]:
            raise ValueError(f"lower bound {self.uniform[0]} is not below {self.uniform[1]}")
        return self


class Choice(Section, Generic[T]):
    """One of the listed values, each as likely."""

    choice: Annotated[list[T], Field(min_length=1)]


class TabularSpace(Section):
    """The hyper-parameters of the tabular protocol (paper, appendix 'Details of Tabular...')."""

    learning_rate: Annotated[
        Uniform, Field(description="Learning rate, e.g. {uniform: [0.001, 0.01]}")
    ]
    optimizer: Choice[Literal["adam", "sgd"]]
    schedule: Annotated[
        Choice[Literal["none", "cosine", "step"]],
        Field(description="Learning rate over the epochs; step: decay_factor every decay_every"),
    ]
    hidden1: Annotated[Choice[PositiveInt], Field(description="Units of the first hidden layer")]
    hidden2: Annotated[Choice[PositiveInt], Field(description="Units of the second hidden layer")]
    batch_size: Annotated[Choice[PositiveInt], Field(description="Samples per mini-batch")]


class Protocol(Section):
    """How the data sets of one kind are tuned and trained."""

    model: Annotated[ModelName, Field(description="Model")]
    configurations: Annotated[PositiveInt, Field(description="Configurations (trials) per search")]
    epochs: Annotated[PositiveInt, Field(description="T: epochs of a training that goes on")]
    reselect_every: Annotated[PositiveInt, Field(description="R: epochs between selections")]
    momentum: Annotated[float, Field(ge=0, lt=1, description="Momentum of SGD")] = 0.0
    weight_decay: Annotated[float, Field(ge=0, description="L2 penalty of the optimizer")] = 0.0
    decay_every: Annotated[
        PositiveInt, Field(description="Epochs between decays of the step schedule")
    ] = 20
    decay_factor: Annotated[
        float, Field(gt=0, le=1, description="Learning rate is multiplied by this at a decay")
    ] = 0.05
    search_space: Annotated[TabularSpace, Field(description="The hyper-parameters")]


class Protocols(Section):
    """One protocol for each kind of data."""

    tabular: Protocol


class TpeSettings(Section):
    """Tree-structured Parzen estimator (HyperOpt)."""

    startup_configurations: Annotated[
        PositiveInt, Field(description="Configurations drawn at random before TPE models any")
    ] = 20


class SearchSettings(Section):
    """Settings by search algorithm; those not named have none."""

    tpe: TpeSettings = TpeSettings()


WarmStart = Annotated[
    float,
    Field(ge=0, le=1, description="kappa: warm start on all data for ceil(kappa T k/N) epochs"),
]


class HyperbandSettings(Section):
    """Hyperband, with Ray Tune's brackets."""

    reduction_factor: Annotated[int, Field(ge=2, description="eta: one in eta goes on")] = 3
    warm_start: WarmStart = 0.0


class AshaSettings(Section):
    """Asynchronous successive halving."""

    reduction_factor: Annotated[int, Field(ge=2, description="eta: one in eta goes on")] = 4
    grace_period: Annotated[PositiveInt, Field(description="Epochs before the first rung")] = 1
    warm_start: WarmStart = 0.35


class NoSchedulerSettings(Section):
    """Every trial trains all epochs."""

    warm_start: WarmStart = 0.0


class SchedulerSettings(Section):
    """Settings by scheduler."""

    hyperband: HyperbandSettings = HyperbandSettings()
    asha: AshaSettings = AshaSettings()
    none: NoSchedulerSettings = NoSchedulerSettings()


class GradMatchSettings(Section):
    """Gradient matching by orthogonal matching pursuit (paper, equation 2)."""

    l2: Annotated[float, Field(ge=0, description="lambda: penalty on the squared weights")] = 0.0
    tolerance: Annotated[
        float, Field(ge=0, description="Stop at this relative gradient error; 0: at the budget")
    ] = 0.0


class SelectorSettings(Section):
    """Settings by selector; those not named have none."""

    gradmatch: GradMatchSettings = GradMatchSettings()


class Compute(Section):
    """What one job may use. How many jobs run at once is Snakemake's business, not ours."""

    device: Annotated[
        Literal["auto", "cpu", "cuda"], Field(description="auto: a GPU where there is one")
    ] = "auto"
    threads_per_trial: Annotated[PositiveInt, Field(description="CPU threads of a trial")] = 1
    concurrent_trials: Annotated[
        PositiveInt, Field(description="Trials at once; only 1 makes ASHA repeatable")
    ] = 1


class Metering(Section):
    """How time and energy are measured."""

    exclusive: Annotated[
        bool, Field(description="Measured jobs of this host wait for each other")
    ] = True
    sample_seconds: Annotated[
        float, Field(gt=0, le=60, description="Seconds between reads of the energy counters")
    ] = 5.0


class Experiment(Section):
    """A whole configuration: the grid of runs, and how each run is done."""

    datasets: Annotated[list[DatasetName], axis(), Field(description="Data sets")]
    searches: Annotated[list[SearchName], axis(), Field(description="Search algorithms")]
    schedulers: Annotated[list[SchedulerName], axis(), Field(description="Schedulers")]
    selectors: Annotated[list[SelectorName], axis(), Field(description="Subset selectors")]
    fractions: Annotated[
        list[Fraction], axis(), Field(description="Subset sizes, as shares of the training set")
    ]
    seeds: Annotated[list[Seed], axis(), Field(description="Root seeds, a run for each")]
    protocol: Protocols
    search: SearchSettings = SearchSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    selector: SelectorSettings = SelectorSettings()
    compute: Compute = Compute()
    metering: Metering = Metering()


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
    try:
        return Job(run=Run(**run), settings=Settings.model_validate_json(settings))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        value = json.dumps(first["input"], default=str)
        raise UserError(f"{key or error.title}: {first['msg']} (got {value})") from error


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of an experiment file."""
    # Snakemake takes a schema only with its dialect named.
    return {"$schema": SCHEMA_DIALECT, **Experiment.model_json_schema(), "x-kinds": kinds()}


def kinds() -> dict[str, str]:
    """Return the kind of each data set, which names its protocol."""
    return {name: spec.kind for name, spec in DATASETS.items()}


def write_schema(path: Path) -> None:
    """Write `json_schema()` to `path`."""
    write_text(path, json.dumps(json_schema(), indent=2) + "\n")
