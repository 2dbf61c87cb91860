"""The files of a user's data set: that they are there, their checksums, and one-line errors."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from automata.config.data import OwnDataset
from automata.errors import UserError
from automata.files import sha256

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


def given_paths(name: str, own: OwnDataset) -> dict[str, Path]:
    """Return the paths that `own` gives, by split ("train" always).

    Raises UserError if nothing is there.
    """
    given = {split: getattr(own, key) for split, key in KEYS.items()}
    paths = {split: Path(value) for split, value in given.items() if value is not None}
    for split, path in paths.items():
        # Not Path.exists, which raises for paths that the system refuses, such as too long ones.
        if not os.path.exists(path):  # noqa: PTH110
            raise fault(f"own_datasets.{name}.{KEYS[split]}: there is no file or folder '{path}'")
    return paths


def source_of(path: Path) -> str:
    """Return where the rows come from, for the record."""
    return f"own file {path.name or path}"


def checksums(paths: Mapping[str, Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by its path; that of a folder by `folder_checksum`."""
    return {
        str(path): folder_checksum(path) if path.is_dir() else sha256(path)
        for path in paths.values()
    }


def folder_checksum(folder: Path) -> str:
    """Return one SHA-256 over the names, seen from `folder`, and contents of its files.

    Hidden files and folders do not count.
    """
    names = {path.relative_to(folder).as_posix(): path for path in visible_files(folder)}
    total = hashlib.sha256()
    for name in sorted(names):
        # A name ends at its NUL and a checksum has 32 bytes: no two folders read the same.
        total.update(os.fsencode(name) + b"\0" + bytes.fromhex(sha256(names[name])))
    return total.hexdigest()


def visible_files(folder: Path) -> list[Path]:
    """Return the files of `folder` at any depth that are not hidden, nor in a hidden folder."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        found += visible_files(path) if path.is_dir() else [path]
    return found
