"""A worker that outlives the process that started it, as Ray's do when the raylet is killed."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

WORKER = """
import os, subprocess, sys, time

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(10_000))
    return time.process_time()

print(os.getpid(), flush=True)
for line in sys.stdin:
    print(eval(line), flush=True)
"""
SLEEPER = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid"
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
        return float(self._value_of(f"burn({seconds})"))

    def start_another(self) -> psutil.Process:
        return psutil.Process(int(self._value_of(SLEEPER)))

    def _value_of(self, expression: str) -> str:
        self.starter.stdin.write(f"{expression}\n")
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
