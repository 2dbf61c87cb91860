"""The files of a user's data set: that they are there, their checksums, and one-line errors.

The standard library alone: the workflow asks while it plans.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from automata.errors import UserError
from automata.files import folder_checksum, sha256

if TYPE_CHECKING:
    from automata.config.data import OwnDataset

KEYS = {"train": "path", "validation": "validation", "test": "test"}
"""Key of the configuration by split whose file it names."""

_LISTED = 40


def fault(text: str) -> UserError:
    """Return the error that says `text`, in one line even where names or libraries break it."""
    return UserError(" ".join(part.strip() for part in text.splitlines()))


def listed(names: Iterable[object]) -> str:
    """Return `names` for a message: all, or the first and how many more there are."""
    every = [str(name) for name in names]
    more = [f"and {len(every) - _LISTED} more"] if len(every) > _LISTED else []
    return ", ".join(every[:_LISTED] + more)


def problem_of_file(path: str, kind: str) -> str | None:
    """Return what is wrong with `path` as data of a kind, None if nothing is.

    Images and texts may be in a folder, all else is in a file.
    """
    if not os.path.exists(path):  # noqa: PTH110 - of a folder that is closed, Path.exists raises
        return f"{path}: no such file or folder"
    if kind not in ("image", "text") and Path(path).is_dir():
        return f"{path}: this is a folder, needed is a file"
    return None


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
