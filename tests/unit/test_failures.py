"""A failed command ends with one line, which names the remedy if one is known."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from ray.exceptions import ActorDiedError, OutOfMemoryError, RayTaskError
from ray.tune import TuneError

from automata import cli, failures
from automata.errors import UserError
from automata.failures import (
    KEPT,
    KILLED,
    handle_ctrl_c,
    known_reason,
    reason_in_log,
    unexpected_reason,
)

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


def from_callback(error):
    """Return what Ray Tune raises for an error of a callback, whose traceback it quotes."""
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
        (from_callback(os_error(errno.ENOSPC)), SPACE),
        (RuntimeError("I/O error: No space left on device (os error 28)"), SPACE),
        (
            os_error(errno.EROFS, "results/work"),
            f"results/work: Read-only file system; {WRITABLE}",
        ),
        (
            os_error(errno.EACCES, "results"),
            f"results: Permission denied; {WRITABLE}",
        ),
        (os_error(errno.ENOENT, "a.csv"), "a.csv: No such file or directory"),
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
        (of_tune(ActorDiedError()), f"{KILLED}; {KEPT}"),
    ],
)
def test_known_failure_is_one_line_with_the_remedy(error, line):
    assert known_reason(error) == line


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (ZeroDivisionError("by zero\nmore"), "ZeroDivisionError: by zero"),
        (of_tune(of_task(KeyError("x"))), "KeyError: 'x'"),
        (from_callback(KeyError("x")), "TuneError: KeyError: 'x'"),
        (OSError("no file is named"), "OSError: no file is named"),
    ],
)
def test_unknown_failure_is_named_and_has_a_traceback(error, named):
    assert known_reason(error) is None
    assert unexpected_reason(error, []) == f"unexpected error: {named} (traceback in the log)"


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


def test_traceback_of_an_unknown_failure_is_before_the_line(monkeypatch, capsys):
    code = run_failing(monkeypatch, ZeroDivisionError("by zero"))
    assert code.startswith("automata page: error: unexpected error: ZeroDivisionError: by zero")
    assert capsys.readouterr().err.startswith("Traceback (most recent call last)")


def test_full_disk_behind_another_error_is_reported(monkeypatch, tmp_path):
    """Ray Tune reads the error that it could not write: EOFError."""
    monkeypatch.chdir(tmp_path)
    usage = SimpleNamespace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    code = run_failing(monkeypatch, EOFError("Ran out of input"))
    assert code == f"automata page: error: {tmp_path}: {SPACE}"
    usage.free = 10**9
    assert "unexpected error: EOFError" in run_failing(monkeypatch, EOFError("Ran out of input"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("automata: error: a\nautomata tune: error: b\nRay: c\n", "automata tune: error: b"),
        ("2026 automata.tuning.job: waiting\n", f"automata: error: {KILLED}; {KEPT}"),
        (None, f"automata: error: {KILLED}; {KEPT}"),
    ],
)
def test_line_of_a_failed_job_is_in_its_log_or_names_what_kills_a_job(tmp_path, text, line):
    log = tmp_path / "job.log"
    if text is not None:
        log.write_text(text)
    assert reason_in_log(log) == f"{line} (log: {log})"


def test_second_ctrl_c_leaves_time_to_tidy_up(monkeypatch):
    before, now = signal.getsignal(signal.SIGINT), [100.0]
    monkeypatch.setattr(failures, "time", SimpleNamespace(monotonic=lambda: now[0]))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    handle_ctrl_c()
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        now[0] += failures.PATIENCE_SECONDS
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("usual", ["SIG_IGN", "SIG_DFL"])
def test_other_handling_of_ctrl_c_is_kept(usual):
    code = (
        f"import signal; from automata.failures import handle_ctrl_c; s = signal.{usual}; "
        "signal.signal(signal.SIGINT, s); handle_ctrl_c(); "
        "assert signal.getsignal(signal.SIGINT) is s"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
