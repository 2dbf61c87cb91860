"""The folder of a job's unfinished work, and its lock."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from automata.locks import held


class State(NamedTuple):
    """A file with the state of a trial."""

    trial: int
    rungs: int
    path: Path


@dataclass(frozen=True)
class WorkFolder:
    """What an interrupted job goes on from, by name."""

    path: Path

    @property
    def journal(self) -> Path:
        """What the search did so far."""
        return self.path / "journal.jsonl"

    @property
    def search(self) -> Path:
        """The finished search."""
        return self.path / "search.json"

    @property
    def final(self) -> Path:
        """The state of the final training."""
        return self.path / "final.pt"

    @property
    def deliveries(self) -> Path:
        """Which known results the running search has seen."""
        return self.path / "delivered.txt"

    @property
    def ray(self) -> Path:
        """What Ray Tune writes; of no use to another process."""
        return self.path / "ray"

    def state(self, index: int, rungs: int) -> Path:
        """Return where the state of a trial is that may go on after so many rungs."""
        return self.path / "states" / f"{index}-{rungs}.pt"

    def states(self, index: int | None = None) -> list[State]:
        """Return the states that are there, of one trial or of all."""
        paths = (self.path / "states").glob(f"{'*' if index is None else index}-*.pt")
        return sorted(_state(path) for path in paths)

    def weights(self, index: int) -> Path:
        """Return where the model of a trial is, of its latest rung: FULL tests the best one."""
        return self.path / "weights" / f"{index}.pt"

    def clear(self) -> None:
        """Remove what another search left: models and states of its trials, and what followed."""
        for folder in ("states", "weights"):
            shutil.rmtree(self.path / folder, ignore_errors=True)
        for file in (self.search, self.final):
            file.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.path, ignore_errors=True)


def _state(path: Path) -> State:
    trial, _, rungs = path.stem.partition("-")
    return State(int(trial), int(rungs), path)


def only_worker(work: WorkFolder) -> AbstractContextManager[float]:
    """Hold the folder for the body; the seconds are those that another process had it until then.

    That can be a job whose Snakemake was killed and which goes on.
    """
    return held(FileLock(work.path / "lock"), f"another process that works on {work.path}")
