"""What a node of a Ray cluster has, as the node sees it. This runs there: no torch, no Ray."""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path
from typing import Any

import automata
from automata.provenance import cpu_model, installed_version

PACKAGES = ("ray", "torch", "numpy", "scipy")
"""What decides, with Python and the project's code, what a trial computes."""


def software() -> dict[str, str | None]:
    """Return the versions that all nodes must share."""
    return {
        "automata": automata.__version__,
        "python": platform.python_version(),
        **{name: installed_version(name) for name in PACKAGES},
    }


def look_around(data: str, size: int, work: str, mark: str) -> dict[str, Any]:
    """Return software and processor of this node, and what it lacks of the job's files.

    `data` has `size` bytes where the job runs, and the folder `work` a file `mark`.
    """
    return {
        "software": software(),
        "cpu": cpu_model(),
        "trouble": _trouble(Path(data), size, Path(work), mark),
    }


def _trouble(data: Path, size: int, work: Path, mark: str) -> str | None:
    """Return what is wrong with the files of the job as seen from here, None if nothing is."""
    try:
        if data.stat().st_size != size:
            return f"{data} is another file there"
        if not (work / mark).exists():
            return f"{work} is another folder there, or none"
        with tempfile.NamedTemporaryFile(dir=work):
            return None
    except OSError as error:
        return f"{error.filename or work}: {error.strerror}"
