"""What a measured job asks a cluster for."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from automata.config.base import BadKeyError, Count, NonNegative, Section


class JobRequest(Section):
    """What a measured job asks a cluster for, besides CPUs, which follow from `compute`.

    No run reads it. Numbers differ from cluster to cluster: config.yaml states the first guess,
    the code has none. Names end on a command line, hence the patterns.
    """

    memory_mb: Annotated[
        Count,
        Field(description="memory, in MB as SLURM counts them; each retry asks for twice as much"),
    ]
    minutes: Annotated[
        Count, Field(description="longest run time; each retry asks for twice as much")
    ]
    gpus: Annotated[
        NonNegative,
        Field(description="GPUs of a job, all on one node; it sees no others"),
    ]
    gpu_type: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None,
        Field(description="type of the GPUs, as the cluster calls it; `null`: any"),
    ]
    partition: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.,-]*$")] | None,
        Field(
            description="partition, or several with commas between; `null`: the cluster's default"
        ),
    ]

    @model_validator(mode="after")
    def _type_of_something(self) -> Self:
        if self.gpu_type is not None and not self.gpus:
            raise BadKeyError(["gpu_type"], "needs job.gpus to be 1 or more")
        return self
