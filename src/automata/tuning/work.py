"""The folder of a job's unfinished work, and its lock."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

logger = logging.getLogger(__name__)


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

    def state(self, index: int) -> Path:
        """Return where the state of a trial is that may go on."""
        return self.path / "states" / f"{index}.pt"

    def weights(self, index: int) -> Path:
        """Return where the model of a trial is, of its latest rung: FULL tests the best one."""
        return self.path / "weights" / f"{index}.pt"

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.path, ignore_errors=True)


@contextmanager
def only_worker(work: WorkFolder) -> Iterator[bool]:
    """Hold the folder for the body, and yield whether another process had it until then.

    That can be a job whose Snakemake was killed and which goes on. The kernel frees the lock
    when its holder dies, however it dies.
    """
    path = work.path / "lock"
    waited = False
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=-1 if waited else 0)
        except Timeout:
            logger.info("%s: another process works on this job: waiting for it", work.path)
            waited = True
        except FileNotFoundError:  # its last holder has removed the folder
            continue
        if lock.is_locked and path.exists():
            break
        lock.release()
    try:
        yield waited
    finally:
        lock.release()
