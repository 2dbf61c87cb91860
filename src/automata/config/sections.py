"""The sections of a configuration that are lists of keys."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, PositiveFloat, model_validator

from automata.config.base import (
    WHOLE,
    Axis,
    BadKeyError,
    Count,
    Integer,
    NonNegative,
    Section,
    Text,
    added,
    parsed,
)
from automata.config.spaces import Domain


class Compute(Section):
    """What one job may use. How many jobs run at once is Snakemake's business, not ours."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto` takes a GPU where torch sees one, and the CPU for tables: nobody has shown that their
    small models gain from a GPU"""
    threads_per_trial: Count = 1
    """CPU threads of a trial and of the final training"""
    concurrent_trials: Count = 1
    """trials that one job trains at the same time; with more than 1, ASHA is not repeatable"""
    gpu_per_trial: Annotated[float | None, Field(gt=0, le=1)] = None
    """share of a GPU that Ray gives to each trial; `null`: equal shares"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """arithmetic of matrix products in training, evaluation at rungs and selection; with
    `bfloat16`, meant for GPUs, weights, losses and the final test stay `float32`"""
    compiled: bool = False
    """image models train by `torch.compile`, on a GPU as CUDA graphs: needs a C++ compiler, on a
    GPU also Triton and the headers of Python. Compiling takes half a minute inside the measured
    windows. Epochs of ResNet18 with mini-batches of 20 are 3 times as fast on an H100, and no
    faster on a CPU"""

    @property
    def gpus(self) -> int:
        """GPUs that the trials at once need: one each, unless they ask for less of one."""
        on_each = 1 if self.gpu_per_trial is None else int(1 / self.gpu_per_trial + 1e-6)
        return math.ceil(self.concurrent_trials / on_each)


class Models(Section):
    """Which runs leave a trained model. It changes no setting of a run, and repeats none."""

    keep: Literal["own", "all", "none"] = "own"
    """which runs leave `model.safetensors` beside their record: those on `own_datasets`, all, or
    none; controls leave none"""
    rows: Literal["train", "train+validation"] = "train"
    """rows that the kept model is trained on; `train+validation` trains it once more, and its test
    accuracy is not the record's"""


class RayCluster(Section):
    """Where trials run. It changes no setting of a run, and repeats none."""

    address: Annotated[
        str | None,
        Field(pattern="^(auto|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[1-9][0-9]{0,4})$"),
    ] = None
    """`null`: each job starts a Ray of its own, on its host; `host:port`: trials run on that Ray
    cluster, `auto`: on the one that this host belongs to"""


class Metering(Section):
    """How time and energy are measured."""

    exclusive: bool = True
    """measured jobs of a host wait for each other, also those of another `snakemake`"""
    sample_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    """seconds between two reads of the energy counters"""


class JobRequest(Section):
    """What a measured job asks a cluster for, besides CPUs, which follow from `compute`.

    No run reads it. Numbers differ from cluster to cluster: config.yaml states the first guess,
    the code has none. Names end on a command line, hence the patterns.
    """

    memory_mb: Count
    """memory, in MB as SLURM counts them; each retry asks for twice as much"""
    minutes: Count
    """longest run time; each retry asks for twice as much"""
    gpus: NonNegative
    """GPUs of a job, all on one node; it sees no others"""
    gpu_type: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None
    """type of the GPUs, as the cluster calls it; `null`: any"""
    partition: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.,-]*$")] | None
    """partition, or several with commas between; `null`: the cluster's default"""

    @model_validator(mode="after")
    def _type_of_something(self) -> Self:
        if self.gpu_type is not None and not self.gpus:
            raise BadKeyError(["gpu_type"], "needs job.gpus to be 1 or more")
        return self


class TpeSettings(Section):
    """Tree-structured Parzen estimator (HyperOpt)."""

    startup_configurations: Count = 20
    """configurations that are drawn at random before TPE starts"""


class SearchSettings(Section):
    """Settings by search algorithm; those not named have none."""

    tpe: TpeSettings = TpeSettings()


WarmStart = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description="kappa: a trial trains its first ceil(kappa T k/N) epochs on all data",
    ),
]


class HyperbandSettings(Section):
    """Hyperband, with Ray Tune's brackets."""

    reduction_factor: Annotated[int, Field(ge=2), WHOLE] = 3
    """eta: the best 1/eta of the trials continue at each rung"""
    warm_start: WarmStart = 0.0


class AshaSettings(Section):
    """Asynchronous successive halving."""

    reduction_factor: Annotated[int, Field(ge=2), WHOLE] = 4
    """eta: the best 1/eta of the trials continue at each rung"""
    grace_period: Count = 1
    """epochs after which a trial is first judged (the first rung)"""
    warm_start: WarmStart = 0.35


class ShaSettings(Section):
    """Successive halving: one bracket of Hyperband, with all trials."""

    reduction_factor: Annotated[int, Field(ge=2), WHOLE] = 3
    """eta: the best 1/eta of the trials continue at each rung"""
    warm_start: WarmStart = 0.0


class NoSchedulerSettings(Section):
    """Every trial trains all epochs."""

    warm_start: WarmStart = 0.0


