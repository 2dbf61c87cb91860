"""What one job may use, and how it is measured."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from automata.config.base import Count, Section


class Compute(Section):
    """What one job may use. How many jobs run at once is Snakemake's business, not ours."""

    device: Annotated[
        Literal["auto", "cpu", "cuda"], Field(description="auto: a GPU where there is one")
    ] = "auto"
    threads_per_trial: Annotated[Count, Field(description="CPU threads of a trial")] = 1
    concurrent_trials: Annotated[
        Count, Field(description="Trials at once; only 1 makes ASHA repeatable")
    ] = 1
    gpu_per_trial: Annotated[
        float | None,
        Field(gt=0, le=1, description="Share of a GPU that Ray gives a trial; null: equal shares"),
    ] = None
    precision: Annotated[
        Literal["float32", "bfloat16"],
        Field(description="Of the arithmetic in training and selection; bfloat16 is for GPUs"),
    ] = "float32"
    compiled: Annotated[
        bool,
        Field(description="Image models train by torch.compile, on a GPU as CUDA graphs"),
    ] = False


class RayCluster(Section):
    """Where trials run. It changes no setting of a run, and repeats none."""

    address: Annotated[
        str | None,
        Field(
            pattern=r"^(auto|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[1-9][0-9]{0,4})$",
            description="Existing Ray cluster: host:port, or auto for the one of this host; "
            "null: each job starts a Ray of its own",
        ),
    ] = None


class Metering(Section):
    """How time and energy are measured."""

    exclusive: Annotated[
        bool, Field(description="Measured jobs of this host wait for each other")
    ] = True
    sample_seconds: Annotated[
        float, Field(gt=0, le=60, description="Seconds between reads of the energy counters")
    ] = 5.0
