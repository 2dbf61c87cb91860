"""A bad input: the files that make it up, where it ends, and what the line says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Stock:
    """Good files, of which bad ones are made: of a finished run on `mine`, a table."""

    table: bytes
    prepared: bytes
    record: bytes
    archive: bytes


Maker = Callable[[Path, Stock], object]


@dataclass(frozen=True)
class Case:
    """One bad input, in a folder of its own."""

    ends: Literal["plan", "prepare", "tune", "command"]
    """Where: when the workflow is planned, in one of the two jobs, or in another command of the
    package."""
    said: str
    """The line, from its beginning; `...` stands for anything."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """What the user's file says on top of the smoke configuration."""
    files: Mapping[str, str | bytes | Maker] = field(default_factory=dict)
    """What lies in the folder: by its path the content, or what makes it."""
    command: tuple[str, ...] = ()
    """Arguments of `automata`, for a command."""
    real: bool = False
    """Whether the longer drill types it, too."""


def of(change: Callable[[Stock], bytes]) -> Maker:
    """Return what writes a file that is made of a good one."""
    return lambda path, stock: path.write_bytes(change(stock))


def pipe(path: Path, _: Stock) -> None:
    """Make a pipe that nobody writes to: who opens it waits forever."""
    os.mkfifo(path)


def folder(path: Path, _: Stock) -> None:
    """Make an empty folder."""
    path.mkdir()
