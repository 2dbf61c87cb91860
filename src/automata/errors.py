"""Errors that a user can correct, and the error line of a failed command.

This module is light: the Snakefile imports it.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

LISTED = 40
"""Maximum number of names in a message."""

KEPT = "run the same command again: finished work is kept"

DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
NOT_WRITABLE = {errno.EROFS, errno.EACCES, errno.EPERM}

OUT_OF_MEMORY = (
    "DefaultCPUAllocator: can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)
"""Texts by which torch reports a lack of memory in errors of a general type."""

SMALLER = (
    "fewer compute.concurrent_trials, a larger compute.gpu_per_trial or a smaller "
    "protocol.*.batch_size need less"
)

KILLED = (
    "a process of the job was killed, most often for lack of memory (the machine's, or what "
    "ulimit -v or the scheduler allows), or native code or your own model ended it"
)
"""The reason of a worker's death, and of a job that ended without an error line."""

OWN_LINE = re.compile(r"^automata(?: [\w-]+)?: error: ")
"""Start of an error line of `automata.cli`."""

PATIENCE_SECONDS = 10.0


def printable(text: str) -> str:
    """Return `text` with escapes for line breaks and other unprintable characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class UserError(Exception):
    """Invalid input or an impossible request; the message is one line that says what to change.

    It escapes unprintable characters, so that names in files cannot control the terminal.
    """

    def __init__(self, text: str) -> None:
        super().__init__(printable(" ".join(part.strip() for part in text.splitlines())))


@contextmanager
def refusing(name: str, data: object, valid: str) -> Iterator[None]:
    """Raise a UserError of one line for `data` that a library refuses in the body."""
    try:
        yield
    except (ArithmeticError, ImportError, RuntimeError, TypeError, ValueError) as error:
        problem = "; ".join([type(data).__name__, *map(str, error.args)])
        raise UserError(f"{name}: {problem}; valid: {valid}") from error


def listed(names: Iterable[object]) -> str:
    """Join `names` for a message: all, or the first LISTED and the number of the others."""
    every = [str(name) for name in names]
    more = [f"and {len(every) - LISTED} more"] if len(every) > LISTED else []
    return ", ".join(every[:LISTED] + more)


def known_reason(error: BaseException) -> str | None:
    """Return one line with the remedy for an error of a known kind; None for others."""
    return next(filter(None, map(_known_reason, _causes(error))), None)


def unexpected_reason(error: BaseException) -> str:
    """Return one line for another error; first check whether a disk that it used is full."""
    if _full_folder(error):
        return _no_space(error)
    *_, first = _causes(error)
    return f"unexpected error: {type(first).__name__}: {first_line(first)} (traceback in the log)"


def reason_in_log(log: Path) -> str:
    """Return the error line in the log of a failed job, or KILLED if the log has none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return f"{error_line(lines)} (log: {log})"


def error_line(lines: Iterable[str]) -> str:
    """Return the last error line of a command's output, or KILLED if it has none."""
    return [f"automata: error: {KILLED}; {KEPT}", *filter(OWN_LINE.match, lines)][-1]


def ran_out_of_memory(error: BaseException) -> bool:
    """Return whether `error` reports a lack of memory, of the host or of a GPU."""
    names = {kind.__name__ for kind in type(error).__mro__}  # torch is not imported here
    if isinstance(error, MemoryError) or "OutOfMemoryError" in names:
        return True
    return error.__cause__ is None and any(text in str(error) for text in OUT_OF_MEMORY)


def first_line(error: BaseException) -> str:
    """Return one line of the message of `error`: the first, or the last of a traceback."""
    lines = str(error).strip().splitlines() or ["without a reason"]
    return lines[-1 if lines[0].startswith("Traceback") else 0]


def open_streams() -> None:
    """Open those of standard input, output and error that are closed, here and for children."""
    for number, (name, mode) in enumerate([("stdin", "r"), ("stdout", "w"), ("stderr", "w")]):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
        os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115


def handle_interrupts(first: Callable[[], object] = lambda: None) -> None:
    """After Ctrl-C or SIGTERM call `first`, and ignore further ones, so that cleaning up ends."""
    ignored_until = 0.0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal ignored_until
        if time.monotonic() >= ignored_until:
            ignored_until = time.monotonic() + PATIENCE_SECONDS
            first()
            raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            # Signals that are ignored or handled already stay so.
            if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                signal.signal(number, handle)


def _known_reason(error: BaseException) -> str | None:
    """Return the line for this error alone, without its causes."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted; {KEPT}"
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return _no_space(error)
    if os.strerror(errno.ENOSPC) in str(error):  # a library's error; its cause names the file
        return None if error.__cause__ else _no_space(error)
    if isinstance(error, OSError) and error.errno in (errno.EIO, errno.ESTALE):
        file = error.filename or next(_paths_in_use(error), "a file")
        return f"{file}: {error.strerror}; check its disk or network file system, and {KEPT}"
    if str(error) == f"[Errno {errno.ENOENT}] {os.strerror(errno.ENOENT)}":  # of os.getcwd
        folder = os.environ.get("TMPDIR", "/tmp")
        return f"{folder} (TMPDIR) or the working folder was removed in the meantime; {KEPT}"
    if isinstance(error, OSError) and error.filename:
        remedy = f"; make it writable, and {KEPT}"
        return f"{error.filename}: {error.strerror}{remedy if error.errno in NOT_WRITABLE else ''}"
    if ran_out_of_memory(error):
        if "CUDA" in str(error):
            return f"GPU memory ran out: {first_line(error)}; {SMALLER}"
        return f"memory ran out: {first_line(error)}; make room and {KEPT}"
    file = getattr(error, "path", None) or ""  # of a user's own module, such as `ray.py`
    if isinstance(error, ImportError) and file.endswith(".py") and "-packages" not in file:
        return f"{first_line(error)}: rename that file if it hides a library, or mend PYTHONPATH"
    return None


def _no_space(error: BaseException) -> str:
    """Return the line for a full disk."""
    path = getattr(error, "filename", None) or _full_folder(error)
    return f"{f'{path}: ' if path else ''}no space left on the device; make room and {KEPT}"


def _full_folder(error: BaseException) -> Path | None:
    """Return a folder on a full disk, among those of the paths in use."""
    for path in [*_paths_in_use(error), Path(), Path(os.environ.get("TMPDIR", "/tmp"))]:
        with suppress(OSError):
            folder = path if path.is_dir() else path.parent
            if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free < 1024**2:
                return folder.absolute()
    return None


def _paths_in_use(error: BaseException) -> Iterator[Path]:
    """Yield the paths in the calls that led to `error`, innermost first: it may name no file."""
    for frame, _ in reversed([*traceback.walk_tb(error.__traceback__)]):
        yield from (value for value in frame.f_locals.values() if isinstance(value, Path))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and the chain of its causes, without the text that process pools add."""
    cause: BaseException | None = error
    while cause is not None and type(cause).__name__ != "_RemoteTraceback":
        yield cause
        cause = cause.__cause__
