"""The provenance of a record: code, host, numerics and measurement versions."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from threadpoolctl import threadpool_info

from automata import __version__
from automata.allocation import allocation
from automata.files import sha256
from automata.registry import SELECTORS

MEASUREMENT = dict.fromkeys(SELECTORS, 1) | {"training": 4, "metering": 1}
"""Measurement versions: only records with the same ones are compared.

Raise the version of a part if a change alters its numbers, its decisions or its time. The golden
runs (tests/golden) show the first two, benchmarks/overhead shows the third. `training` covers
models, training and search: all of a run except its selector. Version 2 takes 6 % more wall time
than version 1, which the published runs have; since version 3 finalists train at once. All versions
compute the same without class weights; since version 4 the log loss on validation rows and the
ROC AUC are corrected for these, too.
"""

PACKAGES = ("torch", "ray", "hyperopt", "pyJoules", "codecarbon", "numpy", "scipy", "snakemake")

ENVIRONMENT = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "PYTHONHASHSEED",
)
"""Environment variables that affect results or the number of threads."""

BLAS = ("internal_api", "version", "threading_layer", "architecture", "num_threads")
"""Recorded settings of each BLAS library."""

LOCK = Path(__file__).parents[3] / "requirements.lock"
"""File with the versions of all packages; exists only in a checkout."""


def measurement(selector: str) -> dict[str, int]:
    """Return the entries of MEASUREMENT that a run with `selector` records."""
    used = ("training", "metering", selector)
    return {part: MEASUREMENT[part] for part in used if part in MEASUREMENT}


def provenance(selector: str) -> dict[str, Any]:
    """Return code, packages and host of a run with `selector`, as JSON values."""
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
    }


def numerics() -> dict[str, Any]:
    """Return the numerical settings of this process, after `limit_threads` and `choose_device`."""
    return {
        "blas": [
            {key: library.get(key) for key in BLAS}
            for library in sorted(threadpool_info(), key=str)
            if library["user_api"] == "blas"
        ],
        "torch": {
            "num_threads": torch.get_num_threads(),
            "num_interop_threads": torch.get_num_interop_threads(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "flush_denormal": torch.tensor(1e-39).mul(1.0).item() == 0,
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "matmul_precision": torch.get_float32_matmul_precision(),
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            "cudnn_deterministic": torch.backends.cudnn.deterministic,
            "cudnn_benchmark": torch.backends.cudnn.benchmark,
            "tf32_matmul": torch.backends.cuda.matmul.allow_tf32,
            "tf32_cudnn": torch.backends.cudnn.allow_tf32,
        },
        "environment": {name: os.environ.get(name) for name in ENVIRONMENT},
    }


def installed_version(name: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git_state(folder: Path) -> dict[str, Any] | None:
    """Return commit and dirty flag of the checkout of `folder`; None outside a checkout."""
    try:
        # Fails if the package is installed inside the checkout of another project.
        _git(folder, "ls-files", "--error-unmatch", Path(__file__).name)
        commit = _git(folder, "rev-parse", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return {"commit": commit, "dirty": bool(changes)}


def cpu_model() -> str:
    """Return the name of the processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
