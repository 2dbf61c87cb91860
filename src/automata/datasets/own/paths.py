"""The files of a user's data set: that they are there, their checksums, and one-line errors.

The standard library alone: the workflow asks while it plans.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from automata.errors import UserError
from automata.files import folder_checksum, sha256

if TYPE_CHECKING:
    from automata.config.data import OwnDataset

KEYS = {"train": "path", "validation": "validation", "test": "test"}
"""Key of the configuration by split whose file it names."""

_LISTED, _SHOWN = 40, 100


def fault(text: str) -> UserError:
    """Return the error that says `text`, in one line even where names or libraries break it."""
    return UserError(" ".join(part.strip() for part in text.splitlines()))


def listed(names: Iterable[object]) -> str:
    """Return `names` for a message: all, or the first and how many more there are."""
    every = [str(name) for name in names]
    more = [f"and {len(every) - _LISTED} more"] if len(every) > _LISTED else []
    return ", ".join(every[:_LISTED] + more)


def problem_of_file(path: str, kind: str) -> str | None:
    """Return what is wrong with `path` as a file of data of a kind, None if nothing is.

    Images may be in a folder, all else is in a regular file; pipes and devices would never end.
    """
    name = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}... ({len(path)} characters)"
    shown = name if name.isprintable() else json.dumps(name)
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError):  # also of names that no system takes
        return f"{shown}: no such file or folder"
    if stat.S_ISREG(mode) or (kind == "image" and stat.S_ISDIR(mode)):
        return None
    wanted = "a file or a folder" if kind == "image" else "a file"
    return f"{shown}: this is {_sort(mode)}, needed is {wanted}"


def _sort(mode: int) -> str:
    """Return what a file of this mode is, in words."""
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"


def given_paths(name: str, own: OwnDataset) -> dict[str, Path]:
    """Return the paths that `own` gives, by split ("train" always).

    Raises UserError if one cannot be read as data of this kind.
    """
    given = {split: getattr(own, key) for split, key in KEYS.items()}
    for split, path in given.items():
        problem = path and problem_of_file(path, own.kind)
        if problem:
            raise fault(f"own_datasets.{name}.{KEYS[split]}: {problem}")
    return {split: Path(path) for split, path in given.items() if path is not None}


def checksums(paths: Mapping[str, Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by its path; that of a folder by `folder_checksum`."""
    return {
        str(path): folder_checksum(path) if path.is_dir() else sha256(path)
        for path in paths.values()
    }
