"""The lock by which exclusive measured jobs of one host take turns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from automata.errors import UserError
from automata.locks import held


def host_lock_path() -> Path:
    """Return the lock file that exclusive jobs of this host share if they have the same TMPDIR."""
    return Path(tempfile.gettempdir()) / "automata-measured-job.lock"


@contextmanager
def exclusive_host(exclusive: bool) -> Iterator[float]:
    """Hold the host's lock during the body if `exclusive`; yield the seconds waited for it.

    Raises UserError if the lock's file cannot be opened.
    """
    if not exclusive:
        yield 0.0
        return
    path = host_lock_path()
    with ExitStack() as stack:  # an OSError of the body must not be caught
        try:
            lock = held(path, "another measured job of this host", mode=0o666)
            waited = stack.enter_context(lock)
        except OSError as error:
            raise UserError(
                f"{path}: {error.strerror}: measured jobs of this host take turns by this file: "
                "make it writable for all users who measure, or set metering.exclusive: false"
            ) from error
        yield waited
