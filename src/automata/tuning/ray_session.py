"""Starts and removes the Ray of one job, which has a fixed size, or connects to the user's Ray."""

from __future__ import annotations

import logging
import math
import os
import resource
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import ray
from filelock import FileLock, Timeout
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from automata.config.sections import Compute
from automata.errors import KEPT, UserError, first_line
from automata.locks import held
from automata.tuning.ray_private import accelerated

logger = logging.getLogger(__name__)

# Ray warns that a token protects it, though nobody else can reach the Ray of this job.
logging.getLogger("ray._private.authentication.authentication_token_setup").setLevel(logging.ERROR)

ENVIRONMENT = {
    # No files for each trial: the record has all results.
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    # Snapshots at start and end only: a search resumes from its own log.
    "TUNE_GLOBAL_CHECKPOINT_S": "inf",
    # Ctrl-C must end the job, not only the search.
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Ray would print a growing table, and the path of results that the job removes.
    "RAY_AIR_NEW_OUTPUT": "0",
    # Trials run at the priority of the job; Ray's default is 15 lower.
    "RAY_worker_niceness": "0",
    # A worker imports what a trial needs before Ray asks for a trial.
    "RAY_preload_python_modules": "automata.tuning.preload",
    # It waits idle for that trial. By default Ray would end it when the trial reserves the CPU.
    "RAY_idle_worker_killing_time_threshold_ms": "3600000",
    # A busy machine needs more than Ray's 30 seconds.
    "RAY_gcs_server_port_wait_time_s": "60",
}

OBJECT_STORE_BYTES = 100 * 1024**2
"""Size of the file through which Ray passes objects; workers read prepared data themselves."""

PREFIX, LOCK, FILES = "automata-ray-", "lock", "r"
"""Names in a temporary folder: a job's folder begins with PREFIX, and only its account may enter.
It has the job's lock file, and the folder FILES, which Ray itself opens to all accounts."""

GRACE_SECONDS = 1.0
"""Time for Ray's processes to end by themselves, and then for killed ones to disappear."""

LONGEST_PARENT = 19 if sys.platform == "linux" else 15
"""Most bytes in the path of the parent folder. Paths of sockets have at most 107 bytes (103 on
macOS); Ray and `temporary_folder` need 88 of them."""


def gpu_share(compute: Compute, gpus: int) -> float:
    """Return the share of one of the `gpus` GPUs that each trial gets; UserError if too large."""
    trials, asked = compute.concurrent_trials, compute.gpu_per_trial
    if gpus == 0:
        return 0.0
    # A trial runs on one GPU, so the fullest GPU decides.
    largest = 1 / math.ceil(trials / gpus)
    if asked is not None and asked > largest:
        raise UserError(
            f"compute.gpu_per_trial: {asked} for {trials} concurrent trials is more than {gpus} "
            f"GPU(s) have; valid: at most {largest:g}"
        )
    return largest if asked is None else asked


@contextmanager
def local_ray(workers: int, gpus: int) -> Iterator[None]:
    """Run a local Ray with `workers` and `gpus` for the body; then remove its processes and files.

    Ray counts each worker as one CPU, whatever its number of threads. The process is that of one
    job: its environment changes. Raises UserError if Ray does not start.
    """
    os.environ.update(ENVIRONMENT)
    # Ray demands this token. Other accounts could read a file with a token of Ray's own.
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    over = threading.Event()
    with accelerated(), temporary_folder() as folder:
        try:
            _start(workers, gpus, folder)
            _watch(folder, over)
            yield
        finally:
            over.set()
            ray.shutdown()
            end_processes(folder, GRACE_SECONDS)  # Ray's agents stay for minutes after a Ctrl-C


def _start(workers: int, gpus: int, folder: Path) -> None:
    """Start Ray; raises UserError if that fails."""
    if not any(interface.isup for interface in psutil.net_if_stats().values()):
        raise UserError(
            "Ray's processes talk over a network interface, and none is up here, not even lo: "
            "run `ip link set lo up`"
        )
    largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)  # -1: no limit
    if 0 <= largest < OBJECT_STORE_BYTES + 1024**2:
        raise UserError(
            f"ulimit -f: a file may have {largest // 1024} KiB, and Ray needs one of 101 MiB: run "
            "`ulimit -f unlimited`"
        )
    logger.info("starting Ray")
    began = time.monotonic()
    try:
        ray.init(
            address="local",
            num_cpus=workers,
            num_gpus=gpus,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            _temp_dir=str(folder / FILES),
        )
    except Exception as error:
        raise UserError(
            f"Ray did not start in {time.monotonic() - began:.0f} s: {first_line(error)}; the "
            f"machine may be too busy, or {folder.parent} full; {KEPT}"
        ) from error
    seconds = time.monotonic() - began
    logger.info("Ray has %d workers and %d GPUs, after %.1f s", workers, gpus, seconds)


def _watch(folder: Path, over: threading.Event) -> None:
    """End this process at once if a needed process of Ray ends before `over` is set.

    Ray itself would wait silently for a minute, or train in processes that no meter sees.
    """
    names = {process: process.info["name"] for process in processes_of(folder)}
    needed = [process for process, name in names.items() if name in ("gcs_server", "raylet")]

    def end_job(lost: psutil.Process) -> None:
        if not over.is_set():
            remove_folder(folder)
            reason = f"Ray's process {names[lost]} was killed or crashed; {KEPT}"
            os.write(2, f"automata: error: {reason}\n".encode())
            os._exit(1)  # other threads may be blocked

    threading.Thread(target=psutil.wait_procs, args=(needed, None, end_job), daemon=True).start()


@contextmanager
def users_ray(address: str, work: Path) -> Iterator[dict[str, float]]:
    """Connect to the Ray at `address` during the body; yield what all its nodes have.

    Raises UserError if a node does not see the folder `work`.
    """
    os.environ.update(ENVIRONMENT)
    paths = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    try:
        try:
            if address != "auto":  # with `auto`, Ray fails at once
                host, _, port = address.rpartition(":")
                socket.create_connection((host, int(port)), 5).close()  # Ray would try for minutes
            ray.init(address, runtime_env={"env_vars": paths})
            for node in [node for node in ray.nodes() if node["Alive"]]:
                affinity = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                exists = ray.remote(num_cpus=0, scheduling_strategy=affinity)(os.path.exists)
                if not ray.get(exists.remote(str(work.resolve())), timeout=120):
                    name = node["NodeManagerHostname"]
                    raise UserError(f"ray.address needs a shared file system: {name} has no {work}")
        except (OSError, OverflowError, RuntimeError, ValueError, RayError) as error:
            reason = " ".join(str(error).split())
            raise UserError(f"ray.address: {address}: {reason} (docs/cluster.md)") from error
        with accelerated():
            yield ray.cluster_resources()
    finally:
        ray.shutdown()


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
