"""States of training runs in files: written where losing them would cost more."""

from __future__ import annotations

import io
import logging
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from automata.files import replacing
from automata.training.run import TrainingRun

logger = logging.getLogger(__name__)

WRITING_SHARE = 0.01
"""Of the time of training, at most, for writing what a crash would lose."""

DAMAGED = (RuntimeError, EOFError, ValueError, KeyError, OSError, pickle.UnpicklingError)
"""What torch raises for a file that is not all there, or not as it was written."""


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write `state`, which has tensors, numbers and strings only, atomically."""
    buffer = io.BytesIO()  # of a full disk torch itself says "unexpected pos 64 vs 0"
    torch.save(state, buffer)
    with replacing(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())


def write_model(path: Path, run: TrainingRun) -> None:
    """Write the model of `run`, and of which epoch it is."""
    write_state(path, {"epochs": run.progress.epochs, "model": run.model.state_dict()})


def read_model(path: Path, epochs: int) -> dict[str, torch.Tensor] | None:
    """Return the model at `path`, None if there is none of that epoch."""
    state = read_state(path)
    return None if state is None or state["epochs"] != epochs else state["model"]


def read_state(path: Path) -> dict[str, Any] | None:
    """Return the state at `path`, None if there is none or it is damaged."""
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
    except DAMAGED as error:
        logger.warning("%s: damaged, not used: %s", path, type(error).__name__)
        return None
    return state


class Thrift:
    """Says when to write a state: when what would be lost took a hundred times the writing."""

    def __init__(self) -> None:
        self._cost = 0.0
        self._written: dict[int, float] = {}

    def write(self, number: int, trained: float, write: Callable[[], None]) -> None:
        """Call `write` if run `number`, which took `trained` seconds so far, is worth that."""
        if WRITING_SHARE * (trained - self._written.get(number, 0.0)) < self._cost:
            return
        start = time.perf_counter()
        write()
        self._cost = time.perf_counter() - start
        self._written[number] = trained
