"""What is compared: ways to run the same training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from automata.training.run import TrainingRun
from benchmarks.workloads import Workload


@dataclass(frozen=True)
class Variant:
    """How a training run computes."""

    precision: str = "float32"
    channels_last: bool = True
    compiled: bool = False


VARIANTS = {
    "plain": Variant(channels_last=False),
    "channels-last": Variant(),
    "channels-last, bfloat16": Variant(precision="bfloat16"),
    "channels-last, compiled": Variant(compiled=True),
    "channels-last, bfloat16, compiled": Variant(precision="bfloat16", compiled=True),
}
"""The first is what the others are compared with."""


def training_run(
    workload: Workload, variant: Variant, device: torch.device, *arguments: Any
) -> TrainingRun:
    """Return a run of `workload` under `variant`; `arguments` are those of `Workload.run`."""
    options: dict[str, Any] = {"precision": variant.precision, "compiled": variant.compiled}
    run = workload.run(*arguments, device=device, **options)
    if not variant.channels_last:
        without_channels_last(run.model)
    return run


def without_channels_last(model: Any) -> None:
    """Give a ResNet torch's usual memory format."""
    model.memory_format = torch.contiguous_format
    model.to(memory_format=model.memory_format)
