"""Optimizer and learning-rate schedule of a configuration."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import SGD, Adam, Optimizer
from torch.optim.adam import adam
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LRScheduler, StepLR
from torch.optim.sgd import sgd

from automata.config import Protocol
from automata.experiments.checks import TRAINING
from automata.models.classifier import Classifier


def hyperparameters(configuration: dict[str, Any], protocol: Protocol) -> dict[str, Any]:
    """Return all hyper-parameters: the fixed ones of `protocol`, and over them the tuned."""
    fixed = {name: getattr(protocol, name) for name in TRAINING if hasattr(protocol, name)}
    return {**fixed, **configuration}


def build_optimizer(model: Classifier, values: dict[str, Any]) -> Optimizer:
    """Return the optimizer over the parameter groups of `model`, each with its learning rate.

    A group's rate is the hyper-parameter of its name, or else `learning_rate`.
    """
    groups = [
        {"params": parameters, "lr": values.get(name, values.get("learning_rate"))}
        for name, parameters in model.parameter_groups().items()
    ]
    decay = values["weight_decay"]
    if values["optimizer"] == "adam":
        return Adam(groups, weight_decay=decay, fused=True)
    momentum, nesterov = values["momentum"], values["nesterov"]
    return SGD(groups, momentum=momentum, weight_decay=decay, nesterov=nesterov, fused=True)


def build_schedule(optimizer: Optimizer, values: dict[str, Any], epochs: int) -> LRScheduler:
    """Return the schedule of the learning rates, stepped once an epoch, over T `epochs`."""
    if values["schedule"] == "cosine":
        return CosineAnnealingLR(optimizer, T_max=epochs)
    if values["schedule"] == "step":
        return StepLR(optimizer, step_size=values["decay_every"], gamma=values["decay_factor"])
    return ConstantLR(optimizer, factor=1.0)


class QuickStep:
    """Does what `optimizer.step()` does, at less than half of its cost for a small model.

    It calls torch's own fused update without the hooks, checks and look-ups around it. The
    first step, in which an optimizer makes its state, is the usual one.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        """Take an SGD or Adam of `build_optimizer`."""
        self._optimizer = optimizer
        self._update = _adam if isinstance(optimizer, Adam) else _sgd
        self._started = False

    @torch.no_grad()
    def __call__(self) -> None:
        """Update the parameters by their gradients."""
        if not self._started:
            self._started = True
            self._optimizer.step()
            return
        for group in self._optimizer.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            states = [self._optimizer.state.get(p, {}) for p in parameters]
            if (self._update is _adam or group["momentum"]) and not all(states):
                self._optimizer.step()  # a gradient that was not there in the first step
                return
            self._update(group, parameters, [p.grad for p in parameters], states)


State = list[dict[str, Tensor]]


def _sgd(group: dict[str, Any], parameters: list[Any], gradients: list[Any], state: State) -> None:
    sgd(
        parameters,
        gradients,
        [of_one.get("momentum_buffer") for of_one in state],
        fused=True,
        **{name: group[name] for name in _SGD_OPTIONS},
    )


def _adam(group: dict[str, Any], parameters: list[Any], gradients: list[Any], state: State) -> None:
    beta1, beta2 = group["betas"]
    adam(
        parameters,
        gradients,
        [of_one["exp_avg"] for of_one in state],
        [of_one["exp_avg_sq"] for of_one in state],
        [],
        [of_one["step"] for of_one in state],
        fused=True,
        beta1=beta1,
        beta2=beta2,
        **{name: group[name] for name in _ADAM_OPTIONS},
    )


_SGD_OPTIONS = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")
_ADAM_OPTIONS = ("lr", "amsgrad", "weight_decay", "eps", "maximize")