class SchedulerSettings(Section):
    """Settings by scheduler; those not named have none."""

    hyperband: HyperbandSettings = HyperbandSettings()
    asha: AshaSettings = AshaSettings()
    sha: Annotated[ShaSettings, added(ShaSettings())] = ShaSettings()
    none: NoSchedulerSettings = NoSchedulerSettings()


class GradMatchSettings(Section):
    """Gradient matching by orthogonal matching pursuit (paper, equation 2)."""

    l2: Annotated[float, Field(ge=0)] = 0.0
    """lambda: penalty on the squared weights"""
    tolerance: Annotated[float, Field(ge=0)] = 0.0
    """stop at this share of the gradient's norm left over; random mini-batches fill the subset"""


class AdaptiveGradMatchSettings(Section):
    """Gradient matching with a subset as large as the match asks for."""

    l2: Annotated[float, Field(ge=0)] = 0.0
    """lambda: penalty on the squared weights"""
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.1
    """stop at this share of the gradient's norm left over: smaller takes more data. On satimage
    0.05, 0.1 and 0.2 took 19, 13 and 9 % where 30 % were allowed (Adam, mini-batches of 32)"""
    floor: Annotated[float, Field(gt=0, le=1)] = 0.01
    """smallest subset, as a share of the training set"""


class GlisterSettings(Section):
    """Validation gain of one gradient step, to first order (Killamsetty et al., 2021)."""

    updates: Count = 15
    """validation gradients per selection: more are slower and nearer to the paper's greedy choice,
    which takes one per chosen mini-batch"""


class SelectorSettings(Section):
    """Settings by selector; those not named have none."""

    # The key is the selector's name, which is no Python name; records hold the field's.
    model_config = ConfigDict(validate_by_name=True)

    gradmatch: GradMatchSettings = GradMatchSettings()
    gradmatch_adaptive: Annotated[AdaptiveGradMatchSettings, Field(alias="gradmatch-adaptive")] = (
        AdaptiveGradMatchSettings()
    )
    glister: GlisterSettings = GlisterSettings()

    def of(self, selector: str) -> dict[str, Any]:
        """Return the settings of the selector of that name, as arguments of its class."""
        settings = getattr(self, selector.replace("-", "_"), None)
        return settings.model_dump() if settings is not None else {}


class Carbon(Section):
    """How CO2 is computed. No run reads it: a change repeats the reductions only.

    The intensity has no default here: a figure of CO2 without a stated grid means nothing.
    """

    grams_per_kwh: PositiveFloat
    """carbon intensity of the electricity, g CO2e per kWh; the code has no default"""
    region: Text
    """region of the intensity; change it together with year and source"""
    year: Integer
    """year of the intensity"""
    source: Text
    """source of the intensity"""
    pue: Annotated[float, Field(ge=1)] = 1.0
    """power usage effectiveness: a factor on energy, for cooling and supply; CO2 from time has
    none"""
    tdp_watts: PositiveFloat
    """design power, in W, of the device that CO2 from time assumes; its ratios do not depend on
    it"""
    tdp_source: Text
    """device, and source of its power"""


def parse_carbon(text: str) -> Carbon:
    """Return the section in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Carbon.model_validate_json(text))


class Comparison(Section):
    """Which runs ratios are made of; a change repeats no run."""

    resumed: bool = False
    """whether ratios use runs that were interrupted and resumed: their time and energy are sums
    over segments"""
    hosts: Literal["same", "alike"] = "same"
    """`same`: a run compares with a FULL of its own host (the same name, processor, number of cores
    and GPUs); `alike`: also with one of a host with the same processor, number of cores and GPUs,
    as the nodes of a cluster are"""


def parse_comparison(text: str) -> Comparison:
    """Return the section in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Comparison.model_validate_json(text))


class Simulated(Section):
    """What searches are simulated of, on the learning curves of a data set."""

    pool: Count
    """How many configurations there are."""
    pool_seed: int
    """Of the random search that proposes them."""
    configurations: Count
    """Of a search."""
    epochs: Count
    """T."""
    searches: list[str]
    """Those that search the same space."""
    schedulers: list[str]
    search: SearchSettings
    scheduler: SchedulerSettings
    space: dict[str, Domain]


Share = Annotated[float, Field(gt=0, le=1)]


class LearningCurves(Section):
    """Every configuration of a pool is trained to its end under each selector and fraction."""

    pool: Count = 64
    """configurations: the first that random search proposes"""
    seeds: Axis[NonNegative] = [0, 1, 2]
    """seeds of weights, subsets and order: a training for each"""
    warm_starts: dict[str, Axis[Share]] = {}
    """kappa by selector: trainings with warm start, beside those without"""
    horizon_exponents: dict[str, Axis[Share]] = {}
    """beta by selector: trainings with such exponents, beside those without"""
    part: Count = 16
    """configurations of one job"""
    recorded: str | None = None
    """a folder of published learning curves: what it has is not trained again"""
    train: bool = True
    """`false`: searches are simulated on the curves that there are"""
    real: list[str] = []
    """folders of tables of real runs, which simulated ones are held against"""
