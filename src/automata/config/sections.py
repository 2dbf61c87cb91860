"""The sections of a configuration, except for data and protocol."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, NonNegativeFloat, PositiveFloat, model_validator

from automata.config.base import (
    WHOLE,
    BadKeyError,
    Count,
    Integer,
    NonNegative,
    Rungs,
    Section,
    Share,
    Text,
    added,
)
from automata.config.spaces import Scalar


class Compute(Section):
    """Resources of one job. Options of Snakemake decide how many jobs run at once."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto`: a GPU if torch finds one, but the CPU for tables, whose models are small"""
    threads_per_trial: Count = 1
    """CPU threads of a trial and of the final training"""
    concurrent_trials: Count = 1
    """trials that a job trains at the same time; with more than 1, ASHA is not reproducible"""
    gpu_per_trial: Share | None = None
    """share of a GPU that Ray gives to each trial; `null`: equal shares"""
    precision: Literal["float32", "bfloat16"] = "float32"
    """precision of matrix products in training, evaluation at rungs, and selection. `bfloat16` is
    for GPUs; weights, losses and the final test stay `float32`"""
    compiled: bool = False
    """train image models with `torch.compile`, on a GPU as CUDA graphs. It needs a C++ compiler, on
    a GPU also Triton and the headers of Python. The measured time includes the compilation, once in
    a process; see [GPUs](gpu.md#what-an-h100-does). It makes no epoch faster on a CPU"""

    @property
    def gpus(self) -> int:
        """Number of GPUs of all concurrent trials; each has one, or `gpu_per_trial` of one."""
        trials_per_gpu = 1 if self.gpu_per_trial is None else int(1 / self.gpu_per_trial + 1e-6)
        return math.ceil(self.concurrent_trials / trials_per_gpu)


class Models(Section):
    """Models that runs write. A change repeats no run."""

    keep: Literal["own", "all", "none"] = "own"
    """runs that write `model.safetensors` beside their record: those on `own_datasets`, all, or
    none; `full-again` and `untuned` never do"""
    rows: Literal["train", "train+validation"] = "train"
    """training rows of the kept model. `train+validation` trains it once more; the test accuracy
    in the record then belongs to the model on `train`. A model that is there stays: delete it"""


_ADDRESS = "^(auto|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[1-9][0-9]{0,4})$"


class RayCluster(Section):
    """Host or cluster of the trials. A change repeats no run."""

    address: Annotated[str | None, Field(pattern=_ADDRESS)] = None
    """`null`: each job starts Ray on its own host. `host:port`: trials run on that Ray cluster.
    `auto`: trials run on the Ray cluster of this host"""


class Metering(Section):
    """How time and energy are measured."""

    exclusive: bool = True
    """measured jobs of a host run one at a time, also those of different `snakemake` calls"""
    sample_seconds: Annotated[float, Field(gt=0, le=60)] = 5.0
    """seconds between two reads of the energy counters"""


class JobRequest(Section):
    """Resources of a measured job on a cluster; `compute` gives the CPUs. No run reads it."""

    # There are no defaults: they depend on the cluster. Names become part of a command line.
    memory_mb: Count
    """memory in MB, as SLURM counts them; each retry requests twice as much"""
    minutes: Count
    """time limit; each retry requests twice as much"""
    gpus: NonNegative
    """GPUs of a job, all on one node; the job sees no others"""
    gpu_type: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None
    """the cluster's name for the type of GPU; `null`: any"""
    partition: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.,-]*$")] | None
    """partition, or several separated by commas; `null`: the cluster's default"""

    @model_validator(mode="after")
    def _check_gpu_type(self) -> Self:
        if self.gpu_type is not None and not self.gpus:
            raise BadKeyError(["gpu_type"], "needs job.gpus to be 1 or more")
        return self


class MethodSettings(Section):
    """Settings by method. Keys are the names of methods; fields are the same with underscores."""

    model_config = ConfigDict(
        alias_generator=lambda field: field.replace("_", "-"), validate_by_name=True
    )

    def of(self, method: str) -> dict[str, Any]:
        """Return the settings of one method, as keyword arguments; empty if it has none."""
        section = getattr(self, method.replace("-", "_"), None)
        return section.model_dump() if isinstance(section, Section) else {}

    def only(self, method: str) -> Self:
        """Return the settings of one method and of all, with the defaults for other methods."""
        known = {method.replace("-", "_"), "initial"} & type(self).model_fields.keys()
        return type(self)(**{field: getattr(self, field) for field in known})


