"""Locks, and who is named as their holder; tests of work folders wait for one."""

import errno
import fcntl
import logging
import os
import platform

import pytest

from automata.cli import main
from automata.errors import UserError
from automata.locks import held, holder
from automata.metering.meter import exclusive_host
from automata.tuning import job

HERE = platform.node()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lock"


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
        (f'{{{" " * 5000}"host": "h", "pid": 1, "since": 1.0}}', False),
    ],
    ids=["elsewhere", "began later", "ended", "cut off", "unprintable", "in the future", "long"],
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
    assert [line.partition("automata: ")[2] for line in lines] == ["waiting for another"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_file_system_without_locks_stops_only_what_needs_them(path, caplog, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with held(path, "another process", needed=False) as waited:
        assert waited == 0
    line = f"{path}: this file system has no locks: continues without waiting for another process"
    assert caplog.messages == [line]
    with pytest.raises(UserError, match="exclusive: false"), exclusive_host(True):
        pass
