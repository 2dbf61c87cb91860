"""A worker that outlives the process that started it, as Ray's do when the raylet is killed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

WORKER = """
import os, sys, time

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(10_000))
    return time.process_time()

print(os.getpid(), flush=True)
for line in sys.stdin:
    print(eval(line), flush=True)
"""
STARTER = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {WORKER!r}]).wait()"


class Worker:
    """The worker, which evaluates what it reads."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.starter = subprocess.Popen([sys.executable, "-c", STARTER], bufsize=1, **pipes)
        self.process = psutil.Process(int(self.starter.stdout.readline()))

    def orphan(self) -> None:
        self.starter.kill()
        self.starter.wait()

    def burn(self, seconds: float) -> float:
        """Let it use so many CPU seconds, and return all that it has used."""
        self.starter.stdin.write(f"burn({seconds})\n")
        return float(self.starter.stdout.readline())


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
