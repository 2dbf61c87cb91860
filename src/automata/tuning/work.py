"""The work folder of a job, and its checkpoints: an interrupted job resumes from them.

Writing a checkpoint takes 7 ms for the model of a table and 0.4 s for a ResNet-18. A paused trial
therefore stays in memory if there is room, and is written only if that pays (`WRITING_SHARE`).
"""

from __future__ import annotations

import hashlib
import io
import logging
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch

from automata.files import replacing
from automata.locks import held
from automata.training.run import TrainingRun

logger = logging.getLogger(__name__)

HOST_BYTES = 256 * 1024**2
"""Host memory that paused runs may take."""

GPU_SHARE = 0.2
"""Share of a GPU's free memory that paused runs may take."""

WRITING_SHARE = 0.01
"""Largest share of the training time that writing may take."""

DIGEST_BYTES = 32
"""Length of the SHA-256 at the end of a file: torch reads altered numbers without an error."""


class WorkFolder:
    """The paths of a work folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "log.jsonl"
        self.refit = path / "refit.pt"
        self.ray = path / "ray"
        """The files of Ray Tune; another process does not need them."""

    def checkpoint(self, trial: int) -> Path:
        """Return the path of the checkpoint of `trial` at its latest rung."""
        return self.path / "checkpoints" / f"{trial}.pt"

    def model(self, trial: int) -> Path:
        """Return the path of a trial's model at its latest rung, for runs without a refit."""
        return self.path / "models" / f"{trial}.pt"

    def checkpoints(self) -> dict[int, Path]:
        """Return the complete checkpoints on disk, by trial."""
        paths = (self.path / "checkpoints").glob("[0-9]*.pt")
        return {int(path.stem): path for path in paths}

    def only_worker(self) -> AbstractContextManager[float]:
        """Lock the folder during the body; yield the seconds waited, for example for an orphan."""
        return held(self.path / "lock", f"another process that works on {self.path}", needed=False)

    def clear(self) -> bool:
        """Remove all files but the lock; return whether there were any."""
        paths = [path for path in self.path.iterdir() if path.name != "lock"]
        for path in paths:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return bool(paths)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write a state of tensors, numbers and strings to `path`, atomically."""
    buffer = io.BytesIO()  # on a full disk torch's own writer says "unexpected pos 64 vs 0"
    torch.save(state, buffer)
    content = buffer.getbuffer()
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.write(hashlib.sha256(content).digest())


def read_checkpoint(path: Path) -> dict[str, Any] | None:
    """Return the state at `path` in the host's memory, None if it is missing or damaged."""
    if not path.exists():
        return None
    content = path.read_bytes()
    body, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        logger.warning("%s: ignored, because it is damaged", path)
        return None
    state: dict[str, Any] = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    return state


class CheckpointPolicy:
    """Decides when a checkpoint pays (`WRITING_SHARE`). The first one shows what writing costs."""

    def __init__(self) -> None:
        self._cost = 0.0
        self._written: dict[int, float] = {}

    def write(self, number: int, trained: float, write: Callable[[], None]) -> None:
        """Call `write` if it pays for run `number`, which has trained for `trained` seconds."""
        if WRITING_SHARE * (trained - self._written.get(number, 0.0)) < self._cost:
            return
        start = time.perf_counter()
        write()
        self._cost = time.perf_counter() - start
        self._written[number] = trained


def memory_of_paused_runs(device: torch.device) -> int:
    """Return how many bytes of `device` the paused runs of one process may take."""
    if device.type == "cpu":
        return HOST_BYTES
    free, _ = torch.cuda.mem_get_info(device)
    return int(GPU_SHARE * free)


class CheckpointStore:
    """Keeps paused runs by number: up to `memory_bytes` in this process, the rest in files."""

    def __init__(self, work: WorkFolder, memory_bytes: int) -> None:
        self._work = work
        self._memory_bytes = memory_bytes
        self._runs: dict[int, TrainingRun] = {}  # also those that the search stops while paused
        self._policy = CheckpointPolicy()

    def put(self, number: int, run: TrainingRun) -> None:
        """Keep the paused `run` until `take`."""
        self._runs.pop(number, None)
        if sum(map(_bytes, [run, *self._runs.values()])) > self._memory_bytes:
            self._write(number, run)
        else:
            self._runs[number] = run
            self.save(number, run)

    def save(self, number: int, run: TrainingRun) -> None:
        """Write `run` to a file if that pays."""
        self._policy.write(number, run.progress.seconds.total, lambda: self._write(number, run))

    def take(self, number: int, build: Callable[[], TrainingRun]) -> TrainingRun:
        """Return run `number` from memory, else from its checkpoint, else new from `build`."""
        if number in self._runs:
            return self._runs.pop(number)
        run = build()
        state = read_checkpoint(self._work.checkpoint(number))
        if state is not None and state["configuration"] == run.configuration:
            run.restore(state)
        return run

    def _write(self, number: int, run: TrainingRun) -> None:
        write_checkpoint(self._work.checkpoint(number), run.state())


def _bytes(run: TrainingRun) -> int:
    """Return an upper bound: model, gradients, two moments of Adam, and weights for patience."""
    copies = 4 if run.patience is None else 5
    return copies * sum(parameter.nbytes for parameter in run.model.parameters())
