"""Locks that tell who has them: no wait is silent."""

from __future__ import annotations

import errno
import logging
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import psutil
from filelock import FileLock, SoftFileLock, Timeout
from pydantic import BaseModel, Field

logger = logging.getLogger(__name__)

REPEAT_SECONDS = 60.0
"""Between two lines of one wait."""

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of a file system without locks, such as Lustre mounted `noflock`."""


class Holder(BaseModel):
    """What the holder of a lock writes into its file; others may write there as well."""

    host: str = Field(pattern=r"^[A-Za-z0-9._-]{1,255}$")
    pid: int = Field(gt=0, lt=2**31)
    since: float = Field(ge=0, lt=2**32)
    """Unix time, seconds."""

    @property
    def has_ended(self) -> bool:
        """Whether this process of this host has ended; of another host nobody here knows."""
        if self.host != platform.node():
            return False
        try:  # the number is another's if that process began later
            return psutil.Process(self.pid).create_time() > self.since + 1
        except psutil.Error:
            return True


@contextmanager
def held(lock: FileLock, what: str, *, needed: bool = True) -> Iterator[float]:
    """Hold `lock` for the body, and yield the seconds waited for it: 0 if it was had at once.

    While it waits for `what`, it logs who has the lock, at once and every minute. Where the file
    system has no locks, the body runs without one, unless it is `needed`. Raises OSError when the
    file cannot be opened or made.
    """
    path = Path(lock.lock_file)
    start = time.perf_counter()
    waited, pause = 0.0, 0.0
    while not lock.is_locked:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _acquire(lock, pause)
        except FileNotFoundError:  # its last holder has removed the folder
            waited = time.perf_counter() - start
        except Timeout:
            waited = time.perf_counter() - start
            by_now = f", {round(waited)} s by now" if pause else ""
            logger.info("waiting for %s%s: %s", what, by_now, _named(path))
            pause = REPEAT_SECONDS
        except OSError as error:
            if needed or error.errno not in NO_LOCKS:
                raise
            text = "%s: this file system has no locks: goes on without waiting for %s"
            logger.warning(text, path, what)
            break
    if waited:
        waited = time.perf_counter() - start
        logger.info("waited %.1f s for %s", waited, what)
    # Of a host with an odd name nobody reads it.
    who = Holder.model_construct(host=platform.node(), pid=os.getpid(), since=time.time())
    _write(path, who.model_dump_json())
    try:
        yield waited
    finally:
        _write(path, "")
        lock.release()


def _acquire(lock: FileLock, timeout: float) -> None:
    """Acquire a lock of the kernel; filelock's substitute for one would not survive `_write`."""
    try:
        lock.acquire(timeout=timeout)
    finally:
        if isinstance(lock, SoftFileLock):
            lock.release()
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), lock.lock_file)


def _write(path: Path, text: str) -> None:
    """Replace the text in a locked file, if that is allowed: the lock does without."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def holder(path: Path) -> Holder | None:
    """Return who has the lock at `path` by its file, None if nobody who lives; tries no lock."""
    try:
        found = Holder.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    return None if found.has_ended else found


def _named(path: Path) -> str:
    """Return who has the lock, for a reader."""
    if (found := holder(path)) is None:
        return f"another process, by the file {path}"
    since = datetime.fromtimestamp(found.since)
    return f"process {found.pid} of {found.host}, since {since:%Y-%m-%d %H:%M:%S}"
