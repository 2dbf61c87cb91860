"""The device that a job trains on."""

from __future__ import annotations

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
    return torch.device(name)
