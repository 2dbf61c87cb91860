"""What is compared: ways to run the same training."""

from __future__ import annotations

from dataclasses import dataclass
from types import MethodType
from typing import Any

import torch
from torch import Tensor

from automata.models.resnet import ResNet
from automata.training.run import TrainingRun
from benchmarks.workloads import Workload


@dataclass(frozen=True)
class Variant:
    """How a training run computes."""

    precision: str = "float32"
    channels_last: bool = True


VARIANTS = {
    "plain": Variant(channels_last=False),
    "channels-last": Variant(),
    "channels-last, bfloat16": Variant(precision="bfloat16"),
}
"""The first is what the others are compared with."""


def training_run(
    workload: Workload, variant: Variant, device: torch.device, *arguments: Any
) -> TrainingRun:
    """Return a run of `workload` under `variant`; `arguments` are those of `Workload.run`."""
    run = workload.run(*arguments, device=device, precision=variant.precision)
    if not variant.channels_last:
        without_channels_last(run.model)
    return run


def without_channels_last(model: Any) -> None:
    """Give a ResNet torch's usual memory format."""
    model.to(memory_format=torch.contiguous_format)
    model.features = MethodType(_features, model)


def _features(model: ResNet, inputs: Tensor) -> Tensor:
    maps = model.layer2(model.layer1(model.stem(inputs)))
    means: Tensor = model.layer4(model.layer3(maps)).mean(dim=(2, 3))
    return means
