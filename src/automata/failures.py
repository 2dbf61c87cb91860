"""What ended a command, in one line that says what to do. The standard library alone."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import NoReturn

from automata.errors import UserError

KEPT = "call again: finished work is kept"

FULL = {errno.ENOSPC, errno.EDQUOT}
CLOSED = {errno.EROFS, errno.EACCES, errno.EPERM}

NO_MEMORY = (
    "DefaultCPUAllocator: can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)
"""What torch says of it in errors that have no kind of their own."""

SMALLER = (
    "fewer compute.concurrent_trials, a larger compute.gpu_per_trial or a smaller "
    "protocol.*.batch_size need less"
)

LOST = (
    "the process that trains was killed, most often for lack of memory (the machine's, or what "
    "ulimit -v or the scheduler allows), or native code crashed"
)

KILLED = (
    "the job was killed, most often for lack of memory, or native code or a model of your own "
    "ended its process"
)
"""What is known of a job that ended without a line."""

OURS = re.compile(r"^automata(?: [\w-]+)?: error: ")
"""The last line of a command that failed."""


def explain(error: BaseException) -> str:
    """Return one line for what ended a command, with the remedy where one is known."""
    causes = list(_causes(error))
    line = next(filter(None, map(_known, causes)), None)
    if line is None:
        first = causes[-1]  # of what Ray wraps, what was raised in its process
        kind = type(first).__name__
        line = f"not expected: {kind}: {first_line(first)} (traceback in the log)"
    # Libraries quote whole files. What to do stands at the end.
    return line if len(line) <= 2000 else f"{line[:1000]} ... {line[-1000:]}"


def of_log(log: Path) -> str:
    """Return why the job with this `log` failed: the line of its command, or that it has none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    own = [line for line in lines if OURS.match(line)]
    said = own[-1] if own else f"automata: error: {KILLED}; {KEPT}"
    return f"{said} (log: {log})"


def is_known(error: BaseException) -> bool:
    """Say whether `error` is of a kind that needs no traceback."""
    return any(map(_known, _causes(error)))


def ran_out_of_memory(error: BaseException) -> bool:
    """Say whether `error` is of a lack of memory, of the host or of a GPU."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, MemoryError) or "OutOfMemoryError" in names:  # torch and Ray have one each
        return True
    return error.__cause__ is None and any(text in str(error) for text in NO_MEMORY)


def out_of_space(file: object = None) -> str:
    """Return the line for a disk that is full."""
    where = f"{file}: " if file else ""
    return f"{where}no space left on the device; make room and {KEPT}"


def full_folder(paths: Iterable[Path]) -> Path | None:
    """Return the folder of the first of `paths` whose file system is full, None if none is."""
    for path in paths:
        folder = next(place for place in (path, *path.absolute().parents) if place.is_dir())
        if shutil.disk_usage(folder).free < 1024**2:
            return folder
    return None


def end_at_once(reason: str) -> NoReturn:
    """Say why, and end this process from any thread, whatever the others wait for."""
    os.write(2, f"automata: error: {reason}\n".encode())
    os._exit(1)


class Interrupt:
    """A handler of Ctrl-C that lets a process tidy up: who is impatient presses it again."""

    PATIENCE_SECONDS = 10.0

    def __init__(self) -> None:
        self._deaf_until = 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, unless that was done a moment ago."""
        if time.monotonic() >= self._deaf_until:
            self._deaf_until = time.monotonic() + self.PATIENCE_SECONDS
            raise KeyboardInterrupt

    @classmethod
    def install(cls) -> None:
        """Handle Ctrl-C from now on, where it is not ignored or handled otherwise already."""
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, cls())


def first_line(error: BaseException) -> str:
    """Return what `error` says, in one line: Ray Tune puts whole tracebacks into some."""
    lines = str(error).strip().splitlines() or ["without a reason"]
    return lines[-1 if lines[0].startswith("Traceback") else 0]


def _known(error: BaseException) -> str | None:
    """Return the line for an error whose kind is known, None for another."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted; {KEPT}"
    if isinstance(error, OSError) and error.errno in FULL:
        return out_of_space(error.filename)
    if os.strerror(errno.ENOSPC) in str(error):  # libraries pass on its text alone
        return None if error.__cause__ else out_of_space()
    if isinstance(error, OSError) and error.errno in CLOSED and error.filename:
        remedy = "make it writable, or name another folder by --directory"
        return f"{error.filename}: {os.strerror(error.errno or 0)}; {remedy}, and {KEPT}"
    if ran_out_of_memory(error):
        if "CUDA" in str(error):
            return f"GPU memory ran out: {first_line(error)}; {SMALLER}"
        return f"memory ran out: {first_line(error)}; make room and {KEPT}"
    names = {kind.__name__ for kind in type(error).__mro__}
    if "RayActorError" in names:
        return f"{LOST}; {KEPT}"
    if "RayError" in names:
        return f"Ray failed: {type(error).__name__}: {first_line(error)}; {KEPT}"
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and what it came from, without what Ray only wraps around it."""
    cause: BaseException | None = error
    while cause is not None:
        wrapped = getattr(cause, "cause", None)  # of a task of Ray
        if isinstance(wrapped, BaseException):
            cause = wrapped
        else:
            yield cause
            cause = cause.__cause__
