"""Timing on a busy machine: interleaved rounds, medians, ratios within a round."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import torch

Seconds = dict[str, list[float]]
"""Name of a contender -> its seconds in each round."""


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> Seconds:
    """Time every contender once a round, in turn, after a warm-up round.

    Other work of the machine slows the contenders of a round alike.
    """
    seconds: Seconds = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, run in contenders.items():
            elapsed = stopwatch(run)
            if number:
                seconds[name].append(elapsed)
    return seconds


def stopwatch(run: Callable[[], object]) -> float:
    """Return the wall seconds of `run`, with its work on the GPU."""
    _wait()
    start = time.perf_counter()
    run()
    _wait()
    return time.perf_counter() - start


def python(folder: Path, *arguments: object) -> dict[str, float]:
    """Run a Python process in `folder`; return its `wall s` and `CPU s`.

    Raises RuntimeError, with the end of its output, if it fails.
    """
    output = folder / "output.txt"
    start = time.perf_counter()
    with output.open("wb") as file:
        command = [sys.executable, *map(str, arguments)]
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=file)
        _, status, usage = os.wait4(process.pid, 0)
    cost = {"wall s": time.perf_counter() - start, "CPU s": usage.ru_utime + usage.ru_stime}
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(output.read_text(encoding="utf-8")[-2000:])
    return cost


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> float:
    """Return the median of the ratios within each round."""
    return median(a / b for a, b in zip(numerator, denominator, strict=True))


def _wait() -> None:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
