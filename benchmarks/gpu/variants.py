"""What is compared: ways to run the same training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from automata.config.machine import Compute
from automata.training.run import TrainingRun
from benchmarks.workloads import Workload

EAGER = Compute()


@dataclass(frozen=True)
class Variant:
    """How a training run computes."""

    compute: Compute = EAGER
    channels_last: bool = True


VARIANTS = {
    "plain": Variant(channels_last=False),
    "channels-last": Variant(),
    "channels-last, bfloat16": Variant(Compute(precision="bfloat16")),
    "channels-last, compiled": Variant(Compute(compiled=True)),
    "channels-last, bfloat16, compiled": Variant(Compute(precision="bfloat16", compiled=True)),
}
"""The first is what the others are compared with."""


def training_run(
    workload: Workload, variant: Variant, device: torch.device, *arguments: Any
) -> TrainingRun:
    """Return a run of `workload` under `variant`; `arguments` are those of `Workload.run`."""
    run = workload.run(*arguments, device=device, compute=variant.compute)
    if not variant.channels_last:
        without_channels_last(run.model)
    return run


def without_channels_last(model: Any) -> None:
    """Give a ResNet torch's usual memory format."""
    model.memory_format = torch.contiguous_format
    model.to(memory_format=model.memory_format)
