"""The folder of a job's unfinished work: from its files an interrupted job resumes."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from automata.locks import held


class Checkpoint(NamedTuple):
    """A file from which a trial resumes."""

    trial: int
    rungs: int
    """How many rungs the trial had reached."""
    path: Path


@dataclass(frozen=True)
class WorkFolder:
    """The files of unfinished work, by name."""

    path: Path

    @property
    def log(self) -> Path:
        """The log of the search."""
        return self.path / "log.jsonl"

    @property
    def refit(self) -> Path:
        """The checkpoint of the refit."""
        return self.path / "refit.pt"

    @property
    def ray(self) -> Path:
        """The files of Ray Tune; another process does not need them."""
        return self.path / "ray"

    def checkpoint(self, trial: int, rungs: int) -> Path:
        """Return the path of the checkpoint of a trial that has reached so many rungs."""
        return self.path / "checkpoints" / f"{trial}-{rungs}.pt"

    def checkpoints(self, trial: int | None = None) -> list[Checkpoint]:
        """Return the checkpoints on disk, of one trial or of all."""
        paths = (self.path / "checkpoints").glob(f"{'*' if trial is None else trial}-*.pt")
        return sorted(_checkpoint(path) for path in paths)

    def model(self, trial: int) -> Path:
        """Return the path of a trial's model at its latest rung: the best is tested under FULL."""
        return self.path / "models" / f"{trial}.pt"

    def only_worker(self) -> AbstractContextManager[float]:
        """Lock the folder for the body; yield the seconds waited for another process.

        The other process may be a job that outlived its Snakemake.
        """
        lock = FileLock(self.path / "lock")
        return held(lock, f"another process that works on {self.path}", needed=False)

    def clear(self) -> bool:
        """Remove all files but the lock; return whether there were any."""
        left = [path for path in self.path.iterdir() if path.name != "lock"]
        for path in left:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return bool(left)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def _checkpoint(path: Path) -> Checkpoint:
    number, _, rungs = path.stem.partition("-")
    return Checkpoint(int(number), int(rungs), path)
