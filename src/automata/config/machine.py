"""What one job may use, and how it is measured."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from automata.config.base import Count, Section


class Compute(Section):
    """What one job may use. How many jobs run at once is Snakemake's business, not ours."""

    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        Field(
            description="`auto` takes a GPU where torch sees one, and the CPU for tables: nobody "
            "has shown that their small models gain from a GPU"
        ),
    ] = "auto"
    threads_per_trial: Annotated[
        Count, Field(description="CPU threads of a trial and of the final training")
    ] = 1
    concurrent_trials: Annotated[
        Count,
        Field(
            description="trials that one job trains at the same time; with more than 1, ASHA is "
            "not repeatable"
        ),
    ] = 1
    gpu_per_trial: Annotated[
        float | None,
        Field(
            gt=0,
            le=1,
            description="share of a GPU that Ray gives to each trial; `null`: equal shares",
        ),
    ] = None
    precision: Annotated[
        Literal["float32", "bfloat16"],
        Field(
            description="arithmetic of matrix products in training, evaluation at rungs and "
            "selection; with `bfloat16`, meant for GPUs, weights, losses and the final "
            "test stay `float32`"
        ),
    ] = "float32"
    compiled: Annotated[
        bool,
        Field(
            description="image models train by `torch.compile`, on a GPU as CUDA graphs: needs a "
            "C++ compiler, on a GPU also Triton and the headers of Python. Compiling takes half a "
            "minute inside the measured windows. Epochs of ResNet18 with mini-batches of 20 are 3 "
            "times as fast on an H100, and no faster on a CPU"
        ),
    ] = False

    @property
    def gpus(self) -> int:
        """GPUs that the trials at once need: one each, unless they ask for less of one."""
        on_each = 1 if self.gpu_per_trial is None else int(1 / self.gpu_per_trial + 1e-6)
        return math.ceil(self.concurrent_trials / on_each)


class Models(Section):
    """Which runs leave a trained model. It changes no setting of a run, and repeats none."""

    keep: Annotated[
        Literal["own", "all", "none"],
        Field(
            description="which runs leave `model.safetensors` beside their record: those on "
            "`own_datasets`, all, or none; controls leave none"
        ),
    ] = "own"
    rows: Annotated[
        Literal["train", "train+validation"],
        Field(
            description="rows that the kept model is trained on; `train+validation` trains it "
            "once more, and its test accuracy is not the record's"
        ),
    ] = "train"


class RayCluster(Section):
    """Where trials run. It changes no setting of a run, and repeats none."""

    address: Annotated[
        str | None,
        Field(
            pattern=r"^(auto|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[1-9][0-9]{0,4})$",
            description="`null`: each job starts a Ray of its own, on its host; `host:port`: "
            "trials run on that Ray cluster, `auto`: on the one that this host belongs to",
        ),
    ] = None


class Metering(Section):
    """How time and energy are measured."""

    exclusive: Annotated[
        bool,
        Field(
            description="measured jobs of a host wait for each other, also those of another "
            "`snakemake`"
        ),
    ] = True
    sample_seconds: Annotated[
        float, Field(gt=0, le=60, description="seconds between two reads of the energy counters")
    ] = 5.0
