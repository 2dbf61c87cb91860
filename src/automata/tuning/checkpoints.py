"""Checkpoints of training runs, and the folder of a job's unfinished work that has them."""

from __future__ import annotations

import hashlib
import io
import logging
import pickle
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from automata.failures import ran_out_of_memory
from automata.files import replacing
from automata.locks import held
from automata.training.run import TrainingRun

logger = logging.getLogger(__name__)

HOST_BYTES = 256 * 1024**2
GPU_SHARE = 0.2
"""What runs that wait may take of the host's memory, and of what is free on a GPU."""

WRITING_SHARE = 0.01
"""Of the time of training, at most, for writing what a crash would lose."""

DAMAGED = (RuntimeError, EOFError, ValueError, KeyError, OSError, pickle.UnpicklingError)
"""What is raised for a file that is not all there, or not as it was written."""

DIGEST_BYTES = 32
"""A file ends with the SHA-256 of all before: torch itself reads altered numbers without a word."""


class Checkpoint(NamedTuple):
    """A file that a trial goes on from."""

    trial: int
    rungs: int
    """That it had reached."""
    path: Path


@dataclass(frozen=True)
class WorkFolder:
    """What an interrupted job goes on from, by name."""

    path: Path

    @property
    def log(self) -> Path:
        """What the search did so far."""
        return self.path / "log.jsonl"

    @property
    def refit(self) -> Path:
        """The checkpoint of the refit."""
        return self.path / "refit.pt"

    @property
    def ray(self) -> Path:
        """What Ray Tune writes; of no use to another process."""
        return self.path / "ray"

    def checkpoint(self, index: int, rungs: int) -> Path:
        """Return where the checkpoint of a trial is that has reached so many rungs."""
        return self.path / "checkpoints" / f"{index}-{rungs}.pt"

    def checkpoints(self, index: int | None = None) -> list[Checkpoint]:
        """Return the checkpoints that are there, of one trial or of all."""
        paths = (self.path / "checkpoints").glob(f"{'*' if index is None else index}-*.pt")
        return sorted(_checkpoint(path) for path in paths)

    def model(self, index: int) -> Path:
        """Return where the model of a trial is, of its latest rung: FULL tests the best one."""
        return self.path / "models" / f"{index}.pt"

    def only_worker(self) -> AbstractContextManager[float]:
        """Hold the folder for the body; the seconds are those that another process had it before.

        That can be a job whose Snakemake was killed and which goes on.
        """
        what = f"another process that works on {self.path}"
        return held(self.path / "lock", what, needed=False)

    def clear(self) -> bool:
        """Remove all but the lock; say whether there was anything."""
        left = [path for path in self.path.iterdir() if path.name != "lock"]
        for path in left:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return bool(left)

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.path, ignore_errors=True)


def _checkpoint(path: Path) -> Checkpoint:
    trial, _, rungs = path.stem.partition("-")
    return Checkpoint(int(trial), int(rungs), path)


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write `state`, which has tensors, numbers and strings only, atomically."""
    buffer = io.BytesIO()  # of a full disk torch itself says "unexpected pos 64 vs 0"
    torch.save(state, buffer)
    content = buffer.getbuffer()
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.write(hashlib.sha256(content).digest())


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Return the state at `path`, in the host's memory; None if there is none or it is damaged.

    Raises what torch does where memory or the GPU fails: the file may be sound.
    """
    if not path.exists():
        return None
    try:
        content = path.read_bytes()
        body, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != digest:
            raise ValueError
        state: dict[str, Any] = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    except DAMAGED as error:
        if ran_out_of_memory(error) or isinstance(error, torch.AcceleratorError):
            raise
        logger.warning("%s: damaged, not used: %s", path, type(error).__name__)
        return None
    return state


def write_model(path: Path, run: TrainingRun) -> None:
    """Write the model of `run`, and of which epoch it is."""
    write_checkpoint(path, {"epochs": run.progress.epochs, "model": run.model.state_dict()})


def read_model(path: Path, epochs: int) -> dict[str, torch.Tensor] | None:
    """Return the model at `path`, None if there is none of that epoch."""
    state = read_checkpoint(path)
    return None if state is None or state["epochs"] != epochs else state["model"]


class CheckpointPolicy:
    """Says when a checkpoint pays: when what would be lost took a hundred times the writing."""

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


def memory_of_waiting_runs(device: torch.device) -> int:
    """Return the bytes of `device` that the runs of one process may take while they wait."""
    if device.type == "cpu":
        return HOST_BYTES
    free, _ = torch.cuda.mem_get_info(device)
    return int(GPU_SHARE * free)


class CheckpointStore:
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
        self._policy = CheckpointPolicy()

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
        self._policy.write(number, run.progress.seconds.total, lambda: self._write(number, run))

    def take(self, number: int, build: Callable[[], TrainingRun]) -> TrainingRun | None:
        """Return run `number` as it was kept, None if it was not.

        `build` makes a new run with its arguments; the state of another configuration is not
        used.
        """
        run = self._runs.pop(number, None)
        if run is not None:
            self._free += _bytes(run)
            return run
        for kept in reversed(self._work.checkpoints(number)):
            state = read_checkpoint(kept.path)
            run = build()
            if state is not None and state["configuration"] == run.configuration:
                run.restore(state)
                return run
        return None

    def _write(self, number: int, run: TrainingRun) -> None:
        older = self._work.checkpoints(number)
        new = self._work.checkpoint(number, len(run.progress.evaluations))
        write_checkpoint(new, run.state())
        for checkpoint in older:
            if checkpoint.path != new:
                checkpoint.path.unlink(missing_ok=True)


def _bytes(run: TrainingRun) -> int:
    """Return the memory of the model, its gradients and the optimizer's state."""
    model = list(run.model.parameters())
    tensors = [*model, *model, *run.model.buffers()]
    for state in run.optimizer.state.values():
        tensors += [value for value in state.values() if isinstance(value, torch.Tensor)]
    return sum(tensor.nbytes for tensor in tensors)
