"""The host's lock: one holder at a time, free when the holder dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from automata.errors import UserError
from automata.metering import lock
from automata.metering.lock import exclusive_host

pytestmark = pytest.mark.timeout(60)

HOLDER = """
import sys, time
from pathlib import Path
from automata.metering.lock import exclusive_host

folder, name = Path(sys.argv[1]), sys.argv[2]
log = (folder / "log").open("a")
(folder / f"{name} asks").touch()
with exclusive_host(True) as waited:
    print(name, "enters", file=log, flush=True)
    (folder / f"{name} waited").write_text(str(waited))
    (folder / f"{name} holds").touch()
    while not (folder / f"{name} may go").exists():
        time.sleep(0.01)
    print(name, "leaves", file=log, flush=True)
"""

Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts a process which takes the lock under `tmp_path`."""
    processes = []

    def run(name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", HOLDER, str(tmp_path), name]
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        processes.append(subprocess.Popen(command, env=environment))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the path of a lock file under `tmp_path`, which this process uses too."""
    path = tmp_path / lock.host_lock_path().name
    monkeypatch.setattr(lock, "host_lock_path", lambda: path)
    return path


def await_file(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


def test_second_holder_waits_for_the_first(start: Start, tmp_path: Path) -> None:
    first = start("first")
    await_file(tmp_path / "first holds")
    second = start("second")
    await_file(tmp_path / "second asks")
    asked = time.perf_counter()
    time.sleep(0.3)  # time enough to enter, were nothing locked
    held = time.perf_counter() - asked
    (tmp_path / "first may go").touch()
    (tmp_path / "second may go").touch()
    first.wait()
    second.wait()

    log = (tmp_path / "log").read_text().splitlines()
    assert log == ["first enters", "first leaves", "second enters", "second leaves"]
    assert float((tmp_path / "second waited").read_text()) / held > 0.5


def test_lock_is_free_after_its_holder_was_killed(
    start: Start, tmp_path: Path, own_lock: Path
) -> None:
    holder = start("holder")
    await_file(tmp_path / "holder holds")

    holder.send_signal(signal.SIGKILL)
    holder.wait()

    with exclusive_host(True):
        (tmp_path / "mine").touch()
    assert (tmp_path / "mine").exists()
    assert (tmp_path / "log").read_text().splitlines() == ["holder enters"]


def test_lock_is_free_after_an_exception(start: Start, tmp_path: Path, own_lock: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive_host(True):
        raise ZeroDivisionError

    (tmp_path / "next may go").touch()
    assert start("next").wait() == 0


def test_without_exclusive_a_held_lock_does_not_matter(
    start: Start, tmp_path: Path, own_lock: Path
) -> None:
    start("holder")
    await_file(tmp_path / "holder holds")

    with exclusive_host(False):
        log = (tmp_path / "log").read_text().splitlines()

    assert log == ["holder enters"]


def test_without_exclusive_no_file_is_made(own_lock: Path) -> None:
    with exclusive_host(False):
        assert not own_lock.exists()


def test_lock_file_is_open_to_all_users(own_lock: Path) -> None:
    before = os.umask(0o077)
    try:
        with exclusive_host(True):
            mode = own_lock.stat().st_mode & 0o777
    finally:
        os.umask(before)

    assert mode == 0o666


def test_lock_that_cannot_be_opened_is_a_users_error(own_lock: Path) -> None:
    own_lock.symlink_to("nowhere")

    with pytest.raises(UserError, match=f"^{own_lock}: .*: measured jobs of this host"):
        lock.exclusive_host(True).__enter__()


def test_error_in_the_body_is_not_taken_for_one_of_the_lock(own_lock: Path) -> None:
    with pytest.raises(FileNotFoundError), exclusive_host(True):
        raise FileNotFoundError


def test_job_that_did_not_wait_waited_zero_seconds(own_lock: Path) -> None:
    with exclusive_host(True) as waited:
        assert waited == 0
