"""What a call of Snakemake says on the screen: what came out or failed, last.

All else stays in Snakemake's own log. The standard library alone.
"""

from __future__ import annotations

import copy
import errno
import logging
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

from automata.failures import KEPT, out_of_space

OURS = re.compile(r"^automata(?: [\w-]+)?: error: ")
RECEIVED = re.compile(r"^\*\*\* (SIG[A-Z]+) received at time=")
"""What Ray writes of a signal that ends a process; it turns the exit status into 1."""
STATUS = re.compile(r"returned non-zero exit status (\d+)|died with <Signals\.(\w+)")
NOTHING_TO_DO = "Nothing to be done"
TOLD_BEFORE = re.compile("Cannot restore .*: no backup found|--keep-incomplete mode is set")
"""Said of each job that fails; there is nothing to restore, and what failed has been told."""
CLOSING = re.compile(r"Complete log\(s\): |Elapsed time: ")
"""Said at the end of each call: they would stand after our last line."""
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
        self.answers: Callable[[], list[str]] = list
        """Gives the files that the user wants to read, if this call is to make them."""
        self.command = ""
        """What to type for predictions, where there is a model for them."""
        self.concluded = False
        """Whether the last line is on the screen."""
        self._logger = logger
        self._logs: dict[int, list[str]] = {}
        self._commands: list[str] = []
        logging.raiseExceptions = False  # of a log on a full disk: a traceback for every message
        logger.addHandler(self)
        for handler in logger.handlers:
            to_file = isinstance(handler, logging.FileHandler)
            if handler.formatter and not to_file and logger.level > logging.DEBUG:
                handler.setFormatter(_Short(handler.formatter, self))

    def emit(self, record: logging.LogRecord) -> None:
        """Remember which jobs failed, and how their commands ended."""
        event, told = getattr(record, "event", None), vars(record)
        if event == JOB_FAILED:
            self._logs[told["jobid"]] = told["log"]
        elif event == JOB_FINISHED:  # at another attempt
            self._logs.pop(told["job_id"], None)
        elif event == ERROR and STATUS.search(record.getMessage()):
            self._commands.append(record.getMessage())
        elif record.getMessage().startswith(NOTHING_TO_DO):
            self.succeed()

    def succeed(self) -> None:
        """Name what there is to read."""
        files = self.answers()
        if files and all(Path(file).exists() for file in files):
            best, page = files
            self.concluded = True
            then = f"; predictions: {self.command}" if self.command else ""
            self._logger.info(f"The best hyper-parameters: {best}; how good they are: {page}{then}")

    def conclude(self) -> None:
        """Say of each job that failed why it did."""
        for log in [log for logs in self._logs.values() for log in logs]:
            ends = [_status(command) for command in self._commands if log in command]
            self.concluded = True
            self._logger.error(f"{verdict(Path(log), ends[-1] if ends else None)} (log: {log})")


class _Short(logging.Formatter):
    """Says what another formatter says, in fewer lines where something failed."""

    def __init__(self, usual: logging.Formatter, screen: Screen) -> None:
        super().__init__()
        self._usual = usual
        self._screen = screen

    def format(self, record: logging.LogRecord) -> str:
        event, text = getattr(record, "event", None), record.getMessage()
        if event == JOB_FAILED:  # the command has all settings, `collect` thousands of inputs
            record = copy.copy(record)
            record.__dict__.update(shellcmd=None, input=[])
        elif TOLD_BEFORE.match(text) or (self._screen.concluded and CLOSING.match(text)):
            return ""
        elif event == ERROR:
            return _of_error(text)
        return self._usual.format(record)


def _of_error(text: str) -> str:
    """Return what the screen has of an error, nothing if it is told elsewhere."""
    if STATUS.search(text) or "At least one job did not complete successfully" in text:
        return ""
    if os.strerror(errno.ENOSPC) in text:
        return f"snakemake: error: {out_of_space(Path.cwd())}"
    last = text.strip().splitlines()[-1]
    if any(os.strerror(number) in last for number in (errno.EROFS, errno.EACCES)):
        remedy = "make it writable, or name another folder by --directory"
        return f"snakemake: error: {last}; {remedy}, and {KEPT}"
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
