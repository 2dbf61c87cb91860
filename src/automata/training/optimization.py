"""The steps of a training: gradients, optimizer and learning rates."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor
from torch.optim import SGD, Adam, Optimizer
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, LRScheduler, StepLR

from automata.config.protocol import Protocol
from automata.config.sections import Compute
from automata.config.spaces import TRAINING
from automata.models.classifier import Classifier, Loss


def hyperparameters(configuration: dict[str, Any], protocol: Protocol) -> dict[str, Any]:
    """Return all hyper-parameters: the fixed ones of `protocol`, overridden by the tuned ones."""
    fixed = {name: getattr(protocol, name) for name in TRAINING if hasattr(protocol, name)}
    return {**fixed, **configuration}


def backward_of(
    model: Classifier, batch_size: int, compute: Compute
) -> Callable[[Tensor, Tensor, float], Tensor]:
    """Return a function as `model.backward` that computes gradients as `compute` says.

    It compiles full mini-batches alone, because a CUDA graph has one shape. A compiled step rounds
    differently from a plain one.
    """
    plain = partial(model.autograd_backward, precision=compute.precision)
    if not (compute.compiled and model.compiles):
        return model.backward if compute.precision == "float32" else plain
    compiled = partial(plain, compiled=_compiled_loss())

    def backward(inputs: Tensor, labels: Tensor, weight: float) -> Tensor:
        step = compiled if len(labels) == batch_size else plain
        return step(inputs, labels, weight)

    return backward


@cache
def _compiled_loss() -> Loss:
    """Return the compiled loss; all models of a process share it and its graphs."""
    return torch.compile(Classifier.loss, dynamic=False, mode="reduce-overhead")


def build_optimizer(model: Classifier, values: dict[str, Any]) -> Optimizer:
    """Return the optimizer of the parameter groups of `model`, each with its learning rate.

    The rate of a group is the hyper-parameter with the group's name, else `learning_rate`.
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


def quick_step(optimizer: Optimizer) -> Callable[[], None]:
    """Return `optimizer.step` without torch's wrapper, whose first call imports the compiler.

    That takes one second in each process, half of the search of a default job.
    """
    update = torch.no_grad()(inspect.unwrap(type(optimizer).step))
    # torch's wrapper sets this private flag; without it the schedule warns in each process.
    vars(optimizer)["_opt_called"] = True
    return partial(update, optimizer)


# The first call of these methods imports the compiler too, to exclude them from compilation. With
# this private attribute, torch takes that as done.
for _method in (Optimizer.add_param_group, Optimizer.state_dict, Optimizer.load_state_dict):
    _plain = inspect.unwrap(_method)
    vars(_plain)["__dynamo_disable"] = _plain
