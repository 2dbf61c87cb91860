"""A local Ray of fixed size for one job, which removes it at the end."""

from __future__ import annotations

import logging
import math
import os
import secrets
import select
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import psutil
import ray
from filelock import FileLock, Timeout
from ray._private.node import Node
from ray._raylet import AuthenticationTokenLoader  # type: ignore[attr-defined]

from automata.config.sections import Compute
from automata.errors import UserError
from automata.failures import KEPT, end_at_once, first_line
from automata.locks import held

logger = logging.getLogger(__name__)

# Ray warns that a token protects it, though nobody else can reach the Ray of this job.
logging.getLogger("ray._private.authentication.authentication_token_setup").setLevel(logging.ERROR)

PREFIX, OWNER = "automata-ray-", ".lock"
"""Prefix of the folder of a Ray, and suffix of the file beside it that its job locks."""

NEEDED = ("gcs_server", "raylet")
"""Processes without which Ray stops working."""

GRACE_SECONDS = 1.0
"""Time for Ray's processes to end by themselves."""

OBJECT_STORE_BYTES = 100 * 1024**2
"""Small, because workers read the prepared file themselves."""

ENVIRONMENT = {
    # No files for each trial: the record has all results.
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    # Snapshots at start and end only: a search resumes from the project's log.
    "TUNE_GLOBAL_CHECKPOINT_S": "inf",
    # Ctrl-C must end the job, not only the search.
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray would print a growing table, and the path of results that the job removes.
    "RAY_AIR_NEW_OUTPUT": "0",
    # Trials run at the priority of the refit; Ray's default is 15 lower.
    "RAY_worker_niceness": "0",
    # A worker imports what a trial needs before Ray asks for a trial.
    "RAY_preload_python_modules": "automata.tuning.preload",
    # It waits idle for that trial. By default Ray would end it when the trial reserves the CPU.
    "RAY_idle_worker_killing_time_threshold_ms": "3600000",
    # A busy machine needs more than Ray's 30 seconds.
    "RAY_gcs_server_port_wait_time_s": "60",
}

LONGEST_PARENT = 19 if sys.platform == "linux" else 15
"""Most bytes in the path of the parent folder. Paths of sockets have at most 107 bytes (103 on
macOS); Ray and `_temporary_folder` need 88 of them."""


def gpu_share(compute: Compute, gpus: int) -> float:
    """Return the share of a GPU that each trial gets if there are `gpus` GPUs; 0 for none.

    Raises UserError if the concurrent trials ask for more GPUs than there are.
    """
    trials, asked = compute.concurrent_trials, compute.gpu_per_trial
    if gpus == 0:
        return 0.0
    # A trial runs on one GPU, so the fullest GPU decides.
    largest = 1 / math.ceil(trials / gpus)
    if asked is not None and asked > largest:
        raise UserError(
            f"compute.gpu_per_trial: {asked} for {trials} concurrent trials is more than the "
            f"{gpus} GPUs here have; valid: at most {largest:g}"
        )
    return largest if asked is None else asked


@contextmanager
def local_ray(workers: int, gpus: int) -> Iterator[None]:
    """Run a local Ray with `workers` and `gpus` for the body; then remove its processes and files.

    Ray counts each worker as one CPU, whatever its number of threads.
    """
    os.environ.update(ENVIRONMENT)
    with _own_token(), _temporary_folder() as folder:
        try:
            _start(workers, gpus, folder)
            with _watched(folder):
                yield
        finally:
            started = _processes(folder)
            ray.shutdown()
            left = [*started, *_processes(folder)]
            psutil.wait_procs(left, timeout=GRACE_SECONDS)
            _kill(left)  # Ray's agents stay for minutes after a Ctrl-C


@contextmanager
def _own_token() -> Iterator[None]:
    """Give the Ray of the body a secret token in memory; others could read Ray's own token file."""
    tokens, before = AuthenticationTokenLoader.instance(), os.environ.get("RAY_AUTH_TOKEN")
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    tokens.reset_cache()  # Ray keeps the token of an earlier Ray of this process
    try:
        yield
    finally:
        del os.environ["RAY_AUTH_TOKEN"]
        if before is not None:
            os.environ["RAY_AUTH_TOKEN"] = before
        tokens.reset_cache()