class TpeSettings(Section):
    """Tree-structured Parzen estimator (HyperOpt)."""

    startup_configurations: Count = 20
    """random configurations before TPE starts"""


class SearchSettings(MethodSettings):
    """Settings of search algorithms; those without a key have none."""

    initial: Annotated[list[dict[str, Scalar]], added([])] = []
    """configurations that every search tries first, before its own: each with a value for every
    hyper-parameter of `search_space`"""
    tpe: TpeSettings = TpeSettings()


_ETA = "eta: the best 1/eta of the trials continue at each rung"
_KAPPA = (
    "kappa: trials on a fraction f of the data train their first ceil(kappa T f) epochs on all data"
)
ReductionFactor = Annotated[int, Field(ge=2, description=_ETA), WHOLE]
WarmStart = Annotated[float, Field(ge=0, le=1, description=_KAPPA)]


class HyperbandSettings(Section):
    """Hyperband, with Ray Tune's brackets."""

    reduction_factor: ReductionFactor = 3
    warm_start: WarmStart = 0.0


class AshaSettings(Section):
    """Asynchronous successive halving."""

    reduction_factor: ReductionFactor = 4
    grace_period: Count = 1
    """first rung: epochs before the first decision about a trial"""
    warm_start: WarmStart = 0.35


class ShaSettings(HyperbandSettings):
    """Successive halving: one bracket of Hyperband, with all trials."""

    rungs: Annotated[Rungs | None, added(None)] = None
    """share of T -> how many trials stay after so many epochs, fewer at each; the best one at T
    wins; `reduction_factor` is then unused. `null`: as Hyperband's most aggressive bracket"""


class NoSchedulerSettings(Section):
    """No early stopping."""

    warm_start: WarmStart = 0.0


class SchedulerSettings(MethodSettings):
    """Settings of schedulers; those without a key have none."""

    hyperband: HyperbandSettings = HyperbandSettings()
    asha: AshaSettings = AshaSettings()
    sha: Annotated[ShaSettings, added(ShaSettings())] = ShaSettings()
    none: NoSchedulerSettings = NoSchedulerSettings()


class GradMatchSettings(Section):
    """Gradient matching by orthogonal matching pursuit (paper, equation 2)."""

    l2: NonNegativeFloat = 0.0
    """lambda: penalty on the squared weights"""
    tolerance: NonNegativeFloat = 0.0
    """stop if the residual has at most this share of the gradient's norm; random mini-batches then
    fill the subset"""


class AdaptiveGradMatchSettings(GradMatchSettings):
    """Gradient matching with the smallest subset that matches well enough."""

    tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.1
    """stop if the residual has at most this share of the gradient's norm. On satimage, with at most
    30 %, Adam and batches of 32, 0.05, 0.1 and 0.2 took 19, 13 and 9 % of the data"""
    floor: Share = 0.01
    """smallest subset, as a share of the training set"""


class GlisterSettings(Section):
    """Validation gain of one gradient step, to first order (Killamsetty et al., 2021)."""

    updates: Count = 15
    """validation gradients per selection. More are slower, but nearer to the paper's greedy
    selection, which computes one for each mini-batch"""


class SelectorSettings(MethodSettings):
    """Settings of selectors; those without a key have none."""

    gradmatch: GradMatchSettings = GradMatchSettings()
    gradmatch_adaptive: AdaptiveGradMatchSettings = AdaptiveGradMatchSettings()
    glister: GlisterSettings = GlisterSettings()


class Carbon(Section):
    """Assumptions of all CO2 numbers. No run reads it: a change repeats tables and figures only."""

    grams_per_kwh: PositiveFloat
    """carbon intensity of the electricity, in g CO2e per kWh; no default in the code"""
    region: Text
    """region of the intensity; change region, year and source together"""
    year: Integer
    """year of the intensity"""
    source: Text
    """source of the intensity"""
    pue: Annotated[float, Field(ge=1)] = 1.0
    """power usage effectiveness: factor on energy for cooling and supply; not in CO2 from time"""
    tdp_watts: PositiveFloat
    """thermal design power, in W, of the device that CO2 from time assumes; no ratio needs it"""
    tdp_source: Text
    """device of `tdp_watts`, and source of its power"""


class Comparison(Section):
    """Which runs are compared. A change repeats no run."""

    resumed: bool = False
    """also compare runs that were resumed or extend a search; time and energy are sums over
    segments"""
    hosts: Literal["same", "alike"] = "same"
    """`same`: a run is compared with FULL on a host with the same name, processor, number of cores
    and GPUs. `alike`: the name may differ, as on the nodes of a cluster"""
