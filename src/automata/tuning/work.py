"""The files of unfinished work: an interrupted job resumes from them. They need no torch to find.

A job has two phases, the search and the final training, each with a folder of its own.
"""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from pathlib import Path

from automata.locks import held


class PhaseFolder:
    """The paths of one phase."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "log.jsonl"

    def checkpoint(self, trial: int, epoch: int) -> Path:
        """Return the path of the checkpoint of `trial` after `epoch`."""
        return self.path / "checkpoints" / f"{trial}-{epoch}.pt"

    def checkpoints(self) -> list[tuple[int, int, Path]]:
        """Return (trial, epoch, path) of the complete checkpoints, in order."""
        found = (self.path / "checkpoints").glob("[0-9]*.pt")
        parts = ((*path.stem.partition("-")[::2], path) for path in found)
        return sorted((int(trial), int(epoch), path) for trial, epoch, path in parts)

    def model(self, trial: int) -> Path:
        """Return the path of a trial's model, which may be that of the job."""
        return self.path / "models" / f"{trial}.pt"

    def clear(self) -> bool:
        """Remove the folder; return whether it was there."""
        there = self.path.exists()
        self.log.unlink(missing_ok=True)  # an error here must not be ignored
        shutil.rmtree(self.path, ignore_errors=True)
        return there


class WorkFolder:
    """The work folder of a job."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.search = PhaseFolder(path / "search")
        self.final = PhaseFolder(path / "final")
        self.ray = path / "ray"
        """The files of Ray Tune; another process does not need them."""

    def only_worker(self) -> AbstractContextManager[float]:
        """Lock the folder during the body; yield the seconds waited, for example for an orphan."""
        return held(self.path / "lock", f"another process that works on {self.path}", needed=False)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
