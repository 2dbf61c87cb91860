"""Where and with what a record was made."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from automata import __version__
from automata.allocation import allocation
from automata.files import sha256
from automata.versions import measurement

PACKAGES = ("torch", "ray", "hyperopt", "pyJoules", "codecarbon", "numpy", "scipy", "snakemake")

LOCK = Path(__file__).parents[2] / "requirements.lock"
"""The versions of all packages, in a checkout."""


def provenance(selector: str) -> dict[str, Any]:
    """Return versions and host of a run with `selector` as plain JSON values."""
    return {
        "automata": __version__,
        "measurement": measurement(selector),
        "git": git_state(Path(__file__).parent),
        "lock_sha256": sha256(LOCK) if LOCK.exists() else None,
        "python": platform.python_version(),
        "packages": {name: installed_version(name) for name in PACKAGES},
        "host": platform.node(),
        "platform": platform.platform(),
        "cpu": cpu_model(),
        "cpu_count": os.cpu_count(),
        "memory_mib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "allocation": allocation(),
        "command": Path(sys.argv[0]).name,
    }


def installed_version(name: str) -> str | None:
    """Return the version of an installed package, None for one that is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git_state(folder: Path) -> dict[str, Any] | None:
    """Return commit and dirty flag of the checkout around `folder`, None outside of one."""
    try:
        _git(folder, "ls-files", "--error-unmatch", Path(__file__).name)  # not somebody else's
        commit = _git(folder, "rev-parse", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return {"commit": commit, "dirty": bool(changes)}


def cpu_model() -> str:
    """Return the processor's name, as the kernel gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
