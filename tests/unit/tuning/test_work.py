"""One process at a time has the work folder of a job."""

import subprocess
import sys
import threading

import pytest

from automata.tuning.work import WorkFolder, only_worker

HOLD = """
import sys
from pathlib import Path
from automata.tuning.work import WorkFolder, only_worker
work = WorkFolder(Path(sys.argv[1]))
with only_worker(work):
    print("has it", flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "finish":
        work.remove()
"""


@pytest.fixture
def work(tmp_path):
    return WorkFolder(tmp_path / "a/b")


def holder(work, end):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(work.path), end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "has it\n"
    return process


def test_free_folder_is_had_at_once(work):
    with only_worker(work) as waited:
        assert work.path.is_dir()
    assert not waited


def test_what_is_waited_for_is_said(work, caplog):
    caplog.set_level("INFO", "automata.locks")
    process = holder(work, "finish")

    def wait():
        with only_worker(work):
            pass

    thread = threading.Thread(target=wait)
    thread.start()
    while not caplog.messages:
        thread.join(0.05)
    process.communicate("\n", timeout=60)
    thread.join(60)
    said = f"waiting for another process that works on {work.path}: process {process.pid} of "
    assert caplog.messages[0].startswith(said)


@pytest.mark.parametrize("end", ["finish", "give up", "die"])
def test_another_process_waits(work, end):
    process = holder(work, end)
    waits = []

    def wait():
        with only_worker(work) as waited:
            waits.append((waited > 0.9, (work.path / "lock").exists()))

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join(1.0)
    assert waits == []
    if end == "die":
        process.kill()
    else:
        process.communicate("\n", timeout=60)
    thread.join(60)
    process.wait(60)
    assert waits == [(True, True)]
