"""The host's lock: one holder at a time, free when the holder dies."""

import os
import subprocess
import sys
import threading
import time

import pytest

from automata.errors import UserError
from automata.metering import lock
from automata.metering.lock import exclusive_host

pytestmark = pytest.mark.timeout(60)

HOLD = """
from automata.metering.lock import exclusive_host
with exclusive_host(True):
    print("has it", flush=True)
    input()
"""


@pytest.fixture
def own_lock(tmp_path, monkeypatch):
    """Give the path of a lock file under `tmp_path`, which this process uses too."""
    path = tmp_path / lock.host_lock_path().name
    monkeypatch.setattr(lock, "host_lock_path", lambda: path)
    return path


@pytest.fixture
def holder(tmp_path, own_lock):
    """A process that has the lock."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", HOLD], env=environment, **pipes)
    assert process.stdout.readline() == b"has it\n"
    yield process
    process.kill()
    process.communicate()


def test_second_holder_waits_for_the_first(holder):
    waits = []

    def ask():
        with exclusive_host(True) as waited:
            waits.append(waited)

    asking = threading.Thread(target=ask)
    asked = time.perf_counter()
    asking.start()
    time.sleep(0.3)  # time enough to enter, were nothing locked
    assert waits == []
    held = time.perf_counter() - asked
    holder.communicate(b"\n")
    asking.join()
    assert waits[0] / held > 0.5


def test_lock_is_free_after_its_holder_was_killed(holder):
    holder.kill()
    holder.wait()
    with exclusive_host(True) as waited:
        assert waited == 0


def test_lock_is_free_after_an_error_in_the_body_which_is_raised_as_it_is(own_lock):
    with pytest.raises(FileNotFoundError), exclusive_host(True):
        raise FileNotFoundError
    with exclusive_host(True) as waited:
        assert waited == 0


def test_without_exclusive_no_file_is_made(own_lock):
    with exclusive_host(False) as waited:
        assert not own_lock.exists()
    assert waited == 0


def test_lock_file_is_open_to_all_users(own_lock):
    before = os.umask(0o077)
    try:
        with exclusive_host(True):
            mode = own_lock.stat().st_mode & 0o777
    finally:
        os.umask(before)
    assert mode == 0o666


def test_lock_that_cannot_be_opened_is_a_users_error(own_lock):
    own_lock.symlink_to("nowhere")
    message = f"^{own_lock}: .*: measured jobs of this host .* set metering.exclusive: false"
    with pytest.raises(UserError, match=message):
        exclusive_host(True).__enter__()
