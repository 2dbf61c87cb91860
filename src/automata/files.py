"""Files that are either complete or absent, and the base of the models in them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from itertools import chain
from pathlib import Path
from typing import Any

import psutil
from pydantic import BaseModel, ConfigDict

from automata.errors import UserError


class Recorded(BaseModel):
    """A part of a record: an unknown field is an error, and NaN and infinity survive JSON.

    Each part is one, as pydantic applies the settings of a model only to its own fields: else the
    loss of a diverged trial would be written as null, which is no float when it is read.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path with the suffix of `path`; on success it takes `path`'s place.

    On an exception nothing is left behind, and an older file at `path` stays as it was. The next
    writer removes what a killed one has left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.unfinished{path.suffix}")
    try:
        temporary.touch()
        mode = temporary.stat().st_mode  # as the umask says; safetensors would make it 0600
        temporary.unlink()
        yield temporary
        if temporary.stat().st_mode != mode:
            temporary.chmod(mode)
        _to_disk(temporary)
        temporary.replace(path)
        _to_disk(path.parent)  # the name as well, or a power cut could undo it
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove what ended processes of this host left that was to become `path`."""
    for left in path.parent.glob(f".{escape(path.stem)}.*.unfinished{path.suffix}"):
        process = left.name.removesuffix(f".unfinished{path.suffix}").rpartition(".")[2]
        if process.isdigit() and not psutil.pid_exists(int(process)):
            left.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    """Have the kernel write out the file or folder at `path`."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def bytes_below(folder: Path) -> int:
    """Return the size of all files below `folder`; those that vanish meanwhile have none."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total


def sha256(path: Path) -> str:
    """Return the SHA-256 of the file at `path`, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def folder_checksum(folder: Path) -> str:
    """Return one SHA-256 over the names, seen from `folder`, and contents of its visible files."""
    total = hashlib.sha256()
    for name, path in sorted(
        (it.relative_to(folder).as_posix(), it) for it in visible_files(folder)
    ):
        # A name ends at its NUL and a checksum has 32 bytes: no two folders read the same.
        total.update(os.fsencode(name) + b"\0" + bytes.fromhex(sha256(path)))
    return total.hexdigest()


def visible_files(folder: Path, above: tuple[Path, ...] = ()) -> list[Path]:
    """Return the files of `folder` at any depth that are not hidden, nor in a hidden folder.

    Links to folders are followed. Raises UserError for one that leads back to a folder `above`.
    """
    around = (*above, folder.resolve())
    if around[-1] in above:
        raise UserError(f"{folder}: this link leads back to a folder around it; remove it")
    seen = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    parts = (visible_files(path, around) if path.is_dir() else [path] for path in seen)
    return list(chain.from_iterable(parts))


def fingerprint(settings: dict[str, Any]) -> str:
    """Return eight hexadecimal digits that other settings would almost surely not have."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
