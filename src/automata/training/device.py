"""The device that a job trains on."""

from __future__ import annotations

import os

import torch

from automata.errors import UserError


def choose_device(name: str) -> torch.device:
    """Return the device called `name`; `auto` is a GPU where there is one.

    Raises UserError when a GPU is asked for and there is none.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("compute.device: cuda: torch sees no GPU here (valid: auto, cpu, cuda)")
    if name == "cuda":
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