def _start(workers: int, gpus: int, folder: Path) -> None:
    """Start Ray; raises UserError if that fails."""
    logger.info("starting Ray")
    began = time.monotonic()
    try:
        # No autoscaler, no dashboard: they take 1.5 s, and ray.init cannot disable them.
        with patch.multiple(Node, start_monitor=_nothing, start_api_server=_nothing):
            ray.init(
                address="local",
                num_cpus=workers,
                num_gpus=gpus,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=str(folder / "r"),  # all users may enter Ray's folder, but not its parent
            )
    except Exception as error:
        raise UserError(
            f"Ray did not start in {time.monotonic() - began:.0f} s: {first_line(error)}; the "
            f"machine may be too busy, or {folder.parent} full; {KEPT}"
        ) from error
    logger.info(
        "Ray has %d workers and %d GPUs, after %.1f s", workers, gpus, time.monotonic() - began
    )


def _nothing(*_: object, **__: object) -> None:
    """Do nothing, instead of starting a part of Ray."""


@contextmanager
def _watched(folder: Path) -> Iterator[None]:
    """Watch Ray during the body: end this process at once if Ray loses a needed process.

    Ray itself would wait silently for a minute, or train in processes that no meter sees.
    """
    family = _processes(folder)
    over = threading.Event()
    threading.Thread(target=_watch, args=(family, folder, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(family: list[psutil.Process], folder: Path, over: threading.Event) -> None:
    poll, watched = select.poll(), {}
    for process in family:
        # Some processes have ended by now, and only Linux has pidfd_open.
        with suppress(psutil.Error, OSError, AttributeError):
            if process.name() in NEEDED:
                descriptor = os.pidfd_open(process.pid)
                watched[descriptor] = process.name()
                poll.register(descriptor, select.POLLIN)
    if not watched:
        return
    ended = poll.poll()[0][0]
    if over.is_set():
        return
    _kill(list({*family, *_processes(folder)}))
    _remove(folder)
    end_at_once(f"Ray's process {watched[ended]} was killed or crashed; {KEPT}")


def _processes(folder: Path) -> list[psutil.Process]:
    """Return the processes of the Ray in `folder`, including orphans."""
    return [*psutil.Process().children(recursive=True), *_with_files_in(folder)]


def _with_files_in(folder: Path) -> list[psutil.Process]:
    """Return the processes that name `folder` in their command line or have files open in it.

    Workers replace their command line by a title, such as `ray::IDLE`.
    """
    inside, resolved = f"{folder}/", f"{folder.resolve()}/"
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = " ".join(process.info["cmdline"] or [])
        with suppress(psutil.Error):
            titled = command.startswith("ray::")
            if inside in command or (
                titled and any(file.path.startswith(resolved) for file in process.open_files())
            ):
                found.append(process)
    return found


def _kill(processes: list[psutil.Process]) -> None:
    """Kill `processes` and wait until they end."""
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=GRACE_SECONDS)


def _remove(folder: Path) -> None:
    """Remove the folder of a Ray, then its lock; if that fails, the next job removes both."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        folder.with_suffix(OWNER).unlink(missing_ok=True)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Yield a folder for a Ray and remove it at the end; also remove those of killed jobs.

    The kernel frees the lock of a killed job. Locks of other users stay: anybody can give a file
    such a name.
    """
    parent = _short_parent()
    for left in parent.glob(f"{PREFIX}*{OWNER}"):
        with suppress(Timeout, OSError):
            if left.lstat().st_uid == os.getuid():
                with FileLock(left, blocking=False):
                    _kill(_with_files_in(left.with_suffix("")))
                    _remove(left.with_suffix(""))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    owner = folder.with_suffix(OWNER)
    with held(owner, "a job that removes leftovers of Ray", needed=False):
        try:
            yield folder
        finally:
            _remove(folder)


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
