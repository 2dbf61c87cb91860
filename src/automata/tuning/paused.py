"""Training runs that wait, until their bracket is judged, to go on or to be forgotten."""

from __future__ import annotations

from collections.abc import Callable

import torch

from automata.training.run import TrainingRun
from automata.tuning.states import Thrift, read_state, write_state
from automata.tuning.work import WorkFolder

MEMORY_BYTES = 256 * 1024**2
"""What runs that wait may take of the memory of the process that trains them."""


class PausedRuns:
    """Keeps runs by number: in `memory_bytes` of this process, and in files of `work`.

    In files are those that there is no memory for, and those that a crash should not lose.
    With no memory given, everything is in files that any process can go on from. Nobody says
    when a run that waits is stopped, so that it keeps its place; its file is removed from
    outside.
    """

    def __init__(self, work: WorkFolder, memory_bytes: int) -> None:
        self._work = work
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
            self._write(number, run)

    def save(self, number: int, run: TrainingRun) -> None:
        """Write `run` as it is now to a file, if losing it would cost more."""
        self._thrift.write(number, run.progress.seconds.total, lambda: self._write(number, run))

    def take(self, number: int, build: Callable[[], TrainingRun]) -> TrainingRun | None:
        """Return run `number` as it was kept, None if it was not.

        `build` makes a new run with its arguments; the state of another configuration is not
        used.
        """
        run = self._runs.pop(number, None)
        if run is not None:
            self._free += _bytes(run)
            return run
        for kept in reversed(self._work.states(number)):
            state = read_state(kept.path)
            run = build()
            if state is not None and state["configuration"] == run.configuration:
                run.restore(state)
                return run
        return None

    def _write(self, number: int, run: TrainingRun) -> None:
        older = self._work.states(number)
        new = self._work.state(number, len(run.progress.evaluations))
        write_state(new, run.state())
        for state in older:
            if state.path != new:
                state.path.unlink(missing_ok=True)


def _bytes(run: TrainingRun) -> int:
    """Return the memory of the model, its gradients and the optimizer's state."""
    model = list(run.model.parameters())
    tensors = [*model, *model, *run.model.buffers()]
    for state in run.optimizer.state.values():
        tensors += [value for value in state.values() if isinstance(value, torch.Tensor)]
    return sum(tensor.nbytes for tensor in tensors)
