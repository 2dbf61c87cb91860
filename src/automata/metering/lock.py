"""Exclusive measured jobs of one host take turns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock


def host_lock_path() -> Path:
    """Return the lock file that all exclusive jobs of this host share (those with one TMPDIR)."""
    return Path(tempfile.gettempdir()) / "automata-measured-job.lock"


@contextmanager
def exclusive_host(exclusive: bool) -> Iterator[float]:
    """Hold the host's lock for the body, and yield the seconds waited for it.

    With `exclusive` false nothing is locked. The kernel frees the lock when its holder dies,
    however it dies. Jobs that are not exclusive do not wait, and are not waited for.
    """
    start = time.perf_counter()
    lock = FileLock(host_lock_path(), mode=0o666) if exclusive else nullcontext()
    with lock:
        yield time.perf_counter() - start
