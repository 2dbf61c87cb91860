"""The temporary folder of a Ray: its processes and files end with it, also those of killed jobs."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from automata.errors import UserError
from automata.locks import held

PREFIX, LOCK, FILES = "automata-ray-", "lock", "r"
"""Names in a temporary folder: a job's folder begins with PREFIX, and only its account may enter.
It has the job's lock file, and the folder FILES, which Ray itself opens to all accounts."""

GRACE_SECONDS = 1.0
"""Time for Ray's processes to end by themselves, and then for killed ones to disappear."""

LONGEST_PARENT = 19 if sys.platform == "linux" else 15
"""Most bytes in the path of the parent folder. Paths of sockets have at most 107 bytes (103 on
macOS); Ray and `temporary_folder` need 88 of them."""


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return the processes with `folder` in their command line, and workers with files in it."""
    found = []
    for process in psutil.process_iter(["cmdline", "name"]):
        command = " ".join(process.info["cmdline"] or [])
        with suppress(psutil.Error):
            # The command line of a worker is a title, such as `ray::IDLE`.
            open_files = process.open_files() if command.startswith("ray::") else []
            inside = [Path(file.path).is_relative_to(folder.resolve()) for file in open_files]
            if f"{folder}/" in command or any(inside):
                found.append(process)
    return found


def end_processes(folder: Path, grace: float = 0.0) -> None:
    """Kill the processes of the Ray in `folder` that do not end within `grace` seconds."""
    _, left = psutil.wait_procs(processes_of(folder), timeout=grace)
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=GRACE_SECONDS)


def remove_folder(folder: Path) -> None:
    """End what still runs in the folder of a Ray, and remove it.

    The lock goes last: if Ray's files stay, the next job removes both.
    """
    end_processes(folder)
    shutil.rmtree(folder / FILES, ignore_errors=True)
    if not (folder / FILES).exists():
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder for a Ray and remove it at the end; also remove those of killed jobs.

    The kernel frees the lock of a killed job. Folders of other accounts stay.
    """
    parent = _short_parent()
    for lock in parent.glob(f"{PREFIX}*/{LOCK}"):
        with suppress(Timeout, OSError):
            if lock.parent.lstat().st_uid == os.getuid():
                with FileLock(lock, blocking=False):
                    remove_folder(lock.parent)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    with held(folder / LOCK, "a job that removes leftovers of Ray", needed=False):
        try:
            yield folder
        finally:
            remove_folder(folder)


def _short_parent() -> Path:
    """Return TMPDIR, or a folder with a shorter path if Ray's sockets need one."""
    usual = tempfile.gettempdir()
    for choice in (usual, "/tmp", os.environ.get("XDG_RUNTIME_DIR", "")):
        short = 0 < len(os.fsencode(choice)) <= LONGEST_PARENT
        if short and os.access(choice, os.W_OK | os.X_OK):
            return Path(choice)
    raise UserError(
        f"TMPDIR: {usual} has more than {LONGEST_PARENT} bytes, which is too long for Ray's "
        "sockets, and neither /tmp nor XDG_RUNTIME_DIR can be used; name a shorter folder"
    )
