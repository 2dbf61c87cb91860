"""The host's lock: one holder at a time; how a killed one is followed is tested in test_locks."""

import os
import threading
import time
from contextlib import suppress

import pytest

from automata.errors import UserError
from automata.metering import lock
from automata.metering.lock import exclusive_host


@pytest.fixture
def own_lock(tmp_path, monkeypatch):
    """Give the path of a lock file under `tmp_path`, which this process uses too."""
    path = tmp_path / lock.host_lock_path().name
    monkeypatch.setattr(lock, "host_lock_path", lambda: path)
    return path


def test_second_holder_waits_for_the_first_also_if_that_one_fails(own_lock):
    waits = []

    def ask():
        with exclusive_host(True) as waited:
            waits.append(waited)

    asking = threading.Thread(target=ask, daemon=True)
    with suppress(FileNotFoundError), exclusive_host(True) as waited:
        asking.start()
        time.sleep(0.5)  # time enough to enter, were nothing locked
        assert (waited, waits) == (0, [])
        raise FileNotFoundError  # it is not taken for one of the lock's file
    asking.join(60)
    assert waits[0] > 0.1


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
