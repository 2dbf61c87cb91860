"""Locks; a waiting process logs who holds the lock."""

from __future__ import annotations

import errno
import json
import logging
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from pydantic import BaseModel, Field

logger = logging.getLogger(__name__)

REPEAT_SECONDS = 60.0
"""Time between two log lines while waiting."""

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of a file system without locks: Lustre mounted `noflock`, some NFS and FUSE mounts."""


class Holder(BaseModel):
    """The process that holds a lock, by the lock file, which anybody may write."""

    host: str = Field(pattern=r"^[A-Za-z0-9._-]{1,255}$")
    pid: int = Field(gt=0, lt=2**31)
    since: float = Field(ge=0, lt=2**32)
    """Unix time, seconds."""


@contextmanager
def held(path: Path, what: str, *, mode: int = -1, needed: bool = True) -> Iterator[float]:
    """Hold the lock at `path` for the body, and yield the seconds waited; 0 if it was free.

    While it waits for `what`, it logs the holder, at once and every minute. On a file system
    without locks the body runs unlocked, unless the lock is `needed`. A new lock file gets `mode`.
    Raises OSError if the file can be neither opened nor created.
    """
    # filelock's fallback takes the existence of the file for the lock, which _write would break.
    lock = FileLock(path, mode=mode, fallback_to_soft=False)
    start = time.perf_counter()
    timeout = 0.0
    while not lock.is_locked:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=timeout)
        except FileNotFoundError:  # its last holder has removed the folder
            continue
        except Timeout:
            logger.info("waiting for %s: %s", what, _describe_holder(path))
            timeout = REPEAT_SECONDS
        except OSError as error:
            if needed or error.errno not in NO_LOCKS:
                raise
            text = "%s: this file system has no locks: continues without waiting for %s"
            logger.warning(text, path, what)
            break
    waited = time.perf_counter() - start if timeout else 0.0
    if waited:
        logger.info("waited %.1f s for %s", waited, what)
    who = {"host": platform.node(), "pid": os.getpid(), "since": time.time()}
    _write(path, json.dumps(who))
    try:
        yield waited
    finally:
        _write(path, "")
        lock.release()


def _write(path: Path, text: str) -> None:
    """Replace the text in a lock file, if possible; the lock works without the text."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def holder(path: Path) -> Holder | None:
    """Return the process that the lock file at `path` names, or None if it has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would block
        with os.fdopen(descriptor, "rb") as file:
            named = Holder.model_validate_json(file.read(4096))  # anybody may write more
        if named.host != platform.node():
            return named  # it cannot be looked up, and counts as live
        # A process that began later is another one with the same pid.
        began = psutil.Process(named.pid).create_time()
    except (OSError, ValueError, psutil.Error):
        return None
    return named if began <= named.since + 1 else None


def _describe_holder(path: Path) -> str:
    """Return a phrase that names the holder of the lock at `path`."""
    if (named := holder(path)) is None:
        return f"another process, by the file {path}"
    since = datetime.fromtimestamp(named.since)
    return f"process {named.pid} of {named.host}, since {since:%Y-%m-%d %H:%M:%S}"
