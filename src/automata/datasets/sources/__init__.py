"""Loaders of the official files: one module per source, each with `load(source) -> RawSplits`.

A file with a published checksum is the one that its loader was written for: `acquire` has made
sure. What is in a file without one is checked where it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from automata.config.data import Preparation


@dataclass(frozen=True)
class Source:
    """What a loader is given: the data set's name, its files on this machine, and settings."""

    name: str
    paths: dict[str, Path] = field(default_factory=dict)
    """Path by official file name."""
    checksums: dict[str, str] = field(default_factory=dict)
    """SHA-256 by official file name."""
    preparation: Preparation = field(default_factory=Preparation)
