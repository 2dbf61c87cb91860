"""The device that a job trains on."""

from __future__ import annotations

import os
import platform

import torch

from automata.errors import UserError

NO_GPU = "torch sees no GPU here (valid: auto, cpu, cuda)"


def choose_device(name: str) -> torch.device:
    """Return the device of a job that asks for `name`; `auto` is a GPU where there is one.

    Raises UserError when a GPU is asked for and there is none.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError(f"compute.device: cuda: {NO_GPU}")
    if name == "cuda":
        _make_repeatable()
    return torch.device(name)


def take_device(name: str) -> torch.device:
    """Return the device of its job, `cpu` or `cuda`, to a process that trains on it.

    Raises UserError where this process cannot have it.
    """
    if name == "cuda":
        if not torch.cuda.is_available():
            raise UserError(f"compute.device: cuda: {platform.node()}: {NO_GPU}")
        _make_repeatable()
    return torch.device(name)


def visible_gpus() -> list[str]:
    """Return the UUIDs of the GPUs that CUDA gives this process."""
    count = torch.cuda.device_count()
    return [str(torch.cuda.get_device_properties(index).uuid) for index in range(count)]


def _make_repeatable() -> None:
    """Have CUDA's libraries give the same numbers each time: one seed, one outcome.

    Both must be set before CUDA starts in this process (torch's notes on reproducibility).
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuDNN's LSTM reads it, too
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
