"""A worker that outlives the process that started it, as Ray's do when the raylet is killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

WORKER = """
import os, subprocess, sys, time
print(os.getpid(), flush=True)
for line in sys.stdin:
    if line == "start another\\n":
        another = [sys.executable, "-c", "import time; time.sleep(600)"]
        print(subprocess.Popen(another).pid, flush=True)
    else:
        end = time.process_time() + float(line)
        while time.process_time() < end:
            sum(range(10_000))
        print(time.process_time(), flush=True)
"""

STARTER = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {WORKER!r}]).wait()
"""


class Worker:
    """The worker, and what it is told to do."""

    def __init__(self) -> None:
        self.starter = subprocess.Popen(
            [sys.executable, "-c", STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.process = psutil.Process(int(self._answer()))

    def orphan(self) -> None:
        """Kill its parent."""
        self.starter.kill()
        self.starter.wait()
        assert self.process.ppid() != self.starter.pid

    def burn(self, seconds: float) -> float:
        """Let it use so many CPU seconds, and return all that it has used."""
        return float(self._tell(str(seconds)))

    def start_another(self) -> psutil.Process:
        """Let it start a process that sleeps."""
        return psutil.Process(int(self._tell("start another")))

    def _tell(self, line: str) -> str:
        assert self.starter.stdin is not None
        self.starter.stdin.write(f"{line}\n")
        return self._answer()

    def _answer(self) -> str:
        assert self.starter.stdout is not None
        return self.starter.stdout.readline()


@contextmanager
def worker() -> Iterator[Worker]:
    """Start a worker, and kill it with all it has started."""
    worker = Worker()
    try:
        yield worker
    finally:
        for process in [*worker.process.children(recursive=True), worker.process]:
            process.kill()
        worker.starter.kill()
        worker.starter.communicate()
