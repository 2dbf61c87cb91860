"""A fingerprint of the code that reads records: after an update, tables and figures are remade."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

HOME = Path(__file__).parent
READERS = (
    *("analysis", "config", "figures", "page", "records"),
    *("catalog.py", "errors.py", "metrics.py", "names.py", "registry.py"),
)
"""Modules and packages that make tables, figures and the page."""

STAMP = ".code"
"""File beside the tables with the fingerprint of the code that made them."""


@cache
def reading_code() -> str:
    """Return the fingerprint of the present code."""
    digest = hashlib.sha256()
    found = [HOME / name for name in READERS]
    inside = [file for it in found for file in ([it] if it.is_file() else it.rglob("*"))]
    for file in sorted(inside):
        if file.suffix in (".py", ".j2", ".css", ".mplstyle"):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def stamped(folder: Path) -> str:
    """Return the fingerprint of the code that made the tables in `folder`; empty if not known."""
    file = folder / STAMP
    # Stamps of version 1.0.0 have another word before it.
    return file.read_text().rpartition(" ")[2] if file.is_file() else ""
