"""Atomic writes and checksums."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

import psutil

from automata.errors import UserError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path with the suffix of `path`, which replaces `path` on success.

    After an exception `path` is unchanged, and the temporary file is removed. The next writer
    removes the temporary file of a killed process. Raises UserError for a folder, and for a device
    or a pipe, such as /dev/null, which would become a file. A link stays, and its target changes.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise UserError(f"{path}: a folder, a device or a pipe; name a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_unfinished(path)
    token = secrets.token_hex(4)  # else another account could foresee the name, and take it
    temporary = path.with_name(f".{path.stem}.{token}.{os.getpid()}.unfinished{path.suffix}")
    try:
        temporary.touch(exist_ok=False)
        mode = temporary.stat().st_mode  # from the umask; safetensors would set 0600
        yield temporary
        if temporary.stat().st_mode != mode:
            temporary.chmod(mode)
        _to_disk(temporary)
        temporary.replace(path)
        _to_disk(path.parent)  # else a power cut could undo the renaming
    except OSError as error:
        if str(error.filename) == str(temporary):
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _remove_unfinished(path: Path) -> None:
    """Remove the temporary files for `path` of ended processes of this host."""
    for file in path.parent.glob(f".{escape(path.stem)}.*.unfinished{path.suffix}"):
        process = file.name.removesuffix(f".unfinished{path.suffix}").rpartition(".")[2]
        if process.isdigit() and not psutil.pid_exists(int(process)):
            with suppress(OSError):  # it may be another account's
                file.unlink()


def _to_disk(path: Path) -> None:
    """Make the kernel write the file or folder at `path` to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(path: Path) -> str:
    """Return the SHA-256 of the file at `path` in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def content_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files of a folder."""
    files = {file.relative_to(path).as_posix(): file for file in visible_files(path)}
    if not path.is_dir():
        return sha256(path)
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        # A name ends at its NUL and a checksum has 32 bytes: two folders never give the same bytes.
        digest.update(os.fsencode(name) + b"\0" + bytes.fromhex(sha256(file)))
    return digest.hexdigest()


def visible_files(path: Path) -> list[Path]:
    """Return the files of the folder at `path` that no part of their paths hides, sorted.

    A file is returned itself. A stranger may have made the folder: raises UserError for a pipe, a
    device, and a link that leads to no file of the folder.
    """
    if path.is_file() or not path.exists():
        return [path]
    if not path.is_dir():
        raise UserError(f"{path}: a pipe or a device; name a file or a folder")
    root, files, folders = path.resolve(), [], [path]
    while folders:
        for entry in folders.pop().iterdir():
            if entry.name.startswith("."):
                continue
            if re.search("[\ud800-\udfff]", entry.name):  # how Python reads other bytes
                raise UserError(f"{entry}: the name is not in UTF-8: rename it")
            is_link = entry.is_symlink()
            if entry.is_file() and (not is_link or entry.resolve().is_relative_to(root)):
                files.append(entry)
            elif entry.is_dir() and not is_link:
                folders.append(entry)
            elif is_link:
                remedy = "put a copy in its place"
                raise UserError(f"{entry}: a link that leads to no file of {path}: {remedy}")
            else:
                raise UserError(f"{entry}: a pipe or a device: remove it")
    return sorted(files)


def fingerprint(settings: dict[str, Any]) -> str:
    """Return eight hexadecimal digits of a hash of `settings`."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
