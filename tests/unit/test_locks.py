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

import pytest

from automata import locks
from automata.cli import main
from automata.errors import UserError
from automata.locks import held, holder
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


def test_holder_is_named_again_and_again_and_the_wait_at_its_end(path, log, monkeypatch):
    monkeypatch.setattr(locks, "REPEAT_SECONDS", 0.2)
    pipe, waits = subprocess.PIPE, []

    def ask():
        with held(path, "the lock") as waited:
            waits.append(waited)

    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout.readline() == "has it\n"
        before, start = time.time(), time.perf_counter()
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        while len(log) < 2:
            assert thread.is_alive()
            thread.join(0.01)
        process.communicate("\n", timeout=60)
    thread.join(60)
    assert 0 < waits[0] <= time.perf_counter() - start
    assert log[0].startswith(f"waiting for the lock: process {process.pid} of {HERE}, since ")
    since = time.strptime(log[0].partition("since ")[2][:19], "%Y-%m-%d %H:%M:%S")
    assert before - 60 < time.mktime(since) < before + 60
    assert set(log[:-1]) == {log[0]}
    assert log[-1] == f"waited {waits[0]:.1f} s for the lock"


def test_free_lock_logs_nothing_and_names_its_holder_meanwhile(path, log):
    with held(path, "the lock") as waited:
        assert waited == 0
        assert holder(path).pid == os.getpid()
    assert path.read_text() == ""
    with held(path, "the lock"):
        path.unlink()  # the lock works without a name
    assert log == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"host": "node-7.cluster", "pid": 12, "since": 1000.0}', True),
        # Another process has the pid of the killed holder: this one began later.
        (f'{{"host": "{HERE}", "pid": {os.getpid()}, "since": 1000.0}}', False),
        (f'{{"host": "{HERE}", "pid": {2**22 + 1}, "since": 1000.0}}', False),
        ('\ufeff{"host": "h"', False),
        ('{"host": "h\\u001b[2J", "pid": 1, "since": 1.0}', False),
        ('{"host": "h", "pid": 1, "since": 1e99}', False),
    ],
    ids=["elsewhere", "began later", "ended", "cut off", "unprintable", "in the future"],
)
def test_only_a_live_process_is_named_as_the_holder(path, text, named):
    path.write_text(text)
    assert (holder(path) is not None) == named


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
