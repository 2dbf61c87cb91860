"""Training runs that wait, until their bracket is judged, to go on or to be forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from automata.training.run import TrainingRun

MEMORY_BYTES = 256 * 1024**2
"""What runs that wait may take of the memory of the process that trains them."""


class PausedRuns:
    """Keeps runs by number: in `memory_bytes` of this process, and what is more in `folder`.

    With no memory given, everything is in files that any process can go on from. Nobody says
    when a run that waits is stopped, so that it keeps its place.
    """

    def __init__(self, folder: Path, memory_bytes: int) -> None:
        self._folder = folder
        self._free = memory_bytes
        self._runs: dict[int, TrainingRun] = {}

    def put(self, number: int, run: TrainingRun) -> None:
        """Keep `run` as it is now."""
        if number in self._runs:
            self._free += _bytes(self._runs.pop(number))
        size = _bytes(run)
        if size <= self._free:
            self._free -= size
            self._runs[number] = run
        else:
            self._folder.mkdir(parents=True, exist_ok=True)
            torch.save(run.state(), self._file(number))

    def take(self, number: int, build: Callable[[], TrainingRun]) -> TrainingRun | None:
        """Return run `number` as it was kept, None if it was not.

        `build` makes a new run with its arguments.
        """
        run = self._runs.pop(number, None)
        if run is not None:
            self._free += _bytes(run)
        elif self._file(number).exists():
            state: dict[str, Any] = torch.load(self._file(number), weights_only=True)
            run = build()
            run.restore(state)
        return run

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.pt"


def _bytes(run: TrainingRun) -> int:
    """Return the memory of the model, its gradients and the optimizer's state."""
    model = list(run.model.parameters())
    tensors = [*model, *model, *run.model.buffers()]
    for state in run.optimizer.state.values():
        tensors += [value for value in state.values() if isinstance(value, torch.Tensor)]
    return sum(tensor.nbytes for tensor in tensors)
