"""What a command costs, with all processes that it starts and waits for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.grids import ROOT


@dataclass(frozen=True)
class Cost:
    """Time of a command, and the memory of the largest of its processes."""

    wall_seconds: float
    cpu_seconds: float
    peak_mib: float


def snakemake(folder: Path, files: Sequence[str], *arguments: str) -> Cost:
    """Return what `snakemake` costs in `folder` with these configuration files.

    Raises RuntimeError, with the end of what it printed, where it fails.
    """
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder)]
    command += ["--snakefile", str(ROOT / "workflow/Snakefile"), *arguments]
    return _measured([*command, "--configfile", *files], folder / "printed.txt")


def _measured(command: Sequence[str], printed: Path) -> Cost:
    start = time.perf_counter()
    with printed.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(printed.read_text(encoding="utf-8")[-2000:])
    wall = time.perf_counter() - start
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
