"""Training runs that wait, until their bracket is judged, to go on or to be forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from automata.training.run import TrainingRun
from automata.tuning.states import Thrift, read_state, write_state

MEMORY_BYTES = 256 * 1024**2
"""What runs that wait may take of the memory of the process that trains them."""


class PausedRuns:
    """Keeps runs by number: in `memory_bytes` of this process, and in the files that `file` names.

    In files are those that there is no memory for, and those that a crash should not lose.
    With no memory given, everything is in files that any process can go on from. Nobody says
    when a run that waits is stopped, so that it keeps its place; its file is removed from
    outside.
    """

    def __init__(self, file: Callable[[int], Path], memory_bytes: int) -> None:
        self._file = file
        self._free = memory_bytes
        self._runs: dict[int, TrainingRun] = {}
        self._thrift = Thrift()

    def put(self, number: int, run: TrainingRun) -> None:
        """Keep `run` as it is now, for `take`."""
        if number in self._runs:
            self._free += _bytes(self._runs.pop(number))
        size = _bytes(run)
        if size <= self._free:
            self._free -= size
            self._runs[number] = run
            self.save(number, run)
        else:
            write_state(self._file(number), run.state())

    def save(self, number: int, run: TrainingRun) -> None:
        """Write `run` as it is now to a file, if losing it would cost more."""
        trained = run.progress.seconds.total
        self._thrift.write(number, trained, lambda: write_state(self._file(number), run.state()))

    def take(self, number: int, build: Callable[[], TrainingRun]) -> TrainingRun | None:
        """Return run `number` as it was kept, None if it was not.

        `build` makes a new run with its arguments.
        """
        run = self._runs.pop(number, None)
        if run is not None:
            self._free += _bytes(run)
            return run
        state = read_state(self._file(number))
        if state is not None:
            run = build()
            run.restore(state)
        return run


def _bytes(run: TrainingRun) -> int:
    """Return the memory of the model, its gradients and the optimizer's state."""
    model = list(run.model.parameters())
    tensors = [*model, *model, *run.model.buffers()]
    for state in run.optimizer.state.values():
        tensors += [value for value in state.values() if isinstance(value, torch.Tensor)]
    return sum(tensor.nbytes for tensor in tensors)
