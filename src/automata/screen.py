"""What a call of Snakemake that fails leaves on the screen: one line for each failure, last.

All else stays in Snakemake's own log. The standard library and psutil, which Snakemake has.
"""

from __future__ import annotations

import copy
import errno
import logging
import os
import re
import signal
from pathlib import Path

import psutil

from automata.failures import KEPT, out_of_space

OURS = re.compile(r"^automata(?: [\w-]+)?: error: ")
RECEIVED = re.compile(r"^\*\*\* (SIG[A-Z]+) received at time=")
"""What Ray writes of a signal that ends a process; it turns the exit status into 1."""
STATUS = re.compile(r"returned non-zero exit status (\d+)|died with <Signals\.(\w+)")
TOLD_BEFORE = re.compile("Cannot restore .*: no backup found|--keep-incomplete mode is set")
"""Said of each job that fails; there is nothing to restore, and what failed has been told."""
JOB_FAILED, JOB_FINISHED, ERROR = "job_error", "job_finished", "error"
"""Events of Snakemake, by its interface for loggers."""


class Screen(logging.Handler):
    """Keeps what Snakemake says on the screen short, and says at the end what failed.

    What stands on the screen is another text of the same message: filters, files and plugins of
    Snakemake stay as they are.
    """

    def __init__(self, logger: logging.Logger) -> None:
        """Take over the screen of `logger`, unless that is to show everything."""
        super().__init__()
        self._logger = logger
        self._logs: dict[int, list[str]] = {}
        self._commands: list[str] = []
        logging.raiseExceptions = False  # of a log on a full disk: a traceback for every message
        logger.addHandler(self)
        for handler in logger.handlers:
            to_file = isinstance(handler, logging.FileHandler)
            if handler.formatter and not to_file and logger.level > logging.DEBUG:
                handler.setFormatter(_Short(handler.formatter))

    def emit(self, record: logging.LogRecord) -> None:
        """Remember which jobs failed, and how their commands ended."""
        event, told = getattr(record, "event", None), vars(record)
        if event == JOB_FAILED:
            self._logs[told["jobid"]] = told["log"]
        elif event == JOB_FINISHED:  # at another attempt
            self._logs.pop(told["job_id"], None)
        elif event == ERROR and STATUS.search(record.getMessage()):
            self._commands.append(record.getMessage())

    def conclude(self) -> None:
        """Say of each job that failed why it did."""
        for log in [log for logs in self._logs.values() for log in logs]:
            ends = [_status(command) for command in self._commands if log in command]
            self._logger.error(f"{verdict(Path(log), ends[-1] if ends else None)} (log: {log})")


class _Short(logging.Formatter):
    """Says what another formatter says, in fewer lines where something failed."""

    def __init__(self, usual: logging.Formatter) -> None:
        super().__init__()
        self._usual = usual

    def format(self, record: logging.LogRecord) -> str:
        event, text = getattr(record, "event", None), record.getMessage()
        if event == JOB_FAILED:  # the command has all settings, `collect` thousands of inputs
            record = copy.copy(record)
            record.__dict__.update(shellcmd=None, input=[])
        elif TOLD_BEFORE.match(text):
            return ""
        elif event == ERROR:
            return _of_error(str(getattr(record, "exception", "")), text)
        return self._usual.format(record)


def _of_error(kind: str, text: str) -> str:
    """Return what the screen has of an error, nothing if it is told elsewhere."""
    if STATUS.search(text) or "At least one job did not complete successfully" in text:
        return ""
    if kind == "LockException":
        holder = other_call(Path.cwd())
        return f"{holder}: wait for it, or end it; do not --unlock" if holder else text
    if os.strerror(errno.ENOSPC) in text:
        return f"snakemake: error: {out_of_space(Path.cwd())}"
    last = text.strip().splitlines()[-1]
    if any(os.strerror(number) in last for number in (errno.EROFS, errno.EACCES)):
        return f"snakemake: error: {last}; make it writable and {KEPT}"
    if "Traceback (most recent call last)" in text:
        return f"snakemake: error: {last}"
    return text


def verdict(log: Path, status: str | None) -> str:
    """Return why the job with this `log` failed, by its own words or else by its exit status."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    own = [line for line in lines if OURS.match(line)]
    if own:
        return own[-1]
    received = [found[1] for found in map(RECEIVED.match, lines) if found]
    status = received[-1] if received else status
    crash = [line for line in lines if line.startswith("Fatal Python error: ")]
    if crash:
        reason = crash[-1].removeprefix("Fatal Python error: ")
        what = f"native code crashed ({reason}), of a library or of a model of your own"
    elif status == "SIGKILL":
        what = "the job was killed (SIGKILL), most often for lack of memory"
    elif status and status.startswith("SIG"):
        what = f"the job was ended ({status})"
    else:
        what = (
            f"the job ended without a message ({status or 'exit status unknown'}), as os._exit "
            "or native code of a model of your own does"
        )
    return f"automata: error: {what}; {KEPT}"


def _status(command: str) -> str:
    """Return how a command ended, by Snakemake's words."""
    number, name = STATUS.findall(command)[-1]
    if name or int(number) < 128:
        return name or f"exit status {number}"
    try:
        return signal.Signals(int(number) - 128).name
    except ValueError:
        return f"exit status {number}"


def other_call(folder: Path) -> str | None:
    """Say who else runs Snakemake in `folder`, None if nobody is found."""
    here = psutil.Process()
    family = [here, *here.parents(), *here.children(recursive=True)]
    for process in psutil.process_iter(["cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        if "snakemake" not in [Path(word).name for word in words[:3]] or process in family:
            continue
        if process.info["cwd"] == str(folder):
            return f"another call of Snakemake (process {process.pid}) works in {folder}"
    return None
