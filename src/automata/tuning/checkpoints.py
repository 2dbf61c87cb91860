"""Checkpoints of trials, at their rungs and between them.

Writing one takes 7 ms for the model of a table and 0.4 s for a ResNet-18. A paused trial therefore
stays in memory if there is room, and a file is written only if that pays (`WRITING_SHARE`).
"""

from __future__ import annotations

import hashlib
import io
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from automata.files import replacing
from automata.training.run import TrainingRun
from automata.tuning.work import PhaseFolder

logger = logging.getLogger(__name__)

HOST_BYTES = 256 * 1024**2
"""Host memory that paused runs may take."""

GPU_SHARE = 0.2
"""Share of a GPU's free memory that paused runs may take."""

WRITING_SHARE = 0.01
"""Checkpoints that no pause needs take at most this share of the training time. Between two of
them a trial trains for at least this share of its time."""

DIGEST_BYTES = 32
"""Length of the SHA-256 at the end of a file: torch reads altered numbers without an error."""


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


def memory_of_paused_runs(device: torch.device) -> int:
    """Return how many bytes of `device` the paused runs of one process may take."""
    if device.type == "cpu":
        return HOST_BYTES
    torch.cuda.empty_cache()  # else torch keeps what earlier runs had
    free, _ = torch.cuda.mem_get_info(device)
    return int(GPU_SHARE * free)


class CheckpointStore:
    """Keeps the runs of a phase by trial: paused ones up to `memory_bytes`, the rest in files.

    Older files of a trial stay until the job has logged the new one (`live.LivePhase`).
    """

    def __init__(self, folder: PhaseFolder, memory_bytes: int) -> None:
        self._folder = folder
        self._memory_bytes = memory_bytes
        self._runs: dict[int, TrainingRun] = {}  # also those that the search stops while paused
        self._cost = self._began = 0.0  # the first file shows what writing costs
        self._saved_at: dict[int, float] = {}

    def put(self, trial: int, run: TrainingRun) -> bool:
        """Keep the paused `run` until `take`; return whether it was written to a file."""
        self._runs.pop(trial, None)
        if run.bytes + sum(it.bytes for it in self._runs.values()) > self._memory_bytes:
            self._write(trial, run)
            return True
        self._runs[trial] = run
        return self.save(trial, run)

    def save(self, trial: int, run: TrainingRun) -> bool:
        """Write `run` to a file if that pays; return whether it did."""
        trained = run.progress.seconds.total
        least = max(self._cost / WRITING_SHARE, WRITING_SHARE * trained)
        if trained - self._saved_at.get(trial, 0.0) < least:
            return False
        self._write(trial, run)
        return True

    def answered(self) -> None:
        """Count the time since the latest file was begun as its cost: the job has logged it now."""
        self._cost = time.perf_counter() - self._began

    def take(self, trial: int, epoch: int | None, build: Callable[[], TrainingRun]) -> TrainingRun:
        """Return a run from memory, else from its checkpoint after `epoch`, else from `build`."""
        if trial in self._runs:
            return self._runs.pop(trial)
        run = build()
        # By name: another host may see an old list of the folder's files.
        state = None if epoch is None else read_checkpoint(self._folder.checkpoint(trial, epoch))
        if state is not None and state["configuration"] == run.configuration:
            run.restore(state)
            self._saved_at[trial] = run.progress.seconds.total
        return run

    def _write(self, trial: int, run: TrainingRun) -> None:
        self._began = time.perf_counter()
        write_checkpoint(self._folder.checkpoint(trial, run.progress.epochs), run.state())
        self._saved_at[trial] = run.progress.seconds.total
        self.answered()
