"""The files of a user's data set: that they are there, their checksums, and one-line errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from automata.config.data import OwnDataset
from automata.errors import UserError
from automata.files import folder_checksum, sha256

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
