"""A failed command ends with one line, which names the remedy and is safe for a terminal."""

import errno
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures.process import _RemoteTraceback
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from automata import cli
from automata.errors import (
    KEPT,
    KILLED,
    SMALLER,
    UserError,
    known_reason,
    reason_in_log,
    unexpected_reason,
)

WRITABLE = f"make it writable, and {KEPT}"
SPACE = f"no space left on the device; make room and {KEPT}"
CUDA = "CUDA error: out of memory"
REMOVED = f"{os.environ.get('TMPDIR', '/tmp')} (TMPDIR) or the working folder"
POOLED = KeyError("x")
POOLED.__cause__ = _RemoteTraceback('"""')
NO_MEMORY = "DefaultCPUAllocator: can't allocate memory: 9 bytes"


def os_error(number, file=None):
    return OSError(number, os.strerror(number), file)


def from_library(cause):
    """Return an error that a library raised from another."""
    try:
        raise RuntimeError(f"it failed: {cause}") from cause
    except RuntimeError as error:
        return error


def quoting(error):
    """Return an error whose message is the traceback of another."""
    text = f"{type(error).__name__}: {error}"
    return RuntimeError(f"Traceback (most recent call last):\n  File\n{text}")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (UserError("seeds: none"), "seeds: none"),
        (from_library(UserError("model: no head")), "model: no head"),
        (KeyboardInterrupt(), f"interrupted; {KEPT}"),
        (os_error(errno.EDQUOT, "w"), f"w: {SPACE}"),
        (from_library(os_error(errno.ENOSPC, "w/1.pt")), f"w/1.pt: {SPACE}"),
        (quoting(os_error(errno.ENOSPC)), SPACE),
        (os_error(errno.EACCES, "results"), f"results: Permission denied; {WRITABLE}"),
        (os_error(errno.ENOENT, "a.csv"), "a.csv: No such file or directory"),
        (os_error(errno.ENOENT), f"{REMOVED} was removed in the meantime; {KEPT}"),
        (MemoryError("2.92 GiB"), f"memory ran out: 2.92 GiB; make room and {KEPT}"),
        (MemoryError(), f"memory ran out: without a reason; make room and {KEPT}"),
        (
            from_library(torch.OutOfMemoryError("CUDA out of memory. Tried to\nmore")),
            f"GPU memory ran out: CUDA out of memory. Tried to; {SMALLER}",
        ),
        (torch.AcceleratorError(CUDA), f"GPU memory ran out: {CUDA}; {SMALLER}"),
        (RuntimeError(NO_MEMORY), f"memory ran out: {NO_MEMORY}; make room and {KEPT}"),
        (
            ImportError("no 'tune' (ray.py)", path="ray.py"),
            "no 'tune' (ray.py): rename that file if it hides a library, or mend PYTHONPATH",
        ),
    ],
)
def test_known_failure_is_one_line_with_the_remedy(error, line):
    assert known_reason(error) == line


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (ZeroDivisionError("by zero\nmore"), "ZeroDivisionError: by zero"),
        (quoting(KeyError("x")), "RuntimeError: KeyError: 'x'"),
        (OSError("no file is named"), "OSError: no file is named"),
        (POOLED, "KeyError: 'x'"),
    ],
)
def test_unknown_failure_is_named(error, named):
    assert known_reason(error) is None
    assert unexpected_reason(error) == f"unexpected error: {named} (traceback in the log)"


def test_command_prints_a_traceback_of_unknown_failures_alone(monkeypatch, capsys, tmp_path):
    def failed(error):
        def fail(*_):
            raise error

        monkeypatch.setattr("automata.page.build.write_page", fail)
        with pytest.raises(SystemExit) as end:
            cli.main(["page", "x"])
        return end.value.code, capsys.readouterr().err

    line, shown = failed(os_error(errno.EROFS, "x"))
    assert line.startswith("automata page: error: x: Read-only file system; ")
    assert shown == ""
    line, _ = failed(os_error(errno.EIO))  # names no file
    assert line.startswith("automata page: error: x: Input/output error; check its disk or n")
    line, shown = failed(ZeroDivisionError("by zero"))
    assert line.startswith("automata page: error: unexpected error: ZeroDivisionError: by zero")
    assert shown.startswith("Traceback (most recent call last)")
    # Ray Tune reads the file that it could not write: EOFError.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()  # on a full disk, in a working folder on another one
    left = SimpleNamespace
    monkeypatch.setattr(shutil, "disk_usage", lambda at: left(free=2**40 * (at.name != "x")))
    line, _ = failed(EOFError("Ran out of input"))
    assert line == f"automata page: error: {tmp_path / 'x'}: {SPACE}"


@pytest.mark.parametrize("redirected", ["<&- >&- 2>&-", "> /dev/full"])
def test_command_runs_without_streams_and_says_if_its_output_is_lost(redirected):
    line = f"automata status: error: {SPACE}\n" if "full" in redirected else ""
    command = f"unset PYTHONUNBUFFERED; {sys.executable} -m automata status {redirected}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (len(line) > 0, line)


def test_command_that_is_told_to_end_says_how_to_go_on(tmp_path):
    os.mkfifo(file := tmp_path / "slow.yaml")
    command = [Path(sys.executable).with_name("automata"), "status", "--configfile", file]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process, file.open("w"):
        process.terminate()  # while it reads
        line = process.communicate(timeout=60)[1].decode()
    assert line == f"automata status: error: interrupted; {KEPT}\n"


def test_reason_of_a_failed_job_is_the_last_line_of_the_project_in_its_log(tmp_path):
    log, killed = tmp_path / "job.log", f"automata: error: {KILLED}; {KEPT}"
    assert reason_in_log(log) == f"{killed} (log: {log})"
    log.write_text("2026 automata.tuning.job: waiting\n")
    assert reason_in_log(log) == f"{killed} (log: {log})"
    log.write_text("automata: error: a\nautomata tune: error: b\nRay: c\n")
    assert reason_in_log(log) == f"automata tune: error: b (log: {log})"


@pytest.mark.slow
def test_unprintable_names_in_a_users_file_are_escaped_in_the_log(tmp_path):
    names = ["\x1b]0;title\x07", "\u202egap\x9b2J"]
    rows = [f"{row},{row % 7 or 'x'},{row % 2}" for row in range(1, 61)]
    (tmp_path / "t.csv").write_text("\n".join([",".join([*names, "kind"]), *rows]))
    own = {"kind": "tabular", "path": "t.csv", "target": "kind"}
    command = [sys.executable, "-m", "automata", "prepare", "mine", "--output", "t.safetensors"]
    command += ["--preparation", json.dumps({"own": own})]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "are no number" in ended.stderr.splitlines()[-1]
    assert all(map(str.isprintable, ended.stderr.split("\n")))
    assert names[1].encode("unicode_escape").decode() in ended.stderr
