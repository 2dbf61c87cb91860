"""Whatever ends a command is told in one line, with the remedy where one is known."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from ray.exceptions import ActorDiedError, LocalRayletDiedError, OutOfMemoryError, RayTaskError
from ray.tune import TuneError

from automata import cli
from automata.errors import UserError
from automata.failures import KEPT, KILLED, Interrupt, explain, is_known, of_log

WRITABLE = f"make it writable, or name another folder by --directory, and {KEPT}"


def os_error(number, file=None):
    return OSError(number, os.strerror(number), file)


def of_task(cause):
    """Return what Ray raises here for an error of a task in another process."""
    text = f"Traceback (most recent call last):\n  File\n{type(cause).__name__}: {cause}"
    return RayTaskError("train", text, cause, "ray::train", 1, "10.0.0.1").as_instanceof_cause()


def of_tune(cause):
    """Return what the project makes of a trial that Ray Tune has as crashed."""
    try:
        raise RuntimeError(f"1 trials crashed; the first: {cause}") from cause
    except RuntimeError as error:
        return error


def told_by_tune(error):
    """Return what Ray Tune raises for an error of a callback: its traceback, as a text."""
    return TuneError(f"Traceback (most recent call last):\n  File\n{type(error).__name__}: {error}")


SMALLER = (
    "fewer compute.concurrent_trials, a larger compute.gpu_per_trial or a smaller "
    "protocol.*.batch_size need less"
)
SPACE = f"no space left on the device; make room and {KEPT}"
FULL = os_error(errno.ENOSPC, "w/1.pt")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (UserError("seeds: none"), "seeds: none"),
        (of_tune(of_task(UserError("model: no head"))), "model: no head"),
        (KeyboardInterrupt(), f"interrupted; {KEPT}"),
        (FULL, f"w/1.pt: {SPACE}"),
        (os_error(errno.ENOSPC), SPACE),
        (os_error(errno.EDQUOT, "w"), f"w: {SPACE}"),
        (of_tune(of_task(FULL)), f"w/1.pt: {SPACE}"),
        (told_by_tune(os_error(errno.ENOSPC)), SPACE),
        (RuntimeError("I/O error: No space left on device (os error 28)"), SPACE),
        (
            os_error(errno.EROFS, "results/work"),
            f"results/work: Read-only file system; {WRITABLE}",
        ),
        (
            os_error(errno.EACCES, "results"),
            f"results: Permission denied; {WRITABLE}",
        ),
        (MemoryError("2.92 GiB"), f"memory ran out: 2.92 GiB; make room and {KEPT}"),
        (MemoryError(), f"memory ran out: without a reason; make room and {KEPT}"),
        (
            of_tune(of_task(torch.OutOfMemoryError("CUDA out of memory. Tried to\nmore"))),
            f"GPU memory ran out: CUDA out of memory. Tried to; {SMALLER}",
        ),
        (
            torch.AcceleratorError("CUDA error: out of memory\nmore"),
            f"GPU memory ran out: CUDA error: out of memory; {SMALLER}",
        ),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"),
            "memory ran out: DefaultCPUAllocator: can't allocate memory: 9 bytes; make room and "
            f"{KEPT}",
        ),
        (
            of_tune(OutOfMemoryError("a task was killed\nmore")),
            f"memory ran out: a task was killed; make room and {KEPT}",
        ),
        (
            of_tune(ActorDiedError()),
            "the process that trains was killed, most often for lack of memory (the machine's, or "
            f"what ulimit -v or the scheduler allows), or native code crashed; {KEPT}",
        ),
    ],
)
def test_known_failure_is_one_line_with_the_remedy(error, line):
    assert explain(error) == line
    assert is_known(error)


def test_line_that_nobody_reads_to_the_end_keeps_both_ends():
    line = explain(UserError(f"t.csv: {'x' * 5000}: delete it"))
    assert len(line) < 2100
    assert line.startswith("t.csv: xxx")
    assert line.endswith("xxx: delete it")


def test_error_of_ray_is_named():
    line = explain(LocalRayletDiedError())
    assert line.startswith("Ray failed: LocalRayletDiedError: ")
    assert line.endswith(f"; {KEPT}")
    assert "\n" not in line


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (ZeroDivisionError("by zero\nmore"), "ZeroDivisionError: by zero"),
        (of_tune(of_task(KeyError("x"))), "KeyError: 'x'"),
        (told_by_tune(KeyError("x")), "TuneError: KeyError: 'x'"),
        (FileNotFoundError(2, "No such file or directory", "a"), "FileNotFoundError: [Errno 2] No"),
    ],
)
def test_unknown_failure_is_named_and_has_a_traceback(error, named):
    assert explain(error).startswith(f"not expected: {named}")
    assert "\n" not in explain(error)
    assert not is_known(error)


def run_failing(monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr("automata.page.build.write_page", fail)
    with pytest.raises(SystemExit) as end:
        cli.main(["page", "x"])
    return end.value.code


def test_known_failure_of_a_command_has_no_traceback(monkeypatch, capsys):
    code = run_failing(monkeypatch, os_error(errno.EROFS, "x"))
    assert code.startswith("automata page: error: x: Read-only file system; ")
    assert capsys.readouterr().err == ""


def test_traceback_of_an_unknown_failure_stands_before_the_line(monkeypatch, capsys):
    code = run_failing(monkeypatch, ZeroDivisionError("by zero"))
    assert code.startswith("automata page: error: not expected: ZeroDivisionError: by zero")
    assert capsys.readouterr().err.startswith("Traceback (most recent call last)")


def test_full_disk_behind_another_error_is_told(monkeypatch, tmp_path):
    """Ray Tune reads the error that it could not write: EOFError."""
    monkeypatch.chdir(tmp_path)
    usage = SimpleNamespace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    code = run_failing(monkeypatch, EOFError("Ran out of input"))
    assert code == f"automata page: error: {tmp_path}: {SPACE}"
    usage.free = 10**9
    assert "not expected: EOFError" in run_failing(monkeypatch, EOFError("Ran out of input"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("automata: error: a\nautomata tune: error: b\nRay: c\n", "automata tune: error: b"),
        ("2026 automata.tuning.job: waiting\n", f"automata: error: {KILLED}; {KEPT}"),
        (None, f"automata: error: {KILLED}; {KEPT}"),
    ],
)
def test_line_of_a_failed_job_is_in_its_log_or_says_that_there_is_none(tmp_path, text, line):
    log = tmp_path / "job.log"
    if text is not None:
        log.write_text(text)
    assert of_log(log) == f"{line} (log: {log})"


def test_second_ctrl_c_leaves_time_to_tidy_up(monkeypatch):
    interrupt = Interrupt()
    with pytest.raises(KeyboardInterrupt):
        interrupt(signal.SIGINT, None)
    interrupt(signal.SIGINT, None)
    monkeypatch.setattr(Interrupt, "PATIENCE_SECONDS", 0.0)
    late = Interrupt()
    with pytest.raises(KeyboardInterrupt):
        late(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        late(signal.SIGINT, None)


@pytest.mark.parametrize("usual", ["SIG_IGN", "SIG_DFL"])
def test_ctrl_c_that_is_handled_otherwise_stays_so(usual):
    code = (
        f"import signal; from automata.failures import Interrupt; s = signal.{usual}; "
        "signal.signal(signal.SIGINT, s); Interrupt.install(); "
        "assert signal.getsignal(signal.SIGINT) is s"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
