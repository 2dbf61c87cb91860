"""What a command costs, with all processes that it starts and waits for."""

from __future__ import annotations

import json
import subprocess
import sys
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
    return measured([*command, "--configfile", *files], folder / "printed.txt")


def measured(command: Sequence[str], printed: Path) -> Cost:
    """Return what `command` costs, and leave what it prints in the file `printed`.

    Raises RuntimeError, with the end of that, where it fails.
    """
    launch = [sys.executable, str(Path(__file__).with_name("launch.py")), str(printed), *command]
    done = subprocess.run(launch, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr or printed.read_text(encoding="utf-8")[-2000:])
    return Cost(*json.loads(done.stdout))
