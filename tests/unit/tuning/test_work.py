"""Checkpoints are whole or refused, and written if that pays; one process works at once."""

import json
import pickle
import platform
import re
import subprocess
import sys
import threading
import time
from datetime import datetime
from types import SimpleNamespace
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given

from automata import locks
from automata.records.progress import Progress
from automata.training.run import TrainingRun
from automata.training.subsets import ALL_DATA
from automata.tuning import checkpoints as checkpoints_module
from automata.tuning.checkpoints import (
    WRITING_SHARE,
    CheckpointStore,
    read_checkpoint,
    write_checkpoint,
)
from automata.tuning.work import PhaseFolder, WorkFolder

STATE = {"weights": torch.arange(5000.0), "epochs": 3, "loss": [0.5, float("inf")]}


@given(data=st.data(), torn=st.booleans())
def test_a_damaged_file_is_no_state_and_is_named(tmp_path_factory, data, torn):
    path = tmp_path_factory.mktemp("damaged") / "a.pt"
    write_checkpoint(path, STATE)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content[:place] if torn else content)
    with patch.object(checkpoints_module.logger, "warning") as warning:
        assert read_checkpoint(path) is None
    assert warning.call_args.args[1] == path


def test_code_in_a_file_is_not_run(tmp_path):
    class Attack:
        def __reduce__(self):
            return print, ("run",)

    write_checkpoint(tmp_path / "a.pt", {"weights": Attack()})
    with pytest.raises(pickle.UnpicklingError):
        read_checkpoint(tmp_path / "a.pt")


def test_writing_takes_at_most_its_share_of_the_time_of_each_run(monkeypatch, tmp_path):
    clock, writes, run = [0.0], [], SimpleNamespace(progress=Progress(), state=dict)
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def write(*_):
        clock[0] += 1.5
        writes.append(clock[0])

    def save(trial, trained):
        run.progress.seconds.training = trained
        if store.save(trial, run):
            clock[0] += 0.5  # until the job has logged it
            store.answered()

    monkeypatch.setattr(checkpoints_module, "write_checkpoint", write)
    store = CheckpointStore(PhaseFolder(tmp_path), 0)
    for second in range(2001):
        save(7, float(second))
    assert len(writes) * 2.0 <= WRITING_SHARE * 2000 + 2.0
    assert len(writes) == 11  # the first tells what it costs, then one each 200 s
    save(8, 199.0)
    assert len(writes) == 11
    save(8, 200.0)
    assert len(writes) == 12


@pytest.fixture
def build(dataset, protocol, configuration):
    return lambda: TrainingRun(dataset, configuration, protocol, ALL_DATA, 0, torch.device("cpu"))


def trained(run, epoch):
    run.train_to(epoch)
    return run


def never():
    raise AssertionError("a run in memory is not built again")


MODEL_BYTES = 4 * ((6 * 8 + 8) + (8 * 7 + 7) + (7 * 3 + 3))
ROOM = 5 * MODEL_BYTES
"""For one paused run: four times the weights each."""


@pytest.mark.parametrize("memory", [0, ROOM])
def test_a_run_resumes_in_another_process_as_if_it_had_not_paused(build, tmp_path, memory):
    CheckpointStore(PhaseFolder(tmp_path), memory).put(3, trained(build(), 2))
    store = CheckpointStore(PhaseFolder(tmp_path), memory)
    again = store.take(3, 2, build)
    assert again.progress.epochs == 2
    assert not store.save(3, again)  # its file is there
    whole = trained(build(), 4)
    assert trained(again, 4).progress.training_loss == whole.progress.training_loss
    weights = again.model.state_dict()
    assert all(torch.equal(it, weights[key]) for key, it in whole.model.state_dict().items())


def test_paused_runs_without_room_in_memory_go_to_files(build, tmp_path, monkeypatch):
    monkeypatch.setattr(CheckpointStore, "save", lambda *_: False)  # writing never pays
    store, run = CheckpointStore(PhaseFolder(tmp_path), ROOM), build()
    assert store.take(3, None, lambda: run) is run
    for number in (3, 4, 5):  # there is room again after each
        assert not store.put(number, trained(run, 1))
        assert store.take(number, None, never) is run
    for epoch in (1, 2, 3):  # the same run has one place
        store.put(0, trained(run, epoch))
    assert list(tmp_path.iterdir()) == []
    assert store.put(1, trained(build(), 1))
    assert [file.name for file in (tmp_path / "checkpoints").iterdir()] == ["1-1.pt"]


HOLD = """
import shutil, sys
from pathlib import Path
from automata.locks import held
with held(Path(sys.argv[1], "lock"), "the folder"):
    print("has it", flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "finish":
        shutil.rmtree(sys.argv[1])
"""


@pytest.mark.parametrize("end", ["finish", "give up", "die"])
def test_a_second_process_waits_for_the_folder_and_logs_who_holds_it(
    tmp_path, caplog, monkeypatch, request, end
):
    monkeypatch.setattr(locks, "REPEAT_SECONDS", 0.2)
    caplog.set_level("INFO", "automata.locks")
    work, waits, pipe = WorkFolder(tmp_path / "a/b"), [], subprocess.PIPE
    with work.only_worker() as waited:
        assert (waited, work.path.is_dir()) == (0, True)
    command = [sys.executable, "-c", HOLD, str(work.path), end]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    request.addfinalizer(process.kill)  # else a thread of a failed test waits for it
    assert process.stdout.readline() == "has it\n"
    since = datetime.fromtimestamp(json.loads((work.path / "lock").read_text())["since"])

    def wait():
        with work.only_worker() as waited:
            waits.append((waited > 0, (work.path / "lock").exists()))

    thread = threading.Thread(target=wait)
    thread.start()
    while len(caplog.messages) < 3:
        time.sleep(0.01)
    assert waits == []
    what = f"another process that works on {work.path}"
    holder = f"process {process.pid} of {platform.node()}, since {since:%Y-%m-%d %H:%M:%S}"
    assert {*caplog.messages} == {f"waiting for {what}: {holder}"}

    if end == "die":
        process.kill()
    else:
        process.communicate("\n", timeout=60)
    thread.join(60)
    process.wait(60)
    assert waits == [(True, True)]
    assert re.fullmatch(rf"waited \d+\.\d s for {what}", caplog.messages[-1])
