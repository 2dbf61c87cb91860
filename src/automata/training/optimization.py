"""Optimizer and learning-rate schedule of a configuration."""

from __future__ import annotations

from typing import Any

from torch.optim import SGD, Adam, Optimizer
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LRScheduler, StepLR

from automata.config import Protocol
from automata.models.classifier import Classifier


def build_optimizer(
    model: Classifier, configuration: dict[str, Any], protocol: Protocol
) -> Optimizer:
    """Return the `optimizer` of `configuration` over all parameters of `model`."""
    rate, decay = configuration["learning_rate"], protocol.weight_decay
    if configuration["optimizer"] == "adam":
        return Adam(model.parameters(), lr=rate, weight_decay=decay, fused=True)
    return SGD(
        model.parameters(), lr=rate, momentum=protocol.momentum, weight_decay=decay, fused=True
    )


def build_schedule(
    optimizer: Optimizer, configuration: dict[str, Any], protocol: Protocol
) -> LRScheduler:
    """Return the `schedule` of `configuration`, stepped once an epoch, over T epochs."""
    schedule = configuration["schedule"]
    if schedule == "cosine":
        return CosineAnnealingLR(optimizer, T_max=protocol.epochs)
    if schedule == "step":
        return StepLR(optimizer, step_size=protocol.decay_every, gamma=protocol.decay_factor)
    return ConstantLR(optimizer, factor=1.0)
