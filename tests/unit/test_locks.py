"""A process that waits for a lock logs who holds it."""

import errno
import fcntl
import logging
import os
import platform
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from automata import locks
from automata.cli import main
from automata.errors import UserError
from automata.locks import held
from automata.metering.lock import exclusive_host
from automata.tuning import job

HOLD = """
import sys
from pathlib import Path
from automata.locks import held
with held(Path(sys.argv[1]), "it"):
    print("has it", flush=True)
    sys.stdin.readline()
"""

HERE = platform.node()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lock"


@pytest.fixture
def said(monkeypatch, caplog):
    """The log lines, as they come."""
    lines = []
    caplog.set_level("INFO", "automata.locks")
    monkeypatch.setattr(caplog.handler, "emit", lambda record: lines.append(record.getMessage()))
    return lines


@pytest.fixture
def holder(path):
    """A process that has the lock."""
    process = start(path)
    yield process
    process.kill()
    process.communicate()


def start(path, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=path.parent,
    )
    assert process.stdout.readline() == "has it\n"
    return process


@contextmanager
def until_it_ends(process):
    yield
    process.communicate("\n", timeout=60)


@contextmanager
def locked(path, text):
    """Hold the lock as something does that writes any `text` into its file."""
    with path.open("wb") as file:
        file.write(text)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def wait(path, said, holding, lines=1):
    """Wait for the lock until so many lines are logged and `holding` ends; return how long."""
    waits = []

    def ask():
        with held(path, "the lock") as waited:
            waits.append(waited)

    thread = threading.Thread(target=ask, daemon=True)
    with holding:
        thread.start()
        while len(said) < lines:
            assert thread.is_alive()
            thread.join(0.01)
    thread.join(60)
    return waits[0]


def test_holder_is_named_at_once(path, said, holder):
    before = time.time()
    wait(path, said, until_it_ends(holder))

    assert said[0].startswith(f"waiting for the lock: process {holder.pid} of {HERE}, since ")
    since = time.strptime(said[0].partition("since ")[2][:19], "%Y-%m-%d %H:%M:%S")
    assert before - 60 < time.mktime(since) < before + 60


def test_long_wait_is_logged_again(path, said, holder, monkeypatch):
    monkeypatch.setattr(locks, "REPEAT_SECONDS", 0.2)
    wait(path, said, until_it_ends(holder), lines=3)

    assert said[0].startswith("waiting for the lock: process ")
    assert said[:3] == [said[0]] * 3


def test_wait_is_yielded_in_seconds_and_logged_at_its_end(path, said, holder):
    start = time.perf_counter()
    waited = wait(path, said, until_it_ends(holder))

    assert 0 < waited <= time.perf_counter() - start
    assert said[1:] == [f"waited {waited:.1f} s for the lock"]


def test_free_lock_logs_nothing(path, said):
    with held(path, "the lock") as waited:
        assert waited == 0
    assert said == []


def test_lock_that_is_free_names_nobody(path):
    with held(path, "the lock"):
        assert str(os.getpid()) in path.read_text()
    assert path.read_text() == ""


def test_killed_holder_is_not_named_when_another_process_has_its_pid(path, said):
    text = f'{{"host": "{HERE}", "pid": {os.getpid()}, "since": 1000.0}}'  # we started later
    wait(path, said, locked(path, text.encode()))

    assert said[0] == f"waiting for the lock: another process, by the file {path}"


def test_killed_holder_is_not_named_when_its_pid_is_nobodys(path, said, holder):
    holder.kill()
    holder.communicate()
    wait(path, said, locked(path, path.read_bytes()))

    assert said[0] == f"waiting for the lock: another process, by the file {path}"


def test_holder_on_another_host_is_named_as_it_says(path, said):
    text = b'{"host": "node-7.cluster", "pid": 12, "since": 1000.0}'
    wait(path, said, locked(path, text))

    assert said[0].startswith(
        "waiting for the lock: process 12 of node-7.cluster, since 1970-01-01"
    )


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe\x00",
        b'{"host": "h"}',
        b'{"host": "h\\u001b[2J", "pid": 1, "since": 1.0}',
        b'{"host": "h", "pid": -1, "since": 1.0}',
        b'{"host": "h", "pid": 1, "since": 1e99}',
    ],
)
def test_nonsense_in_the_file_names_nobody(path, said, text):
    wait(path, said, locked(path, text))

    assert said[0] == f"waiting for the lock: another process, by the file {path}"


def test_lock_does_without_a_name_where_its_file_cannot_be_written(path, monkeypatch):
    opens = os.open

    def deny(file, flags, *rest, **more):
        if flags & os.O_TRUNC:
            raise PermissionError
        return opens(file, flags, *rest, **more)

    monkeypatch.setattr(os, "open", deny)
    with held(path, "the lock"):
        assert path.read_text() == ""


def test_waits_are_printed_to_the_descriptor_of_notices(monkeypatch, tmp_path):
    monkeypatch.setattr(logging.getLogger("automata.locks"), "handlers", [])
    monkeypatch.setattr("automata.cli.commands.parsed", lambda *_: None)

    def wait_for_another(*_):
        logging.getLogger("automata.locks").info("waiting for another")
        logging.getLogger("automata.tuning").info("at work")

    monkeypatch.setattr(job, "complete_job", wait_for_another)
    read, write = os.pipe()
    data = tmp_path / "data.npz"
    np.savez(data, rows=np.zeros(1))
    paths = [f"--work={tmp_path}", f"--output={tmp_path}/record.json"]
    main(["tune", str(data), "--job={}", *paths, "--notices", str(write)])
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = pipe.read().splitlines()

    assert [line.partition("automata tune: ")[2] for line in lines] == ["waiting for another"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_where_there_are_no_locks_the_body_runs_and_a_line_says_so(path, said, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with held(path, "another process", needed=False) as waited:
        assert waited == 0
    line = f"{path}: this file system has no locks: continues without waiting for another process"
    assert said == [line]
    with pytest.raises(UserError, match="exclusive: false"), exclusive_host(True):
        pass
