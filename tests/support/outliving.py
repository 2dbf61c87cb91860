"""A worker that outlives the process that started it, as Ray's do when the raylet is killed."""

import subprocess
import sys

import psutil

WORKER = """
import os, sys, time

print(os.getpid(), flush=True)
for seconds in sys.stdin:
    end = time.process_time() + float(seconds)
    while time.process_time() < end:
        sum(range(10_000))
    print(time.process_time(), flush=True)
"""
STARTER = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {WORKER!r}]).wait()"


class Worker:
    """The worker, which burns as many CPU seconds as it reads."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.starter = subprocess.Popen([sys.executable, "-c", STARTER], bufsize=1, **pipes)
        self.process = psutil.Process(int(self.starter.stdout.readline()))

    def burn(self, seconds: float) -> float:
        """Let it use so many CPU seconds, and return all that it has used."""
        self.starter.stdin.write(f"{seconds}\n")
        return float(self.starter.stdout.readline())
