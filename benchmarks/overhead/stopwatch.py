"""Times of the parts of a process, for the process that started it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


class Stopwatch:
    """Splits the time since the start of a process into named laps."""

    def __init__(self, started: float) -> None:
        self._last = started
        self.seconds: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Add the time since the last lap to `name`."""
        now = time.time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def write(self, path: Path) -> None:
        """Write the laps and the end of the last one."""
        path.write_text(json.dumps({"seconds": self.seconds, "ended": self._last}))


def timed(module: str, laps: Path, *arguments: str) -> dict[str, float]:
    """Run `module` in a new process; return its laps, with "interpreter" and "exit".

    It gets the time of its start, the file for its laps, and `arguments`. Raises
    CalledProcessError if it fails.
    """
    command = [sys.executable, "-m", module, str(time.time()), str(laps), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    ended = time.time()
    written: dict[str, Any] = json.loads(laps.read_text())
    seconds: dict[str, float] = written["seconds"]
    return {**seconds, "exit": ended - written["ended"]}
