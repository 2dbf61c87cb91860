"""The work folder of a job: an interrupted job resumes from its files."""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager
from pathlib import Path

from automata.locks import held


class WorkFolder:
    """Names the files of a work folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "log.jsonl"
        """The log of the search."""
        self.refit = path / "refit.pt"
        """The checkpoint of the refit."""
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
        """Lock the folder during the body; yield the seconds waited for another process.

        The other process may be a job that outlived its Snakemake.
        """
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
