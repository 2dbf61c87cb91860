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
def log(monkeypatch, caplog):
    """The log lines, as they come."""
    lines = []
    caplog.set_level("INFO", "automata.locks")
    monkeypatch.setattr(caplog.handler, "emit", lambda record: lines.append(record.getMessage()))
    return lines


@pytest.fixture
def holder(path):
    """A process that holds the lock until it gets a line or is killed."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLD, str(path)]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout.readline() == "has it\n"
    yield process
    process.kill()
    process.communicate()


@contextmanager
def until_it_ends(process):
    yield
    process.communicate("\n", timeout=60)


@contextmanager
def locked(path, text):
    """Hold the lock as a process that writes any `text` into its file."""
    with path.open("wb") as file:
        file.write(text)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def wait(path, log, holding, lines=1):
    """Wait for the lock until there are `lines` in the log and `holding` ends; return how long."""
    waits = []

    def ask():
        with held(path, "the lock") as waited:
            waits.append(waited)

    thread = threading.Thread(target=ask, daemon=True)
    with holding:
        thread.start()
        while len(log) < lines:
            assert thread.is_alive()
            thread.join(0.01)
    thread.join(60)
    return waits[0]


def test_holder_is_named_at_once_and_the_wait_is_logged_at_its_end(path, log, holder):
    before, start = time.time(), time.perf_counter()
    waited = wait(path, log, until_it_ends(holder))
    assert 0 < waited <= time.perf_counter() - start
    assert log[0].startswith(f"waiting for the lock: process {holder.pid} of {HERE}, since ")
    since = time.strptime(log[0].partition("since ")[2][:19], "%Y-%m-%d %H:%M:%S")
    assert before - 60 < time.mktime(since) < before + 60
    assert log[1:] == [f"waited {waited:.1f} s for the lock"]


def test_long_wait_is_logged_again(path, log, holder, monkeypatch):
    monkeypatch.setattr(locks, "REPEAT_SECONDS", 0.2)
    wait(path, log, until_it_ends(holder), lines=3)
    assert log[0].startswith("waiting for the lock: process ")
    assert log[:3] == [log[0]] * 3


def test_free_lock_logs_nothing_and_names_its_holder_meanwhile(path, log):
    with held(path, "the lock") as waited:
        assert waited == 0
        assert str(os.getpid()) in path.read_text()
    assert path.read_text() == ""
    assert log == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"host": "node-7.cluster", "pid": 12, "since": 1000.0}', "process 12 of node-7.cluster"),
        # Another process has the pid of the killed holder: this one began later.
        (f'{{"host": "{HERE}", "pid": {os.getpid()}, "since": 1000.0}}', None),
        (f'{{"host": "{HERE}", "pid": {2**22 + 1}, "since": 1000.0}}', None),
        ('\ufeff{"host": "h"', None),
        ('{"host": "h\\u001b[2J", "pid": 1, "since": 1.0}', None),
        ('{"host": "h", "pid": -1, "since": 1.0}', None),
        ('{"host": "h", "pid": 1, "since": 1e99}', None),
    ],
    ids=[
        "elsewhere",
        "began later",
        "ended",
        "cut off",
        "unprintable",
        "negative",
        "in the future",
    ],
)
def test_only_a_live_process_is_named_as_the_holder(path, log, text, named):
    wait(path, log, locked(path, text.encode()))
    phrase = f"{named}, since 1970-01-01" if named else f"another process, by the file {path}"
    assert log[0].startswith(f"waiting for the lock: {phrase}")


def test_lock_works_without_a_name_if_its_file_cannot_be_written(path, monkeypatch):
    opens = os.open

    def deny(file, flags, *rest, **more):
        if flags & os.O_TRUNC:
            raise PermissionError
        return opens(file, flags, *rest, **more)

    monkeypatch.setattr(os, "open", deny)
    with held(path, "the lock"):
        assert path.read_text() == ""


def test_waits_are_printed_to_the_descriptor_of_notices(monkeypatch, tmp_path):
    def wait_for_another(*_):
        logging.getLogger("automata.locks").info("waiting for another")
        logging.getLogger("automata.tuning").info("at work")

    monkeypatch.setattr(logging.getLogger("automata.locks"), "handlers", [])
    monkeypatch.setattr("automata.cli.commands.parsed", lambda *_: None)
    monkeypatch.setattr(job, "complete_job", wait_for_another)
    read, write = os.pipe()
    paths = [f"--work={tmp_path}", f"--output={tmp_path}/record.json"]
    main(["tune", "data", "--job={}", *paths, "--notices", str(write)])
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = pipe.read().splitlines()
    assert [line.partition("automata tune: ")[2] for line in lines] == ["waiting for another"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_file_system_without_locks_stops_only_what_needs_them(path, log, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with held(path, "another process", needed=False) as waited:
        assert waited == 0
    line = f"{path}: this file system has no locks: continues without waiting for another process"
    assert log == [line]
    with pytest.raises(UserError, match="exclusive: false"), exclusive_host(True):
        pass
